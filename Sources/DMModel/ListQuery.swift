/// Which conversations to list, and where the list begins.
public struct ListQuery: Sendable {
  /// Whether archived conversations are listed.
  public enum Archived: Sendable {
    /// Archived conversations are left out.
    case excluded
    /// Only archived conversations are listed.
    case only
    /// Archived conversations are listed among the others.
    case included
  }

  /// Whether archived conversations are listed.
  public var archived = Archived.excluded
  /// Leaves out conversations without unread messages.
  public var unreadOnly = false
  /// Leaves out conversations that are muted now.
  public var unmutedOnly = false
  /// Only conversations that are muted now.
  public var mutedOnly = false
  /// Only pinned conversations.
  public var pinnedOnly = false
  /// Only conversations without activity since this time; nil for no condition.
  public var idleSince: Timestamp?
  /// If this list is not empty, only its conversations are listed, even if they are archived, deleted or with a blocked
  /// user.
  public var conversations: [ConversationReference] = []
  /// Only conversations with this text in the user's own name for them, in their title, or in another participant's
  /// handle or display name.
  ///
  /// Case and accents are ignored.
  public var matching: String?
  /// The maximum number of conversations; nil for all.
  public var limit: Int? = 50
  /// The `pageCursor` of the last conversation of the previous page.
  public var after: PageCursor?
  /// How many of the conversations with at most 64 participants are compared with `matching`, the newest first; nil for
  /// all.
  ///
  /// This limits the time that the comparison takes.
  package var newest: Int?
  /// Lists only this conversation, if the list contains it; then there are no pages.
  package var only: Identifier?
  /// Whether this query opens the list for a usage log, and does not only refresh it.
  package var isOpening = false
  /// The keys of `conversations`.
  package var keys: [ConversationKey]?

  /// Makes a query for the first 50 conversations of the list.
  public init() {}
}
