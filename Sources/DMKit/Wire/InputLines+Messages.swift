package import DMModel

extension Edit {
  /// Reads a line of `dm-edit`; nil for a line that is not a message, and for a system message that cannot be changed
  /// so.
  ///
  /// - Parameter act: returns what to do, given the line's text.
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
  /// Reads a line of `dm-read`; nil when it is not a message.
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
