/// A line that is read, with its members looked up by name.
///
/// Unknown members are ignored.
struct InputLine {
  let object: JSONObject

  init(_ line: ArraySlice<UInt8>) throws { object = try JSONReader.object(line) }

  /// A member that is a string; absent and null are the same.
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

  func identifier(_ name: String) throws -> Identifier? {
    try text(name).map { text in
      guard let id = Identifier(text) else {
        throw DMError(.badField, "'\(name)' is no UUID: '\(text)'", subject: name)
      }
      return id
    }
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
  public init(line: ArraySlice<UInt8>) throws {
    let line = try InputLine(line)
    if line.object["ack"] ?? .null != .null {
      throw DMError(
        .badField, "'ack' is for the lines of a consumer; add --consumer NAME, or leave it out", subject: "ack")
    }
    try self.init(line)
  }

  fileprivate init(_ line: InputLine) throws {
    for name in ["attachments", "expires_in"] where line.object[name] ?? .null != .null {
      throw DMError(.badField, "'\(name)' is not known to this version; leave it out or update dm", subject: name)
    }
    try self.init(
      to: ConversationReference(line.required("conversation")), text: line.required("text"), nonce: line.text("nonce"),
      replyTo: line.text("reply_to").map(MessageReference.init))
  }
}

extension ConsumerLine {
  /// Reads a line of `dm-send --consumer`, which may be without a message.
  ///
  /// What is wrong with the message is kept, so that a line can be acknowledged that can never be sent.
  ///
  /// - Throws: `malformed_line`, `invalid_utf8`, `bad_field`, `missing_field` when it says nothing at all.
  public init(line: ArraySlice<UInt8>) throws {
    let line = try InputLine(line)
    let ack = try line.text("ack")
    // An ack that is null answers an event that has no cursor: there is nothing to acknowledge.
    if line.object["ack"] != nil, ["conversation", "text"].allSatisfy({ line.object[$0] ?? .null == .null }) {
      self.init(nil, acknowledges: ack)
      return
    }
    do {
      self.init(.success(try Outgoing(line)), acknowledges: ack)
    } catch let error as DMError {
      self.init(.failure(error), acknowledges: ack)
    }
  }
}

extension Imported {
  /// Reads a line of `dm-import`.
  ///
  /// - Throws: `malformed_line`, `invalid_utf8`, `missing_field`, `bad_field`, `bad_handle`, `bad_time`,
  ///   `empty_text`, `text_too_long`.
  public init(line: ArraySlice<UInt8>) throws {
    let line = try InputLine(line)
    switch try line.text("type") {
    case nil, "message": self = .message(try ImportedMessage(line))
    case "conversation": self = .conversation(try ImportedConversation(line))
    case let other?:
      throw DMError(
        .badField, "a line of the type '\(other)' is no history; keep those of message and conversation",
        subject: "type")
    }
  }
}

extension ImportedMessage {
  fileprivate init(_ line: InputLine) throws {
    let group: Group
    if let id = try line.identifier("conversation_id") {
      group = .id(id)
    } else {
      group = .title(try line.required("conversation").without("+"))
    }
    var reply = try line.identifier("reply_to").map(Reply.id)
    if reply == nil { reply = try line.text("reply_to_nonce").map(Reply.nonce) }
    try self.init(
      group: group, id: line.identifier("id"), sender: Handle(line.required("sender")), text: line.required("text"),
      createdAt: line.time("created_at"), nonce: line.text("nonce"), replyTo: reply)
  }
}

extension ImportedConversation {
  fileprivate init(_ line: InputLine) throws {
    guard let id = try line.identifier("id") else {
      throw DMError(.missingField, "'id' is missing; add it to the line", subject: "id")
    }
    guard case .bool(let isGroup)? = line.object["is_group"] else {
      throw DMError(.badField, "'is_group' is missing or no boolean", subject: "is_group")
    }
    guard case .array(let participants)? = line.object["participants"] else {
      throw DMError(.badField, "'participants' is missing or no array", subject: "participants")
    }
    try self.init(
      id: id, isGroup: isGroup, title: line.text("title"), creator: line.text("creator").map(Handle.init),
      participants: participants.map { value in
        guard case .string(let text) = value else {
          throw DMError(.badField, "a participant is \(value.kind); write a handle", subject: "participants")
        }
        return try Handle(text)
      }, lastActivity: line.text("last_activity") == nil ? nil : line.time("last_activity"))
  }
}

extension Messenger.Mentioned {
  /// Reads a line of `dm-read`; nil when it is no message.
  ///
  /// - Throws: `malformed_line`, `invalid_utf8`, `missing_field`, `bad_field`.
  public init?(line: ArraySlice<UInt8>) throws {
    let line = try InputLine(line)
    guard try line.text("type") == "message" else { return nil }
    guard let conversation = try line.identifier("conversation_id") else {
      throw DMError(.missingField, "'conversation_id' is missing; add it to the line", subject: "conversation_id")
    }
    guard let value = line.object["seq"] else {
      throw DMError(.missingField, "'seq' is missing; add it to the line", subject: "seq")
    }
    guard case .integer(let seq) = value, seq > 0 else {
      throw DMError(.badField, "'seq' is no number of a message; numbers begin with 1", subject: "seq")
    }
    self.init(conversation: conversation, seq: seq)
  }
}
