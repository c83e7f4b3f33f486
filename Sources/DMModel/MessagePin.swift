/// A message that a user pinned for everybody in the conversation, or unpinned.
///
/// A pinned conversation is something else: that is a setting of one user (`OwnChange.pinned`).
public struct MessagePin: Equatable, Sendable {
  /// The maximum number of pinned messages of a conversation.
  package static let limit = 50

  /// The id of the message.
  public let messageID: Identifier
  /// The id of the conversation.
  public let conversationID: Identifier
  /// The number of the message in the conversation.
  public let seq: Int
  /// The user who pinned or unpinned the message.
  public let user: Handle
  /// Whether the message is pinned now.
  public let isPinned: Bool
  /// The time when the message was pinned or unpinned.
  public let changedAt: Timestamp

  package init(of message: Message, by user: Handle, isPinned: Bool, at time: Timestamp) {
    messageID = message.id
    conversationID = message.conversationID
    seq = message.number
    self.user = user
    self.isPinned = isPinned
    changedAt = time
  }
}
