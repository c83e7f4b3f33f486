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
  /// Set on what a send returns when the nonce named a message that was there.
  public var isDuplicate = false

  /// Whether that is its text, byte for byte.
  func bears(_ other: String) -> Bool { text.map(ExactString.init) == ExactString(other) }
}

/// A message to be sent.
public struct Outgoing: Equatable, Sendable {
  public let conversation: ConversationReference
  public let text: String
  public let nonce: String?
  public let replyTo: MessageReference?

  /// The most bytes of a text, and of a nonce.
  public static let textLimit = 64 * 1024
  public static let nonceLimit = 128

  /// - Throws: `empty_text`, `text_too_long`, or `bad_field` for the nonce.
  public init(
    to conversation: ConversationReference, text: String, nonce: String? = nil,
    replyTo: MessageReference? = nil
  ) throws {
    try Self.check(text: text)
    try Self.check(nonce: nonce)
    self.conversation = conversation
    self.text = text
    self.nonce = nonce
    self.replyTo = replyTo
  }

  static func check(text: String) throws {
    guard !text.isEmpty else { throw DMError(.emptyText, "the text is empty; say something") }
    guard text.utf8.count <= textLimit else {
      throw DMError(.textTooLong, "the text is over \(textLimit / 1024) KiB; split it")
    }
    guard !text.utf8.contains(0) else {
      throw DMError(.badField, "the text holds a NUL character; remove it", subject: "text")
    }
  }

  static func check(nonce: String?) throws {
    guard let nonce else { return }
    guard (1...nonceLimit).contains(nonce.utf8.count), !nonce.utf8.contains(0) else {
      throw DMError(
        .badField, "a nonce has 1 to \(nonceLimit) bytes and no NUL; hash a longer one", subject: "nonce")
    }
  }
}
