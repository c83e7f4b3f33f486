/// That messages of a conversation reached a user, or that they read them, and when.
public struct Receipt: Equatable, Sendable {
  public enum Kind: Sendable { case delivery, read }

  public let kind: Kind
  public let conversationID: Identifier
  /// What the user calls the conversation.
  public let conversationTitle: String?
  public let user: Handle
  /// The numbers of the messages, ascending.
  public let ranges: [SeqRange]
  /// Nil of a delivery that the change log no longer has.
  public let at: Timestamp?
}

/// What marking has changed in a conversation, or would change.
public struct Marked: Equatable, Sendable {
  public let action: Messenger.MarkOptions.Act
  public let isDryRun: Bool
  public let conversationID: Identifier
  /// What the user calls the conversation.
  public let conversationTitle: String?
  /// The numbers of the messages that changed, ascending: those that the user sees.
  public let ranges: [SeqRange]
  public let unreadCount: Int
  public let at: Timestamp

  public var count: Int { ranges.reduce(0) { $0 + $1.count } }
}
