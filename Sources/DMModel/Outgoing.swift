/// A message to send.
public struct Outgoing: Equatable, Sendable {
  /// The conversation; a direct one is created if it does not exist.
  package let conversation: ConversationReference
  /// The text; empty only if there are attachments.
  package let text: String
  /// A key of at most 128 bytes, against duplicates: if the sender has used it in the conversation before, nothing is
  /// sent.
  package let nonce: String?
  /// The message to answer, which is in the same conversation.
  package let replyTo: MessageReference?
  /// The time after which the message expires; nil to use the conversation's `expireAfter`.
  package let lifetime: Duration?
  /// The ids of attachments that the user prepared, or that are in a message that they see.
  package let attachments: [Identifier]
  /// The message to forward, which the user must be able to see.
  package let forwards: Identifier?
  /// What a link of the text leads to.
  package let linkPreview: LinkPreview?

  /// The maximum number of bytes of a text.
  public static let textLimit = 64 * 1024
  /// The maximum number of bytes of a nonce.
  package static let nonceLimit = 128

  /// Makes a message.
  ///
  /// - Parameters:
  ///   - conversation: the conversation; a direct one is created if it does not exist.
  ///   - text: at most 64 KiB; empty only if there are attachments.
  ///   - nonce: a key of at most 128 bytes, against duplicates: if the sender has used it in the conversation before,
  ///     nothing is sent.
  ///   - replyTo: the message to answer, which is in the same conversation.
  ///   - lifetime: the time after which the message expires, at least 1 s; nil to use the conversation's `expireAfter`.
  ///   - attachments: the ids of at most 32 attachments that the user prepared, or that are in a message that they see.
  ///   - forwards: the message to forward, which the user must be able to see. Its preview is forwarded, too.
  ///   - linkPreview: what a link of the text leads to; its image is added to the attachments if it is not one of them.
  /// - Throws: `empty_text`, also for white space alone, `text_too_long`, or `bad_field` for a NUL in the text, the nonce, the lifetime, too many
  ///   attachments, or a preview of a link that the text does not have.
  public init(
    to conversation: ConversationReference, text: String, nonce: String? = nil,
    replyTo: MessageReference? = nil, lifetime: Duration? = nil, attachments: [Identifier] = [],
    forwards: Identifier? = nil, linkPreview: LinkPreview? = nil
  ) throws(DMError) {
    var attachments = attachments
    if let image = linkPreview?.attachment, !attachments.contains(image) { attachments.append(image) }
    if let linkPreview, !text.contains(text: linkPreview.url) {
      throw DMError(
        .badField, "the text does not have the link 'link_preview.url'; leave the preview out",
        subject: "link_preview.url")
    }
    if attachments.isEmpty || !text.isEmpty { try Self.check(text: text) }
    if attachments.isEmpty, forwards == nil { try Self.refuseBlank(text) }
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
    self.linkPreview = linkPreview
  }

  /// The message with a preview in place of its own.
  ///
  /// - Throws: `bad_field` for too many attachments, or for a preview of a link that the text does not have.
  package func with(_ preview: LinkPreview) throws(DMError) -> Outgoing {
    try Outgoing(
      to: conversation, text: text, nonce: nonce, replyTo: replyTo, lifetime: lifetime, attachments: attachments,
      forwards: forwards, linkPreview: preview)
  }

  /// - Throws: `empty_text`, `text_too_long`, `bad_field` for a NUL.
  package static func check(text: String) throws(DMError) {
    guard !text.isEmpty else { throw DMError(.emptyText, "the text is empty; write something") }
    guard text.utf8.count <= textLimit else {
      throw DMError(.textTooLong, "the text is over \(textLimit / 1024) KiB; split it")
    }
    guard !text.contains(byte: 0) else {
      throw DMError(.badField, "the text holds a NUL character; remove it", subject: "text")
    }
  }

  /// - Throws: `empty_text` if the text has only white space.
  static func refuseBlank(_ text: String) throws(DMError) {
    guard text.unicodeScalars.allSatisfy(\.properties.isWhitespace) else { return }
    throw DMError(.emptyText, "the text is blank; write something")
  }

  /// The text if it has at most `limit` bytes; otherwise its beginning and `…`, together at most `limit` bytes.
  ///
  /// The text is cut between two characters.
  public static func cut(_ text: String, to limit: Int) -> String {
    if text.utf8.count <= limit { return text }
    let end = "…"
    let start = beginning(of: text, bytes: limit - end.utf8.count)
    // If the last character is incomplete, it is dropped, unless it is very long because of its combining marks.
    guard let last = start.last, last.utf8.count < 64 else { return start + end }
    let next = text.utf8.index(text.startIndex, offsetBy: start.utf8.count)
    return (String.Index(next, within: text) == nil ? String(start.dropLast()) : start) + end
  }

  package static func check(nonce: String?) throws(DMError) {
    guard let nonce else { return }
    guard (1...nonceLimit).contains(nonce.utf8.count), !nonce.contains(byte: 0) else {
      throw DMError(
        .badField,
        nonce.isEmpty
          ? "the nonce is empty; name what it stands for, such as 'backup-monday', or leave it out"
          : "a nonce has 1 to \(nonceLimit) bytes and no NUL; hash a longer one", subject: "nonce")
    }
  }
}
