/// That messages of a conversation reached a user, or were read by him, and when.
public struct Receipt: Equatable, Sendable {
  public enum Kind: Sendable { case delivery, read }

  public let kind: Kind
  public let conversationID: Identifier
  public let user: Handle
  public let range: SeqRange
  public let at: Timestamp
  /// What is left unread for that user; known for oneself only.
  public let unreadCount: Int?
}
