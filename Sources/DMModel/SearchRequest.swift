/// Which messages to search for.
public struct SearchRequest: Sendable {
  /// A kind of content that a message may have besides words.
  public enum Content: String, Sendable, CaseIterable {
    /// A web address in the text.
    case link
    /// An attachment of any kind.
    case attachment
    /// An attachment that is an image.
    case image
    /// An attachment that is a video.
    case video
    /// An attachment that is sound, but not a voice message.
    case audio
    /// A voice message.
    case voice
    /// An attachment of another kind, such as a document.
    case file
    /// A mention of the user.
    case mention
  }

  /// The query: words, `"phrases"`, `prefix*`, AND, OR, NOT and parentheses; nil for all messages that meet the other
  /// conditions.
  public var words: String?
  /// The conversations to search; empty for all conversations that the user is or was in.
  public var conversations: [ConversationReference] = []
  /// The sender of the messages; nil for all senders.
  public var sender: Handle?
  /// Only messages from this message or time on; nil for no bound.
  public var since: HistoryQuery.Bound?
  /// Only messages before this message or time; nil for no bound.
  public var before: HistoryQuery.Bound?
  /// The kinds of content that each found message must have; empty for no condition.
  public var contents: Set<Content> = []
  /// A part of the name of an attachment that each found message must have; nil for no condition.
  ///
  /// Case and accents are ignored.
  public var attachmentName: String?
  /// Whether the newest message comes first, instead of the most relevant one.
  public var newestFirst = false
  /// The maximum number of messages; nil for no maximum.
  public var limit: Int? = 20

  /// Makes a request for the 20 most relevant messages.
  public init(_ words: String? = nil) { self.words = words }
}

/// The part of a message in which a search found something, on one line.
public struct Snippet: Equatable, Sendable {
  /// A part of the snippet that is entirely a hit, or contains no hit.
  public struct Part: Equatable, Sendable {
    /// The text of the part; never empty.
    public let text: String
    /// Whether this part matches the search.
    public let isHit: Bool

    package init(text: String, isHit: Bool) {
      self.text = text
      self.isHit = isHit
    }
  }

  /// The parts in the order of the text.
  public let parts: [Part]

  package init(parts: [Part]) { self.parts = parts }

  /// The text of the snippet, with each hit between double asterisks.
  package var marked: String { parts.map { $0.isHit ? "**\($0.text)**" : $0.text }.joined() }
}
