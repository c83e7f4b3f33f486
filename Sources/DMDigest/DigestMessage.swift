internal import DMJSON
internal import DMKit
package import DMModel

/// A message as a digest reads it: from a store, or from a printed line.
package struct DigestMessage: Sendable {
  /// The reference that every program accepts: `+ops:57`.
  package let reference: String
  package let id: Identifier
  /// The reference of the conversation: `+ops`; its id for a line of a message that has no number yet.
  package let conversation: String
  package let conversationID: Identifier
  let isGroup: Bool
  package let sender: String
  package let text: String
  package let time: Timestamp
  /// The message that this message answers.
  let replyTo: Identifier?
  let mentions: [String]
  /// How many users reacted.
  let reactions: Int
  /// Whether the user who sees the message is the sender.
  package let isMine: Bool

  /// The sender, without a check, because a line can have any text as its sender.
  var handle: Handle { Handle(typed: sender) }

  /// Makes a message from one of a store; nil for a message that has no text.
  package init?(_ message: Message) {
    guard let text = message.text, !text.isEmpty, message.deletedAt == nil else { return nil }
    reference = message.reference
    id = message.id
    conversation = message.conversation.reference
    isGroup = message.conversation.isGroup
    conversationID = message.conversationID
    sender = message.sender.description
    self.text = text
    time = message.createdAt
    replyTo = message.replyTo?.id
    mentions = message.mentions.map(\.description)
    reactions = message.reactions.reduce(0) { $0 + $1.users.count }
    isMine = message.isMine
  }

  /// Reads a line that a program of the suite has printed; nil for a record that is no message, or has no text.
  ///
  /// - Throws: `malformed_line`, `invalid_utf8`; `missing_field` for a message without `id`, `ref`,
  ///   `conversation_id`, `sender` or `created_at`.
  package init?(line: ArraySlice<UInt8>) throws {
    let line = try JSONReader.object(line)
    guard line.text("type") == "message", let text = line.text("text"), !text.isEmpty else { return nil }
    func required<T>(_ name: String, _ make: (String) -> T?) throws -> T {
      guard let value = line.text(name).flatMap(make) else {
        throw DMError(.missingField, "'\(name)' is missing; pass on whole message lines", subject: name)
      }
      return value
    }
    reference = try required("ref") { $0 }
    id = try required("id", Identifier.init)
    conversationID = try required("conversation_id", Identifier.init)
    conversation = line.integer("seq") == nil ? conversationID.description : reference.withoutNumber
    isGroup = line.flag("is_group") ?? true
    sender = try required("sender") { $0 }
    self.text = text
    time = try required("created_at", Timestamp.init(rfc3339:))
    replyTo = line.object("reply_to")?.text("id").flatMap(Identifier.init)
    mentions = line.texts("mentions")
    reactions = Self.count(line["reactions"])
    isMine = line.flag("is_mine") ?? false
  }
}

extension DigestMessage {
  /// How many users reacted: `reactions` has an object for each emoji, with a list of them.
  private static func count(_ reactions: JSONValue?) -> Int {
    guard case .array(let reactions) = reactions else { return 0 }
    return reactions.reduce(0) { sum, reaction in
      guard case .object(let reaction) = reaction, case .array(let users) = reaction["users"] else { return sum }
      return sum + users.count
    }
  }
}

extension DigestPoint {
  /// - Parameter messages: the messages on which the point rests, at least one.
  init(
    _ kind: Kind, _ text: String, who: String?, until: String? = nil, reason: Reason? = nil,
    on messages: [DigestMessage]
  ) {
    self.init(
      kind, text, who: who, until: until, reason: reason, references: messages.map(\.reference),
      conversation: messages[0].conversation, time: messages[0].time)
  }
}

extension JSONObject {
  fileprivate func object(_ name: String) -> JSONObject? {
    if case .object(let object)? = self[name] { object } else { nil }
  }

  fileprivate func texts(_ name: String) -> [String] {
    guard case .array(let values)? = self[name] else { return [] }
    return values.compactMap { if case .string(let text) = $0 { text } else { nil } }
  }
}

extension String {
  /// A reference to a message without the number: `+ops:57` becomes `+ops`.
  fileprivate var withoutNumber: String {
    utf8.lastIndex(of: UInt8(ascii: ":")).map { String(self[..<$0]) } ?? self
  }
}
