/// The messages of a conversation that were delivered to a user or read by the user, and the time when this happened.
public struct Receipt: Equatable, Sendable {
  /// Whether the messages were delivered or read.
  public enum Kind: Sendable {
    /// The messages reached the user.
    case delivery
    /// The user read the messages.
    case read
  }

  /// Whether the messages were delivered or read.
  public let kind: Kind
  /// The id of the conversation.
  public let conversationID: Identifier
  /// The name of the conversation for the user who sees the receipt, as in `ConversationLabel`.
  public let conversationTitle: String?
  /// The user who got or read the messages.
  public let user: Handle
  /// The numbers of the messages, ascending.
  public let ranges: [SeqRange]
  /// The time; nil for a delivery that is no longer in the change log.
  public let at: Timestamp?

  package init(
    kind: Kind, conversationID: Identifier, conversationTitle: String?, user: Handle, ranges: [SeqRange], at: Timestamp?
  ) {
    self.kind = kind
    self.conversationID = conversationID
    self.conversationTitle = conversationTitle
    self.user = user
    self.ranges = ranges
    self.at = at
  }
}

/// The messages of a conversation that were marked, or would be marked.
public struct Marked: Equatable, Sendable {
  /// How messages are marked.
  public enum Action: String, Sendable, CaseIterable {
    /// The messages are read by the user.
    case read
    /// The messages are unread for the user; others keep the user's receipts.
    case unread
    /// All messages up to the last of `ranges` were delivered to the user.
    case delivered
  }

  /// How the messages were marked.
  public let action: Action
  /// Whether this was a dry run: nothing was changed, and the result says what would be marked.
  package let isDryRun: Bool
  /// The id of the conversation.
  public let conversationID: Identifier
  /// The name of the conversation for the user, as in `ConversationLabel`.
  public let conversationTitle: String?
  /// The numbers of the changed messages that the user sees, ascending.
  public let ranges: [SeqRange]
  /// The number of unread messages of the conversation after the marking.
  public let unreadCount: Int
  /// The time of the marking.
  public let at: Timestamp

  package init(
    action: Action, isDryRun: Bool, conversationID: Identifier, conversationTitle: String?, ranges: [SeqRange],
    unreadCount: Int, at: Timestamp
  ) {
    self.action = action
    self.isDryRun = isDryRun
    self.conversationID = conversationID
    self.conversationTitle = conversationTitle
    self.ranges = ranges
    self.unreadCount = unreadCount
    self.at = at
  }

  /// The number of messages in `ranges`.
  public var count: Int { ranges.reduce(0) { $0 + $1.count } }
}
