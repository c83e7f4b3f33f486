/// Something that happened, as one user sees it.
///
/// Expect more cases in later versions: ignore those that you do not know.
///
/// The enumeration is indirect because events are copied often: copying an indirect value copies only one reference.
public indirect enum MessagingEvent: Equatable, Sendable {
  /// A new message.
  case message(Message, Cursor)
  /// A message in its current state, after the message was edited, or after the hub numbered or refused it.
  case messageUpdated(Message, Cursor)
  /// Messages of one sender were delivered or read.
  case messageStatus(MessageStatus, Cursor)
  /// A message that the user had been able to see was deleted, or has expired.
  case messageDeleted(Deletion, Cursor)
  /// A reaction was added or removed.
  case reaction(Reaction, Cursor)
  /// A message was pinned or unpinned.
  case messagePin(MessagePin, Cursor)
  /// A participant has read messages.
  case readReceipt(Receipt, Cursor)
  /// Messages have reached a participant.
  case deliveryReceipt(Receipt, Cursor)
  /// A conversation that is new or has changed, in its current state.
  case conversationUpdated(Conversation, Cursor)
  /// The users who are typing in a conversation have changed.
  case typing(Typing)
  /// A user came online or went offline.
  case presence(Presence)
  /// The connection of the store to its hub was lost, or works again.
  case hub(HubStatus)
  /// All earlier events were delivered; the next events are new.
  case caughtUp(Cursor)
  /// A sign that the stream works, at the interval of `EventQuery.heartbeat`, whether or not there are other events.
  case heartbeat(Cursor)
  /// The changes between the two positions are no longer in the log.
  case gap(from: Cursor, to: Cursor)

  /// The kinds of events that a query can ask for; the raw values are the types of the records.
  public enum Kind: String, CaseIterable, Sendable {
    /// New messages.
    case message
    /// Messages that were edited, or that the hub has numbered or refused.
    case messageUpdated = "message_updated"
    /// Deleted and expired messages.
    case messageDeleted = "message_deleted"
    /// New statuses of messages.
    case messageStatus = "message_status"
    /// Reactions.
    case reaction
    /// Messages that are pinned or unpinned.
    case messagePin = "message_pin"
    /// Receipts that messages were read.
    case readReceipt = "read_receipt"
    /// Receipts that messages were delivered.
    case deliveryReceipt = "delivery_receipt"
    /// Users who are typing.
    case typing
    /// Users who come online or go offline.
    case presence
    /// New and changed conversations.
    case conversationUpdated = "conversation_updated"
    /// The connection to the hub, when it is lost and when it works again.
    case hub

    /// Messages, their edits, deletions and statuses.
    public static let standard: Set<Kind> = [.message, .messageUpdated, .messageDeleted, .messageStatus]
  }

  /// The position in the stream after the event; nil for typing, presence and the hub, which are not in the log.
  public var cursor: Cursor? {
    switch self {
    case .message(_, let cursor), .messageUpdated(_, let cursor), .messageDeleted(_, let cursor),
      .messageStatus(_, let cursor),
      .reaction(_, let cursor), .messagePin(_, let cursor), .readReceipt(_, let cursor),
      .deliveryReceipt(_, let cursor), .conversationUpdated(_, let cursor), .caughtUp(let cursor),
      .heartbeat(let cursor), .gap(_, let cursor):
      cursor
    case .typing, .presence, .hub: nil
    }
  }

  /// The conversation of the event; nil for an event that is not about one conversation.
  public var conversationID: Identifier? {
    switch self {
    case .message(let message, _), .messageUpdated(let message, _): message.conversationID
    case .messageDeleted(let deletion, _): deletion.conversationID
    case .messageStatus(let status, _): status.conversationID
    case .reaction(let reaction, _): reaction.conversationID
    case .messagePin(let pin, _): pin.conversationID
    case .readReceipt(let receipt, _), .deliveryReceipt(let receipt, _): receipt.conversationID
    case .conversationUpdated(let conversation, _): conversation.id
    case .typing(let typing): typing.conversationID
    case .presence, .hub, .caughtUp, .heartbeat, .gap: nil
    }
  }
}

/// A new status of messages of one sender.
public struct MessageStatus: Equatable, Sendable {
  /// The id of the conversation.
  public let conversationID: Identifier
  /// The name of the conversation for the user, as in `ConversationLabel`.
  public let conversationTitle: String?
  /// The sender of the messages.
  public let sender: Handle
  /// `delivered` or `read`.
  public let status: Message.Status
  /// The numbers of the messages, ascending; all are the sender's.
  public let ranges: [SeqRange]
  /// The user who got or read them.
  public let user: Handle

  package init(
    conversationID: Identifier, conversationTitle: String?, sender: Handle, status: Message.Status, ranges: [SeqRange],
    user: Handle
  ) {
    self.conversationID = conversationID
    self.conversationTitle = conversationTitle
    self.sender = sender
    self.status = status
    self.ranges = ranges
    self.user = user
  }
}

/// The users who are typing in a conversation; this replaces the previous `Typing` of the conversation.
public struct Typing: Equatable, Sendable {
  /// The id of the conversation.
  public let conversationID: Identifier
  /// The users who are typing, without the acting user, in the order of their handles' bytes.
  public let users: [Handle]

  package init(conversationID: Identifier, users: [Handle]) {
    self.conversationID = conversationID
    self.users = users
  }
}

/// Whether a user who shows their presence is online.
public struct Presence: Equatable, Sendable {
  /// The user.
  public let user: Handle
  /// Whether one of the user's programs showed them as online in the last 30 seconds.
  public let isOnline: Bool
  /// The time of the user's last presence signal; nil if there is none.
  public let lastSeenAt: Timestamp?

  package init(user: Handle, isOnline: Bool, lastSeenAt: Timestamp?) {
    self.user = user
    self.isOnline = isOnline
    self.lastSeenAt = lastSeenAt
  }
}
