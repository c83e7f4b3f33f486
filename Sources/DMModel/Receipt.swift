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

/// What marking has changed in a conversation, or would change.
public struct Marked: Equatable, Sendable {
  public enum Action: String, Sendable, CaseIterable {
    case read
    /// For the user only; the receipts stay.
    case unread
    /// Everything up to the last of them reached the user.
    case delivered
  }

  public let action: Action
  public let isDryRun: Bool
  public let conversationID: Identifier
  /// What the user calls the conversation.
  public let conversationTitle: String?
  /// The numbers of the messages that changed, ascending: those that the user sees.
  public let ranges: [SeqRange]
  public let unreadCount: Int
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

  public var count: Int { ranges.reduce(0) { $0 + $1.count } }
}
