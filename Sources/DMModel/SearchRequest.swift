/// Which messages to search for.
public struct SearchRequest: Sendable {
  /// A kind of content that a message may have besides words.
  public enum Content: String, Sendable, CaseIterable {
    case link, attachment, image, mention
  }

  /// Words, `"phrases"`, `prefix*`, AND, OR, NOT and parentheses; nil for all messages that meet the other conditions.
  public var words: String?
  /// Empty for all conversations that the user is or was in.
  public var conversations: [ConversationReference] = []
  public var sender: String?
  /// The lower bound, inclusive.
  public var since: HistoryQuery.Bound?
  /// The upper bound, exclusive.
  public var before: HistoryQuery.Bound?
  public var contents: Set<Content> = []
  /// Orders the messages by time instead of by relevance.
  public var newestFirst = false
  /// Nil for all.
  public var limit: Int? = 20

  public init(_ words: String? = nil) { self.words = words }
}
