/// Which conversations to list, and from where.
public struct ListQuery: Sendable {
  public enum Archived: Sendable { case excluded, only, included }

  public var archived = Archived.excluded
  public var unreadOnly = false
  /// Leaves out what is muted now.
  public var unmutedOnly = false
  /// Only these, also where they are archived, deleted or with a blocked user; empty for all that are listed.
  public var conversations: [ConversationReference] = []
  /// Part of an own name, a title, or another participant's handle or display name, without regard to case and accents.
  public var matching: String?
  /// Nil for all.
  public var limit: Int? = 50
  /// The cursor of the last conversation of the page before.
  public var after: String?
  /// One conversation, if it belongs to the list; then there are no pages.
  package var only: Identifier?
  /// The keys of `conversations`.
  package var keys: [Int64]?

  public init() {}
}
