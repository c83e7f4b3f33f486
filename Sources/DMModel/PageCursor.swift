/// A position after a conversation in the list of conversations.
///
/// The position is opaque, and valid for one store.
public struct PageCursor: Hashable, Sendable, CustomStringConvertible {
  package let store: UInt64
  package let isPinned: Bool
  package let lastActivity: Timestamp
  package let conversation: ConversationKey

  package init(store: Identifier, isPinned: Bool, lastActivity: Timestamp, conversation: ConversationKey) {
    self.store = store.low
    self.isPinned = isPinned
    self.lastActivity = lastActivity
    self.conversation = conversation
  }

  /// The text of the cursor, which `init(_:)` reads.
  public var description: String {
    let words = [
      store, isPinned ? 1 : 0, UInt64(bitPattern: lastActivity.microseconds),
      UInt64(bitPattern: conversation.number),
    ]
    return "p" + words.map { String($0, radix: 16) }.joined(separator: "-")
  }

  /// Reads the text of a cursor, of any store.
  ///
  /// - Throws: `bad_cursor`.
  public init(_ text: String) throws(DMError) {
    let words = text.dropFirst().split(separator: "-", omittingEmptySubsequences: false)
      .map { UInt64($0, radix: 16) }
    guard text.hasPrefix("p"), words.count == 4, let owner = words[0], let pinned = words[1],
      let activity = words[2], let conversation = words[3], pinned <= 1
    else {
      throw DMError(.badCursor, "'\(text)' is not a cursor of a page", subject: text, remedy: .takePageCursor)
    }
    store = owner
    isPinned = pinned == 1
    lastActivity = Timestamp(microseconds: Int64(bitPattern: activity))
    self.conversation = ConversationKey(number: Int64(bitPattern: conversation))
  }

  /// - Throws: `bad_cursor` if the cursor is of another store.
  package func check(in store: Identifier) throws(DMError) {
    guard self.store == store.low else {
      throw DMError(
        .badCursor, "the cursor '\(self)' is another store's; list from the start", subject: description)
    }
  }
}
