/// Which messages to show.
public struct HistoryQuery: Sendable {
  /// A message or a time.
  public enum Bound: Sendable {
    /// A message of the conversation.
    case message(MessageReference)
    /// A time, compared with `Message.createdAt`.
    case time(Timestamp)
  }

  /// Empty for all conversations of the user.
  public var conversations: [ConversationReference]
  /// Treats a direct conversation that does not exist yet as empty, instead of throwing an error.
  package var allowsMissing = false
  /// Nil for all messages; otherwise only those with these numbers.
  public var ranges: [RangeReference]?
  /// The lower bound, inclusive.
  public var since: Bound?
  /// The upper bound, exclusive.
  public var before: Bound?
  /// Only messages of this sender; nil for those of any sender.
  public var sender: Handle?
  /// Leaves out messages that the user has read.
  public var unreadOnly = false
  /// Leaves out conversations that are muted now.
  public var unmutedOnly = false
  /// Includes the tombstones of messages that were deleted or have expired.
  public var includesDeleted = false
  /// Whether each message has `readBy`, the users who have read it.
  public var includesReaders = false
  /// At most so many of the matching messages, the newest; nil for all.
  public var limit: Int? = 30

  /// Makes a query for the newest 30 messages of the conversations, or of all conversations if there are none.
  public init(_ conversations: ConversationReference...) { self.conversations = conversations }
}
