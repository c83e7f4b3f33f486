/// Which conversations to list, and from where.
public struct ListQuery: Sendable {
  /// Whether archived conversations are listed.
  public enum Archived: Sendable {
    /// Leaves them out.
    case excluded
    /// Lists no others.
    case only
    /// Lists them among the others.
    case included
  }

  /// Whether archived conversations are listed.
  public var archived = Archived.excluded
  /// Leaves out conversations without unread messages.
  public var unreadOnly = false
  /// Leaves out conversations that are muted now.
  public var unmutedOnly = false
  /// Only these, even if they are archived, deleted or with a blocked user; empty for all listed conversations.
  public var conversations: [ConversationReference] = []
  /// A part of the own name, of the title, or of another participant's handle or display name, in any case and with or
  /// without accents.
  public var matching: String?
  /// Nil for all.
  public var limit: Int? = 50
  /// The `pageCursor` of the last conversation of the previous page.
  public var after: PageCursor?
  /// Only among so many of the conversations with at most 64 participants; nil for all.
  ///
  /// It bounds the time of `matching`.
  package var newest: Int?
  /// Only this conversation, if the list contains it, without pages.
  package var only: Identifier?
  /// The keys of `conversations`.
  package var keys: [ConversationKey]?

  /// Makes a query for the first 50 listed conversations.
  public init() {}
}
