internal import DMJSON
package import DMModel

/// An input line, whose members are looked up by name.
///
/// Members with other names are ignored.
struct InputLine {
  let object: JSONObject

  init(object: JSONObject) { self.object = object }

  init(_ line: ArraySlice<UInt8>) throws { object = try JSONReader.object(line) }

  /// Reads a line.
  ///
  /// If the line has a nonce, an error includes the nonce.
  static func read<T>(_ line: ArraySlice<UInt8>, _ body: (InputLine) throws -> T) throws -> T {
    let line = try InputLine(line)
    do {
      return try body(line)
    } catch let error as DMError {
      guard case .string(let nonce)? = line.object["nonce"] else { throw error }
      throw error.answering(nonce: nonce)
    }
  }

  /// Whether a member is present and is not null.
  func has(_ name: String) -> Bool { object[name] ?? .null != .null }

  /// The value of a string member; nil if the member is absent or null.
  func text(_ name: String) throws -> String? {
    switch object[name] {
    case nil, .null: return nil
    case .string(let text): return text
    case let other?:
      throw DMError(.badField, "'\(name)' is \(other.kind); write a string", subject: name)
    }
  }

  func required(_ name: String) throws -> String {
    guard let text = try text(name) else {
      throw DMError(.missingField, "'\(name)' is missing; add it to the line", subject: name)
    }
    return text
  }

  func identifier(_ name: String) throws -> Identifier? { try text(name).map { try identifier($0, of: name) } }

  func identifier(_ text: String, of name: String) throws -> Identifier {
    guard let id = Identifier(text) else {
      throw DMError(.badField, "'\(name)' is not a UUID: '\(text)'", subject: name)
    }
    return id
  }

  /// A reference to a message.
  ///
  /// The member is a string, or an object with an `id`, such as a printed message.
  func message(_ name: String) throws -> String? {
    guard case .object(let printed)? = object[name] else { return try text(name) }
    guard case .string(let id)? = printed["id"] else {
      throw DMError(.badField, "'\(name)' is an object without an 'id'; add it, or write a reference", subject: name)
    }
    return try identifier(id, of: name).description
  }

  /// The ids of attachments.
  ///
  /// The member is a list of ids, or a list of objects with an `id`.
  func attachments() throws -> [Identifier] {
    switch object["attachments"] {
    case nil, .null: return []
    case .array(let values):
      return try values.map { value in
        var value = value
        if case .object(let attachment) = value { value = attachment["id"] ?? .null }
        guard case .string(let text) = value, let id = Identifier(text) else {
          throw DMError(
            .badField, "'attachments' has what is no attachment", subject: "attachments",
            remedy: .writeAttachments)
        }
        return id
      }
    case let other?:
      throw DMError(.badField, "'attachments' is \(other.kind); write an array", subject: "attachments")
    }
  }

  /// The preview of a link, from the member `link_preview`; nil if the line has none.
  func linkPreview() throws -> LinkPreview? {
    switch object["link_preview"] {
    case nil, .null: return nil
    case .object(let members)?:
      let preview = InputLine(object: members)
      return try LinkPreview(
        url: preview.required("url"), title: preview.required("title"), description: preview.text("description"),
        site: preview.text("site"), attachment: preview.identifier("attachment_id"))
    case let other?:
      throw DMError(.badField, "'link_preview' is \(other.kind); write an object", subject: "link_preview")
    }
  }

  /// The number of a message, from the member `seq`.
  func seq() throws -> Int {
    guard let value = object["seq"] else {
      throw DMError(.missingField, "'seq' is missing; add it to the line", subject: "seq")
    }
    guard case .integer(let seq) = value, seq > 0 else {
      throw DMError(.badField, "'seq' is not a number of a message; numbers begin with 1", subject: "seq")
    }
    return seq
  }

  func time(_ name: String) throws -> Timestamp {
    let text = try required(name)
    guard let time = Timestamp(rfc3339: text) else {
      throw DMError(.badTime, "'\(name)' is no time: '\(text)'; write 2026-11-21T14:30:00Z", subject: name)
    }
    return time
  }
}

extension Outgoing {
  /// Reads a line of `dm-send`.
  ///
  /// - Throws: `malformed_line`, `invalid_utf8`, `missing_field`, `bad_field`, `bad_reference`,
  ///   `empty_text`, `text_too_long`.
  package init(line: ArraySlice<UInt8>) throws {
    self = try InputLine.read(line) { line in
      for name in ["ack", "react", "read"] where line.has(name) {
        throw DMError(
          .badField, "'\(name)' is for the lines of a consumer", subject: name, remedy: .nameConsumer)
      }
      return try Outgoing(line)
    }
  }

  fileprivate init(_ line: InputLine) throws {
    let attachments = try line.attachments()
    let preview = try line.linkPreview()
    guard let conversation = try line.conversation() else {
      throw DMError(
        .missingField, "'conversation' is missing; add it, or 'conversation_id', to the line", subject: "conversation")
    }
    try self.init(
      to: conversation, text: attachments.isEmpty ? line.required("text") : line.text("text") ?? "",
      nonce: line.text("nonce"), replyTo: line.reply(), lifetime: line.lifetime(), attachments: attachments,
      linkPreview: preview)
  }
}

