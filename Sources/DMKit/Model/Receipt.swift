/// That a user read messages of a conversation, and when.
public struct Receipt: Equatable, Sendable {
  public let conversationID: Identifier
  public let user: Handle
  public let range: SeqRange
  public let at: Timestamp
  /// What is left unread for that user; known for oneself only.
  public let unreadCount: Int?
}
