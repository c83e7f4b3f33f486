internal import DMJSON
internal import DMKit
internal import DMMedia

// The tools that look up a file, people and receipts.

extension AgentTool {
  /// The maximum sizes of a file and of a text that a result has, in bytes, and of an image, in pixels.
  private static let limits = (file: 1 << 20, text: 64 << 10, image: 64_000_000)

  static let getAttachment = AgentTool(
    answering: .getAttachment,
    "Returns an attachment of a message: the small image of a picture or video, the text of a text file, or with whole "
      + "the file itself.", .nothing,
    answer: { arguments, scope in
      let attachments = try scope.messenger.attachments(of: arguments.requiredMessage("message"))
      let number = arguments.count("number") ?? 1
      guard number <= attachments.count else {
        throw DMError(.unknownAttachment, "the message has only \(attachments.count) attachments", subject: "number")
      }
      return try answer(attachments[number - 1], isWhole: arguments.flag("whole"), scope.messenger)
    })

  private static func answer(_ attachment: Attachment, isWhole: Bool, _ messenger: Messenger) throws -> Answer {
    func content(_ part: AttachmentPart) throws -> [UInt8] {
      var bytes: [UInt8] = []
      try messenger.read(part, of: attachment) { bytes.append(contentsOf: $0) }
      return bytes
    }
    // An image that a host cannot decode would end the conversation with its model.
    func file(_ part: AttachmentPart, _ bytes: [UInt8]) -> Answer? {
      let image = MediaFormat.ofShowable(bytes, pixels: limits.image)
      guard isWhole || image != nil else { return nil }
      let file = File(
        uri: "dm://attachment/\(attachment.id)", mimeType: image?.rawValue ?? attachment.mimeType, bytes: bytes,
        isImage: image != nil)
      return Answer(members: attachment.members(shows: part == .thumbnail ? "thumbnail" : "file"), file: file)
    }
    if !isWhole, attachment.thumbnail != nil, let answer = try file(.thumbnail, content(.thumbnail)) { return answer }
    if attachment.sizeBytes <= limits.file {
      let bytes = try content(.content)
      if let answer = file(.content, bytes) { return answer }
      if bytes.count <= limits.text, let text = String(validating: bytes, as: UTF8.self) {
        return Answer(members: attachment.members(shows: "text", text))
      }
    }
    guard !isWhole else {
      throw DMError(
        .badAttachment, "'\(attachment.name)' is over \(limits.file >> 20) MiB; ask the owner to fetch it",
        subject: attachment.name)
    }
    return Answer(members: attachment.members(shows: nil))
  }

  static let findPeople = AgentTool(
    .findPeople, "Returns users: their handles, by which you can write to them, and their names.",
    .nothing
  ) { arguments, scope in
    let wanted = arguments.text("match")?.lowercased() ?? ""
    let limit = arguments.count("limit") ?? 50
    var found: [User] = []
    try scope.eachUser(of: arguments.conversation()) { user in
      let names = [user.handle.description, user.displayName ?? ""]
      if wanted.isEmpty || names.contains(where: { $0.lowercased().contains(text: wanted) }) { found.append(user) }
      return found.count <= limit
    }
    return { json in
      let count = json.list("people", fitting: Array(found.prefix(limit))) { user, json in
        json.object { json in
          json.member("handle", user.handle.description)
          json.member("name", user.displayName)
          json.member("bio", user.bio.map { Outgoing.cut($0, to: 200) })
        }
      }
      if found.count > count { json.member("has_more", true) }
    }
  }

  static let receipts = AgentTool(
    .receipts, "Returns who has got and who has read a message, and when.",
    .nothing
  ) { arguments, scope in
    let receipts = try scope.messenger.receipts(for: [.message(arguments.requiredMessage("message"))])
    return { json in
      json.list("receipts", receipts) { receipt, json in
        json.object { json in
          json.member("user", receipt.user.description)
          json.member("status", receipt.kind == .read ? "read" : "delivered")
          json.member("time", receipt.at?.inSeconds)
        }
      }
    }
  }
}

extension Scope {
  /// Calls `body` with each user of the store, or with each participant of a conversation or of those of the agent, until
  /// it returns false.
  func eachUser(of conversation: ConversationReference?, _ body: (User) throws -> Bool) throws {
    if let participants = try conversation.map({ try [messenger.conversation($0)] }) ?? existing() {
      var seen: Set<Handle> = []
      for handle in participants.flatMap(\.participants) where seen.insert(handle).inserted {
        guard try body(messenger.user(handle)) else { return }
      }
      return
    }
    var last: Handle?
    while case let users = try messenger.users(after: last, limit: 500), !users.isEmpty {
      for user in users { guard try body(user) else { return } }
      last = users.last?.handle
    }
  }
}

extension Attachment {
  /// The members of a result: the attachment, what of it the result has, and its text.
  fileprivate func members(shows part: String?, _ text: String? = nil) -> AgentTool.Result {
    { json in
      json.key("attachment")
      writeShort(to: &json)
      json.member("width", width)
      json.member("height", height)
      json.member("shows", part)
      guard let text else { return }
      let shown = Budget.cut(text, to: Budget.answer)
      json.member("text", shown)
      if shown.utf8.count < text.utf8.count { json.member("cut_from_bytes", text.utf8.count) }
    }
  }
}