extension InputLine {
  /// The conversation to send to: the member `conversation_id` or, without it, the member `conversation`.
  fileprivate func conversation() throws -> ConversationReference? {
    if let id = try identifier("conversation_id") { return .id(id) }
    return try text("conversation").map(ConversationReference.init)
  }

  /// The message to reply to.
  ///
  /// The member is a reference or a printed message.
  fileprivate func reply() throws -> MessageReference? {
    guard case .object(let message)? = object["reply_to"] else {
      return try text("reply_to").map(MessageReference.init)
    }
    guard case .string(let text)? = message["id"], let id = Identifier(text) else {
      throw DMError(.badField, "'reply_to' is an object without an 'id' that is a UUID", subject: "reply_to")
    }
    return .id(id)
  }

  /// The lifetime of a message.
  ///
  /// The member is a duration such as `1h`, or a number of seconds.
  fileprivate func lifetime() throws -> Duration? {
    switch object["expires_in"] {
    case .integer(let seconds)?: try duration("\(seconds)s")
    case .number?:
      throw DMError(.badField, "'expires_in' is not a whole number of seconds", subject: "expires_in")
    default: try text("expires_in").map(duration)
    }
  }

  /// The reaction and the read mark that a consumer's line sets on a message; nil if the line sets neither.
  fileprivate func marks() throws -> ConsumerLine.Marks? {
    let emoji = try text("react")
    let isRead: Bool
    switch object["read"] {
    case nil, .null: isRead = false
    case .bool(let value): isRead = value
    case let other?: throw DMError(.badField, "'read' is \(other.kind); write true", subject: "read")
    }
    guard emoji != nil || isRead else { return nil }
    guard var message = try identifier("message_id").map(MessageReference.id) ?? reply() else {
      throw DMError(
        .missingField, "'message_id' is missing; add it, or 'reply_to', to the line", subject: "message_id")
    }
    if case .number(let number, in: nil) = message { message = .number(number, in: try conversation()) }
    return try ConsumerLine.Marks(message, emoji: emoji, isRead: isRead)
  }
}

extension ConsumerLine {
  /// Reads a line of `dm-send --consumer`, which need not have a message.
  ///
  /// An error in the message is stored in the result, so that the line can be acknowledged although its message can
  /// never be sent.
  ///
  /// - Throws: `malformed_line`, `invalid_utf8`, `bad_field`; `missing_field` for a line without any action.
  package init(line: ArraySlice<UInt8>) throws {
    self = try InputLine.read(line) { line in
      let nonce: String? = if case .string(let text)? = line.object["nonce"] { text } else { nil }
      var ack: Cursor?
      do {
        ack = try line.text("ack").map(Cursor.init)
        let marks = try line.marks()
        // If an event has no cursor, a program answers it with a null `ack`: such an event needs no acknowledgement.
        let isAlone = line.object["ack"] != nil && !line.has("conversation") || marks != nil
        if isAlone, !line.has("text"), !line.has("attachments") {
          return ConsumerLine(nil, acknowledges: ack, marks: marks)
        }
        return ConsumerLine(.success(try Outgoing(line)), acknowledges: ack, marks: marks)
      } catch let error as DMError {
        return ConsumerLine(.failure(error.answering(nonce: nonce)), acknowledges: ack)
      }
    }
  }
}

extension Edit {
  /// Reads a line of `dm-edit`; nil if the line is not a message, or is a system message and the change needs a message
  /// of a user.
  ///
  /// - Parameter act: returns the change, given the text in the line.
  /// - Throws: `malformed_line`, `invalid_utf8`, `missing_field`, `bad_field`.
  package init?(line: ArraySlice<UInt8>, _ act: (String?) throws -> Act) throws {
    let line = try InputLine(line)
    guard try [nil, "message", "message_updated"].contains(line.text("type")) else { return nil }
    let act = try act(line.text("text"))
    if try line.text("system_kind") != nil, Edit.needsUserMessage(act) { return nil }
    let message: MessageReference
    if let id = try line.identifier("id") {
      message = .id(id)
    } else if let conversation = try line.identifier("conversation_id") {
      message = .number(try line.seq(), in: .id(conversation))
    } else {
      throw DMError(.missingField, "'id' is missing; add it to the line, or 'conversation_id' and 'seq'", subject: "id")
    }
    try self.init(message, act)
  }
}

extension Messenger.MarkedMessage {
  /// Reads a line of `dm-read`; nil if the line is not a message.
  ///
  /// - Throws: `malformed_line`, `invalid_utf8`, `missing_field`, `bad_field`.
  package init?(line: ArraySlice<UInt8>) throws {
    let line = try InputLine(line)
    guard try line.text("type") == "message" else { return nil }
    guard let conversation = try line.identifier("conversation_id") else {
      throw DMError(.missingField, "'conversation_id' is missing; add it to the line", subject: "conversation_id")
    }
    self.init(conversation: conversation, seq: try line.seq())
  }
}
