/// Which messages to show.
public struct HistoryQuery: Sendable {
  /// A message, or a moment.
  public enum Bound: Sendable {
    case message(MessageReference)
    case time(Timestamp)
  }

  /// Empty for all that the user is in.
  public var conversations: [ConversationReference]
  /// Takes a direct conversation in which nothing was said yet for an empty one.
  public var allowsMissing = false
  /// Nil for everything; otherwise only these numbers.
  public var ranges: [RangeReference]?
  /// From here on, this message included.
  public var since: Bound?
  /// Up to here, this message left out.
  public var before: Bound?
  public var unreadOnly = false
  /// Leaves out conversations that are muted now.
  public var unmutedOnly = false
  /// Shows that there was a message, too, where one was deleted or has expired.
  public var includesDeleted = false
  /// Whether each message says who has read it.
  public var namesReaders = false
  /// The newest so many of what is left; nil for all.
  public var limit: Int? = 30

  public init(_ conversations: ConversationReference...) { self.conversations = conversations }
}
