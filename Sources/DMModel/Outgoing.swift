/// A message to be sent.
public struct Outgoing: Equatable, Sendable {
  public let conversation: ConversationReference
  /// Empty only where something is attached.
  public let text: String
  public let nonce: String?
  public let replyTo: MessageReference?
  /// How long it lives; nil for as long as the conversation says.
  public let lifetime: Duration?
  /// What was prepared by the user, or is in a message that they see.
  public let attachments: [Identifier]
  /// The message whose content it passes on, which the user must see.
  public let forwards: Identifier?

  /// The most bytes of a text, and of a nonce.
  public static let textLimit = 64 * 1024
  public static let nonceLimit = 128

  /// - Throws: `empty_text`, `text_too_long`, or `bad_field` for the nonce, the lifetime or too many attachments.
  public init(
    to conversation: ConversationReference, text: String, nonce: String? = nil,
    replyTo: MessageReference? = nil, lifetime: Duration? = nil, attachments: [Identifier] = [],
    forwards: Identifier? = nil
  ) throws {
    if attachments.isEmpty || !text.isEmpty { try Self.check(text: text) }
    guard attachments.count <= Attachment.limit else {
      throw DMError(
        .badField, "a message carries \(Attachment.limit) attachments at the most; send several", subject: "attachments"
      )
    }
    try Self.check(nonce: nonce)
    if let lifetime { try checkLifetime(lifetime) }
    self.conversation = conversation
    self.text = text
    self.nonce = nonce
    self.replyTo = replyTo
    self.lifetime = lifetime
    self.attachments = attachments
    self.forwards = forwards
  }

  /// - Throws: `empty_text`, `text_too_long`, `bad_field` of a NUL.
  public static func check(text: String) throws {
    guard !text.isEmpty else { throw DMError(.emptyText, "the text is empty; say something") }
    guard text.utf8.count <= textLimit else {
      throw DMError(.textTooLong, "the text is over \(textLimit / 1024) KiB; split it")
    }
    guard !text.contains(byte: 0) else {
      throw DMError(.badField, "the text holds a NUL character; remove it", subject: "text")
    }
  }

  /// The beginning of a text, cut at a character and ended with `…`, in so many bytes; the text where it fits.
  public static func cut(_ text: String, to limit: Int) -> String {
    if text.utf8.count <= limit { return text }
    let end = "…"
    let start = beginning(of: text, bytes: limit - end.utf8.count)
    // The last may be a part of one; a character of many marks is cut all the same.
    guard let last = start.last, last.utf8.count < 64 else { return start + end }
    let next = text.utf8.index(text.startIndex, offsetBy: start.utf8.count)
    return (String.Index(next, within: text) == nil ? String(start.dropLast()) : start) + end
  }

  package static func check(nonce: String?) throws {
    guard let nonce else { return }
    guard (1...nonceLimit).contains(nonce.utf8.count), !nonce.contains(byte: 0) else {
      throw DMError(
        .badField, "a nonce has 1 to \(nonceLimit) bytes and no NUL; hash a longer one", subject: "nonce")
    }
  }
}
