/// A position in the list of conversations, after one of them: opaque, and bound to one store.
public struct PageCursor: Hashable, Sendable, CustomStringConvertible {
  package let store: Identifier
  package let isPinned: Bool
  package let lastActivity: Timestamp
  package let conversation: ConversationKey

  package init(store: Identifier, isPinned: Bool, lastActivity: Timestamp, conversation: ConversationKey) {
    self.store = store
    self.isPinned = isPinned
    self.lastActivity = lastActivity
    self.conversation = conversation
  }

  /// The text of the cursor, which `ListQuery.after` takes.
  public var description: String {
    let words = [
      store.low, isPinned ? 1 : 0, UInt64(bitPattern: lastActivity.microseconds),
      UInt64(bitPattern: conversation.number),
    ]
    return "p" + words.map { String($0, radix: 16) }.joined(separator: "-")
  }

  /// - Throws: `bad_cursor`, also if the cursor is of another store.
  package init(_ text: String, store: Identifier) throws {
    let words = text.dropFirst().split(separator: "-", omittingEmptySubsequences: false)
      .map { UInt64($0, radix: 16) }
    guard text.hasPrefix("p"), words.count == 4, let owner = words[0], let pinned = words[1],
      let activity = words[2], let conversation = words[3], pinned <= 1
    else {
      throw DMError(.badCursor, "'\(text)' is not a cursor of a page", subject: text, remedy: .takePageCursor)
    }
    guard owner == store.low else {
      throw DMError(.badCursor, "the cursor '\(text)' is another store's; list from the start", subject: text)
    }
    self.init(
      store: store, isPinned: pinned == 1,
      lastActivity: Timestamp(microseconds: Int64(bitPattern: activity)),
      conversation: ConversationKey(number: Int64(bitPattern: conversation)))
  }
}
