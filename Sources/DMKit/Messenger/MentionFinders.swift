package import DMStore

/// Finds the users that texts mention, among the current participants of a conversation.
///
/// An `@` begins a mention if no letter or digit precedes it. The mention is the longest handle after it that no letter
/// or digit follows. Letters of scripts without spaces separate words as spaces do.
private struct MentionFinder {
  private var users: [ExactString: UserKey] = [:]
  /// The first characters of handles, to skip most uses of `@` quickly.
  private var firsts: Set<Unicode.Scalar> = []
  /// The number of characters of the longest handle.
  private var longest = 0

  /// Linear in the participants.
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

  /// Whether a character can form a word with the one beside it: a letter, digit or `_` of a script with spaces.
  private func isWordPart(_ scalar: Unicode.Scalar) -> Bool {
    (scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == "_")
      && !SearchText.standsAlone(scalar)
  }
}

/// Finds mentions in texts of several conversations, and looks up the participants of each once.
package final class MentionFinders {
  private let store: Store
  private var finders: [ConversationKey: MentionFinder] = [:]

  package init(_ store: Store) { self.store = store }

  /// The participants of a conversation that a text mentions, in the order of the text.
  package func users(in text: String, of conversation: ConversationKey) throws -> [UserKey] {
    guard text.contains(byte: UInt8(ascii: "@")) else { return [] }
    let finder = try finders[conversation] ?? MentionFinder(store, conversation)
    finders[conversation] = finder
    return finder.users(in: text)
  }

  /// Removes the cached participants of a conversation, because a user has joined or left.
  func forgetParticipants(of conversation: ConversationKey) { finders[conversation] = nil }
}
