/// Something that happened, as one user sees it.
public enum MessagingEvent: Equatable, Sendable {
  case message(Message, Cursor)
  /// The message as it is now: its text or its status has changed.
  case messageUpdated(Message, Cursor)
  case messageDeleted(Deletion, Cursor)
  case reaction(Reaction, Cursor)
  case readReceipt(Receipt, Cursor)
  case deliveryReceipt(Receipt, Cursor)
  /// The conversation as it is now.
  case conversationUpdated(Conversation, Cursor)
  case typing(Typing)
  case presence(Presence)
  /// Everything that had happened when the reading began has been told.
  case caughtUp(Cursor)
  case heartbeat(Cursor)
  /// What lies between is no longer known.
  case gap(from: Cursor, to: Cursor)

  /// What a reader may ask for.
  public enum Kind: String, CaseIterable, Sendable {
    case message, update, delete, reaction, receipt, typing, presence, conversation

    public static let standard: Set<Kind> = [.message, .update, .delete]
  }

  /// The place in the stream after it; nil for what the log does not keep.
  public var cursor: Cursor? {
    switch self {
    case .message(_, let cursor), .messageUpdated(_, let cursor), .messageDeleted(_, let cursor),
      .reaction(_, let cursor), .readReceipt(_, let cursor),
      .deliveryReceipt(_, let cursor), .conversationUpdated(_, let cursor), .caughtUp(let cursor),
      .heartbeat(let cursor), .gap(_, let cursor):
      cursor
    case .typing, .presence: nil
    }
  }

  /// The conversation that it is about.
  public var conversationID: Identifier? {
    switch self {
    case .message(let message, _), .messageUpdated(let message, _): message.conversationID
    case .messageDeleted(let deletion, _): deletion.conversationID
    case .reaction(let reaction, _): reaction.conversationID
    case .readReceipt(let receipt, _), .deliveryReceipt(let receipt, _): receipt.conversationID
    case .conversationUpdated(let conversation, _): conversation.id
    case .typing(let typing): typing.conversationID
    case .presence, .caughtUp, .heartbeat, .gap: nil
    }
  }
}

/// Who is typing in a conversation; it replaces what was said of it before.
public struct Typing: Equatable, Sendable {
  public let conversationID: Identifier
  /// In the order of their handles' bytes; the user himself is left out.
  public let users: [Handle]
}

/// Whether a user is there, of those who show it.
public struct Presence: Equatable, Sendable {
  public let user: Handle
  public let isOnline: Bool
  public let lastSeenAt: Timestamp?
}
