/// Which messages to search for.
public struct SearchRequest: Sendable {
  /// What a message has besides words.
  public enum Content: String, Sendable, CaseIterable {
    case link, attachment, image, mention
  }

  /// Words, `"phrases"`, `prefix*`, AND, OR, NOT and parentheses; nil for whatever passes the rest.
  public var words: String?
  /// Empty for all that the user is or was in.
  public var conversations: [ConversationReference] = []
  public var sender: String?
  /// From here on, this message included.
  public var since: HistoryQuery.Bound?
  /// Up to here, this message left out.
  public var before: HistoryQuery.Bound?
  public var contents: Set<Content> = []
  /// By time, instead of what answers the words best.
  public var newestFirst = false
  /// Nil for all.
  public var limit: Int? = 20

  public init(_ words: String? = nil) { self.words = words }
}
