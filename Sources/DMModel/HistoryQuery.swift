/// Which messages to show.
public struct HistoryQuery: Sendable {
  /// A message or a time.
  public enum Bound: Sendable {
    /// A message of the conversation.
    case message(MessageReference)
    /// A time, compared with `Message.createdAt`.
    case time(Timestamp)
  }

  /// The conversations to show; empty for all conversations of the user.
  public var conversations: [ConversationReference]
  /// Treats a direct conversation that does not exist yet as empty, instead of throwing an error.
  package var allowsMissing = false
  /// Whether this query opens conversations for a usage log, and is not one more page of them.
  package var isOpening = false
  /// Whether a stream may continue after the history; otherwise the history has no cursor, and does not read the log.
  package var mayContinue = true
  /// Only messages with these numbers; nil for all messages.
  public var ranges: [RangeReference]?
  /// Only messages from this message or time on; nil for no bound.
  public var since: Bound?
  /// Only messages before this message or time; nil for no bound.
  public var before: Bound?
  /// Only messages of this sender; nil for all senders.
  public var sender: Handle?
  /// Only messages that mention the user.
  public var mentionsOnly = false
  /// Only this message, the messages that it answers, up to the first one, and all direct and indirect answers to it; nil
  /// for no condition.
  ///
  /// A thread is in one conversation. `conversations` may be empty, if the reference alone identifies the message.
  public var thread: MessageReference?
  /// Leaves out messages that the user has read.
  public var unreadOnly = false
  /// Leaves out conversations that are muted now.
  public var unmutedOnly = false
  /// Includes the tombstones of messages that were deleted or have expired.
  public var includesDeleted = false
  /// Whether each message has `readBy`, the users who have read it.
  public var includesReaders = false
  /// The maximum number of messages, or nil for all; if more messages match, the newest ones are shown.
  public var limit: Int? = 30

  /// Makes a query for the newest 30 messages of these conversations, or of all conversations if none is given.
  public init(_ conversations: ConversationReference...) { self.conversations = conversations }
}
