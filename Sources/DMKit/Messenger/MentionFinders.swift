package import DMStore

/// Finds the users that a text mentions, among the current participants of a conversation.
///
/// A mention is an `@` with a handle after it. No letter, digit or `_` may stand directly before the `@` or after the
/// handle, except a letter of a script that is written without spaces. If several handles match, the longest one is
/// mentioned.
private struct MentionFinder {
  private var users: [ExactString: UserKey] = [:]
  /// The first characters of the handles; an `@` that has none of them after it is skipped quickly.
  private var firsts: Set<Unicode.Scalar> = []
  /// The length of the longest handle, in Unicode scalars.
  private var longest = 0

  /// Linear in the number of participants.
  init(_ store: Store, _ conversation: ConversationKey) throws {
    for user in try store.members.participantKeys(of: conversation) {
      let handle = try store.users.handle(user).description
      users[ExactString(handle)] = user
      if let first = handle.unicodeScalars.first { firsts.insert(first) }
      longest = max(longest, handle.unicodeScalars.count)
    }
  }

  /// The users that a text mentions, in the order of the text.
  func users(in text: String) -> [UserKey] {
    let scalars = Array(text.unicodeScalars)
    var found: [UserKey] = []
    for index in scalars.indices.dropLast() where scalars[index] == "@" && firsts.contains(scalars[index + 1]) {
      if index > 0, isWordPart(scalars[index - 1]) { continue }
      if let user = user(at: index + 1, scalars), !found.contains(user) { found.append(user) }
    }
    return found
  }

  private func user(at start: Int, _ scalars: [Unicode.Scalar]) -> UserKey? {
    var user: UserKey?
    var name = ""
    for index in start..<min(scalars.count, start + longest) {
      name.unicodeScalars.append(scalars[index])
      let isCut = index + 1 < scalars.count && isWordPart(scalars[index]) && isWordPart(scalars[index + 1])
      if !isCut, let match = users[ExactString(name)] { user = match }
    }
    return user
  }

}

/// Whether a character continues a word: a letter, a digit or `_`, unless its script is written without spaces.
package func isWordPart(_ scalar: Unicode.Scalar) -> Bool {
  (scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == "_")
    && !SearchText.standsAlone(scalar)
}

/// Finds the mentions in texts of several conversations.
///
/// The participants of each conversation are read once.
package final class MentionFinders {
  private let store: Store
  private var finders: [ConversationKey: MentionFinder] = [:]

  package init(_ store: Store) { self.store = store }

  /// The participants of a conversation that a text mentions, in the order in which the text mentions them.
  package func users(in text: String, of conversation: ConversationKey) throws -> [UserKey] {
    guard text.contains(byte: UInt8(ascii: "@")) else { return [] }
    let finder = try finders[conversation] ?? MentionFinder(store, conversation)
    finders[conversation] = finder
    return finder.users(in: text)
  }

  /// Removes the cached participants of a conversation, because a user has joined or left.
  func forgetParticipants(of conversation: ConversationKey) { finders[conversation] = nil }
}
