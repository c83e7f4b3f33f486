/// What to tell of what happens, and from where on.
public struct EventQuery: Sendable {
  public enum Start: Equatable, Sendable {
    /// The oldest change that is known.
    case start
    case now
    /// After the event that bore it.
    case cursor(String)
  }

  /// Empty for all that the user is in, also those that come into being meanwhile.
  public var conversations: [ConversationReference] = []
  public var kinds = MessagingEvent.Kind.standard
  /// Whether what lies before the start has been told, by a history for example: then `caughtUp` comes first.
  public var isCaughtUp = false
  /// Leaves out conversations while they are muted.
  public var unmutedOnly = false
  /// Leaves out what the user did.
  public var othersOnly = false
  /// Nil for `now`; a consumer that is new has to be told.
  public var start: Start?
  /// Whether to go on when everything has been told.
  public var follows = true
  /// From one heartbeat to the next, a millisecond at least; nil for none, or for every 5 s of a consumer.
  public var heartbeat: Duration?
  /// Whether others see that the user is there while they follow.
  public var beatsPresence = true
  /// Whether what was told counts as delivered.
  public var marksDelivered = true
  /// The name of a durable consumer, whose place decides where to begin; `start` counts for its first use only.
  public var consumer: String?
  /// Whether a consumer goes on when its next changes are no longer in the log.
  public var acceptsGap = false

  /// Whether each message says who has read it.
  public var namesReaders = false

  public init(_ conversations: [ConversationReference] = [], from start: Start? = nil) {
    self.conversations = conversations
    self.start = start
  }
}
