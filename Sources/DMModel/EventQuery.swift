/// Which events to stream, and from which position.
public struct EventQuery: Sendable {
  /// A position at which a stream begins.
  public enum Start: Equatable, Sendable {
    /// The oldest change in the log.
    case start
    /// Events that happen from now on.
    case now
    /// After the event with this cursor.
    case cursor(Cursor)
  }

  /// The conversations to follow; empty for all conversations of the user, including those that are created later.
  public var conversations: [ConversationReference] = []
  /// The kinds of events to stream.
  public var kinds = MessagingEvent.Kind.standard
  /// Whether `caughtUp` comes first, because the events before the start were read as a history.
  package var beginsCaughtUp = false
  /// Only events about messages of this sender; nil for all senders.
  ///
  /// With this condition or one of the next two, the stream has no events of the kinds `messageStatus`, `readReceipt`,
  /// `deliveryReceipt` and `conversationUpdated`.
  public var sender: Handle?
  /// Only events about messages that mention the user.
  ///
  /// A deleted message mentions nobody, so its deletion is left out.
  public var mentionsOnly = false
  /// Only events about the messages of this thread, as in `HistoryQuery.thread`, also about later answers.
  public var thread: MessageReference?
  /// Only messages of which the user is to be notified by this rule, and none in its quiet hours; nil for all messages.
  ///
  /// Set `unmutedOnly`, too: the rule does not know which conversations are muted.
  public var notifications: NotificationRule?
  /// Whether the stream has only events about some of the messages.
  package var selectsMessages: Bool { sender != nil || mentionsOnly || thread != nil || notifications != nil }
  /// Leaves out conversations while they are muted.
  public var unmutedOnly = false
  /// Leaves out the user's own actions.
  public var othersOnly = false
  /// The position at which the stream begins; nil for `now`, except for a new consumer, which requires a start.
  public var start: Start?
  /// Whether to wait for new events after all events so far were delivered.
  public var follows = true
  /// The time between two heartbeats, at least 1 ms; nil for none, or for 5 s in the stream of a consumer.
  public var heartbeat: Duration?
  /// Whether others see the user as online during the stream.
  public var signalsPresence = true
  /// Whether the messages of the stream count as delivered.
  public var marksDelivered = true
  /// The name of a durable consumer.
  ///
  /// The stream begins at the position of the consumer. `start` is used only to create the consumer.
  public var consumer: String?
  /// Whether a consumer goes on when its next changes are no longer in the log.
  public var acceptsGap = false

  /// Whether each message has `readBy`, the users who have read it.
  public var includesReaders = false

  /// Makes a query for the kinds of `MessagingEvent.Kind.standard`, which waits for new events.
  public init(_ conversations: [ConversationReference] = [], from start: Start? = nil) {
    self.conversations = conversations
    self.start = start
  }
}
