/// What one participant said, as it stands now.
public struct Message: Equatable, Sendable {
  /// How far a message has come, as its sender sees it.
  public enum Status: String, Sendable, CaseIterable {
    /// Committed and ordered by the authority.
    case sent
    /// At least one other participant got it.
    case delivered
    /// At least one other participant read it.
    case read
  }

  /// What is announced in a conversation.
  ///
  /// The numbers stand in stores.
  public enum SystemKind: String, Sendable, CaseIterable {
    case conversationCreated = "conversation_created"
    case userJoined = "user_joined"
    case userLeft = "user_left"
    case titleChanged = "title_changed"
    case historyImported = "history_imported"

    var number: Int64 {
      switch self {
      case .conversationCreated: 1
      case .userJoined: 2
      case .userLeft: 3
      case .titleChanged: 4
      case .historyImported: 5
      }
    }

    init?(number: Int64) {
      guard let kind = Self.allCases.first(where: { $0.number == number }) else { return nil }
      self = kind
    }
  }

  /// Who reacted by one emoji, in order.
  public struct Reactions: Equatable, Sendable {
    public let emoji: String
    public var users: [Handle]
  }

  public let id: Identifier
  public let conversationID: Identifier
  /// Its number in the conversation: 1, 2, 3 … without holes.
  public let seq: Int
  public let sender: Handle
  public let text: String?
  /// Given by the authority; grows strictly within a conversation.
  public let createdAt: Timestamp
  public var status: Status
  public let replyTo: Identifier?
  public let nonce: String?
  /// What it carries besides a text, or instead of one.
  public var attachments: [Attachment] = []
  /// Participants whom the text mentions.
  public var mentions: [Handle] = []
  /// Those of users whom the reader does not block.
  public var reactions: [Reactions] = []
  public var editedAt: Timestamp?
  public var expiresAt: Timestamp?
  /// Set on a tombstone, which has no text any more.
  public var deletedAt: Timestamp?
  /// What was announced, in a message without a text.
  public var systemKind: SystemKind?
  /// Whom or what the announcement is about: a handle, or a title.
  public var subject: String?
  /// Set on what a send returns when the nonce named a message that was there.
  public var isDuplicate = false
  /// Set on an answer to a line of input: its number.
  public var line: Int?
  /// The part of the text that a search found, each hit between `**`.
  public var snippet: String?

  /// Whether that is its text, byte for byte; an empty one is none.
  func bears(_ other: String) -> Bool { ExactString(text ?? "") == ExactString(other) }
}
