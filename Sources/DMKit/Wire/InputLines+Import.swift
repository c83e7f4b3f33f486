internal import DMJSON
internal import DMModel

extension Imported {
  /// Reads a line of `dm-import`.
  ///
  /// - Throws: `malformed_line`, `invalid_utf8`, `missing_field`, `bad_field`, `bad_handle`, `bad_time`,
  ///   `empty_text`, `text_too_long`.
  package init(line: ArraySlice<UInt8>) throws {
    self = try InputLine.read(line) { line in
      switch try line.text("type") {
      case nil, "message": return .message(try ImportedMessage(line))
      case "user": return .user(try ImportedUser(line))
      case "conversation":
        guard let id = try line.identifier("id") else {
          throw DMError(.missingField, "'id' is missing; add it to the line", subject: "id")
        }
        do {
          return .conversation(try ImportedConversation(id, line))
        } catch let error as DMError {
          return .refusedConversation(id, error)
        }
      case let other?:
        throw DMError(
          .badField, "a line of the type '\(other)' is no history; keep those of user, message and conversation",
          subject: "type")
      }
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
    let kind = try line.text("system_kind").map { text in
      guard let kind = Message.SystemKind(rawValue: text) else {
        throw DMError(.badField, "'system_kind' is not a kind of announcement: '\(text)'", subject: "system_kind")
      }
      return kind
    }
    var reply = try line.message("reply_to").map { try line.identifier($0, of: "reply_to") }.map(Reply.id)
    if reply == nil { reply = try line.text("reply_to_nonce").map(Reply.nonce) }
    let files = try kind == nil ? line.files() : []
    try self.init(
      group: group, id: line.identifier("id"), sender: Handle(line.required("sender")),
      text: kind == nil && files.isEmpty ? line.required("text") : line.text("text"),
      createdAt: line.time("created_at"), nonce: line.text("nonce"), replyTo: reply, systemKind: kind,
      subject: line.text("subject"), expiresAt: line.text("expires_at") == nil ? nil : line.time("expires_at"),
      files: files, linkPreview: line.linkPreview())
  }
}

extension InputLine {
  /// The files that a line attaches: its attachments with a `path`.
  ///
  /// Attachments in a printed message have no `path`.
  fileprivate func files() throws -> [ImportedMessage.File] {
    guard case .array(let values)? = object["attachments"] else { return [] }
    return try values.compactMap { value in
      guard case .object(let attachment) = value else { return nil }
      let line = InputLine(object: attachment)
      guard let path = try line.text("path") else { return nil }
      return ImportedMessage.File(path: path, name: try line.text("name"))
    }
  }

  /// The value of a boolean member; nil if the member is absent or null.
  fileprivate func flag(_ name: String) throws -> Bool? {
    switch object[name] {
    case nil, .null: return nil
    case .bool(let value): return value
    case let other?: throw DMError(.badField, "'\(name)' is \(other.kind); write true or false", subject: name)
    }
  }
}

extension ImportedUser {
  fileprivate init(_ line: InputLine) throws {
    try self.init(
      handle: Handle(line.required("handle")),
      ProfileChange(
        displayName: line.text("display_name"), bio: line.text("bio"), avatarURL: line.text("avatar_url"),
        showsPresence: line.flag("shows_presence"), sendsReadReceipts: line.flag("sends_read_receipts")),
      isKnown: line.flag("is_known") ?? false)
  }
}

extension ImportedConversation {
  fileprivate init(_ id: Identifier, _ line: InputLine) throws {
    guard case .bool(let isGroup)? = line.object["is_group"] else {
      throw DMError(.badField, "'is_group' is missing or no boolean", subject: "is_group")
    }
    guard case .array(let participants)? = line.object["participants"] else {
      throw DMError(.badField, "'participants' is missing or no array", subject: "participants")
    }
    // Version 0.1 of dm printed the member under the second name.
    let activity = try ["last_activity_at", "last_activity"].first { try line.text($0) != nil }
    try self.init(
      id: id, isGroup: isGroup, title: line.text("title"), creator: line.text("creator").map { try Handle($0) },
      participants: participants.map { value in
        guard case .string(let text) = value else {
          throw DMError(.badField, "a participant is \(value.kind); write a handle", subject: "participants")
        }
        return try Handle(text)
      }, lastActivity: activity.map(line.time))
  }
}
