/// The members of a record.
///
/// `--schema` prints them, and the tests compare them with dm-protocol(5) and with each printed line.
package struct RecordSchema: Sendable {
  package indirect enum Kind: Sendable {
    case string
    case integer
    /// An integer within these bounds.
    case count(ClosedRange<Int>)
    case number
    case boolean
    case time
    case uuid
    case handle
    case constant(String)
    case words([String])
    case list(Kind)
    /// An object with arbitrary member names, such as ids. The values are of this kind.
    case map(Kind)
    case record(String)
    case anyOf([Kind])
    /// An object with exactly these members.
    case members([Field])
    /// An object with these members and possibly others.
    case having([Field])
    /// An object with arbitrary member names and values.
    case named
  }

  package struct Field: Sendable {
    package let name: String
    package let kind: Kind
    package let isOptional: Bool
    /// The meaning of the field, for a reader that has only the schema.
    let note: String?

    init(_ name: String, _ kind: Kind, optional: Bool = false, note: String? = nil) {
      self.name = name
      self.kind = kind
      isOptional = optional
      self.note = note
    }
  }

  package let name: String
  package let fields: [Field]

  /// Whether the record is an input line.
  ///
  /// Unknown members of an input line are ignored.
  package let isInput: Bool

  /// The members of which at least one must be present; empty if there is no such rule.
  let needsOneOf: [String]

  init(_ name: String, _ fields: [Field], isInput: Bool = false, needsOneOf: [String] = []) {
    self.name = name
    self.isInput = isInput
    self.needsOneOf = needsOneOf
    self.fields = isInput ? fields : [Field("type", .constant(name))] + fields
  }

  package static let outputs =
    [
      user, conversation, message, attachment, messageDeleted, reaction, messagePin, readReceipt, deliveryReceipt,
      marked, messageUpdated, messageStatus,
      conversationUpdated, typing, presence,
      caughtUp, heartbeat, gap, ack, consumer, digest, translation, answer, error,
    ] + upkeep + hubRecords + [usage, usageDay, SettingRecord.schema]
  package static let inputs = [sendLine, editLine, importLine, readLine]

  package static func named(_ name: String) -> RecordSchema? { (outputs + inputs).first { $0.name == name } }

  static let user = RecordSchema(
    "user",
    [
      Field("handle", .handle), Field("display_name", .string, optional: true), Field("bio", .string, optional: true),
      Field("avatar_url", .string, optional: true), Field("shows_presence", .boolean),
      Field("sends_read_receipts", .boolean), Field("created_at", .time),
    ])

  static let conversation = RecordSchema(
    "conversation",
    [
      Field("id", .uuid), Field("name", .string), Field("is_group", .boolean), Field("title", .string, optional: true),
      Field("own_name", .string, optional: true),
      Field("avatar_url", .string, optional: true), Field("creator", .handle, optional: true),
      Field("owners", .list(.handle), optional: true),
      Field("my_role", .words(Conversation.Role.allCases.map(\.rawValue)), optional: true),
      Field("participants", .list(.handle)),
      Field("last_message", .record("message"), optional: true), Field("last_activity_at", .time),
      Field("unread_count", .integer), Field("unread_mentions_count", .integer),
      Field("last_read_seq", .integer, optional: true), Field("first_unread_seq", .integer, optional: true),
      Field("is_pinned", .boolean), Field("is_muted", .boolean), Field("muted_until", .time, optional: true),
      Field("is_archived", .boolean), Field("expire_after", .integer, optional: true),
      Field("draft_text", .string, optional: true),
      Field("page_cursor", .string, optional: true),
    ])

  static let message = RecordSchema(
    "message",
    [
      Field("id", .uuid), Field("ref", .string), Field("conversation_id", .uuid),
      Field("conversation_title", .string, optional: true), Field("is_group", .boolean),
      Field("seq", .integer, optional: true), Field("sender", .handle), Field("sender_name", .string, optional: true),
      Field("is_mine", .boolean), Field("text", .string, optional: true), Field("created_at", .time),
      Field("status", .words(Message.Status.allCases.map(\.rawValue))), Field("is_unread", .boolean),
      Field("read_by_count", .integer), Field("read_by", .list(.handle), optional: true),
      Field(
        "reply_to",
        .members([
          Field("id", .uuid), Field("seq", .integer, optional: true), Field("sender", .handle, optional: true),
          Field("text", .string, optional: true),
        ]), optional: true),
      Field("forwarded_from", .handle, optional: true),
      Field("nonce", .string, optional: true), Field("attachments", .list(.record("attachment")), optional: true),
      Field("link_preview", .members(linkPreview), optional: true), Field("mentions", .list(.handle), optional: true),
      Field(
        "reactions", .list(.members([Field("emoji", .string), Field("users", .list(.handle))])), optional: true),
      Field("pinned_at", .time, optional: true), Field("pinned_by", .handle, optional: true),
      Field("edited_at", .time, optional: true),
      Field("expires_at", .time, optional: true), Field("deleted_at", .time, optional: true),
      Field("failure", .string, optional: true), Field("replaces", .uuid, optional: true),
      Field("system_kind", .words(Message.SystemKind.allCases.map(\.rawValue)), optional: true),
      Field("subject", .string, optional: true), Field("duplicate", .boolean, optional: true),
      Field("line", .integer, optional: true), Field("snippet", .string, optional: true),
      Field("likeness", .number, optional: true),
      Field("is_truncated", .boolean, optional: true),
      Field("cursor", .string, optional: true),
    ])

  private static let linkPreview = [
    Field("url", .string), Field("title", .string), Field("description", .string, optional: true),
    Field("site", .string, optional: true), Field("attachment_id", .uuid, optional: true),
  ]

  static let attachment = RecordSchema(
    "attachment",
    [
      Field("id", .uuid), Field("kind", .words(Attachment.Kind.allCases.map(\.rawValue))), Field("name", .string),
      Field("mime_type", .string), Field("size_bytes", .integer), Field("sha256", .string),
      Field("width", .integer, optional: true), Field("height", .integer, optional: true),
      Field("duration", .number, optional: true),
      Field(
        "thumbnail",
        .members([
          Field("sha256", .string), Field("mime_type", .string), Field("size_bytes", .integer),
          Field("width", .integer), Field("height", .integer),
        ]), optional: true),
      Field("waveform", .list(.integer), optional: true), Field("message_id", .uuid, optional: true),
      Field("conversation_id", .uuid, optional: true), Field("seq", .integer, optional: true),
      Field("sender", .handle, optional: true), Field("created_at", .time, optional: true),
      Field("path", .string, optional: true),
    ])

  static let messageDeleted = RecordSchema(
    "message_deleted",
    [
      Field("message_id", .uuid), Field("conversation_id", .uuid),
      Field("seq", .integer, optional: true), Field("for_everyone", .boolean),
      Field("cursor", .string, optional: true),
    ])

  static let reaction = RecordSchema(
    "reaction",
    [
      Field("message_id", .uuid), Field("conversation_id", .uuid), Field("seq", .integer), Field("user", .handle),
      Field("emoji", .string, optional: true), Field("reacted_at", .time), Field("cursor", .string, optional: true),
    ])

  static let messagePin = RecordSchema(
    "message_pin",
    [
      Field("message_id", .uuid), Field("conversation_id", .uuid), Field("seq", .integer), Field("user", .handle),
      Field("is_pinned", .boolean), Field("changed_at", .time), Field("cursor", .string, optional: true),
    ])

  static let readReceipt = RecordSchema("read_receipt", receiptFields(Field("read_at", .time)))
  static let deliveryReceipt = RecordSchema(
    "delivery_receipt", receiptFields(Field("delivered_at", .time, optional: true)))

  private static func receiptFields(_ time: Field) -> [Field] {
    [
      Field("conversation_id", .uuid), Field("conversation_title", .string, optional: true), Field("user", .handle),
      Field("ranges", .list(.list(.integer))), time, Field("cursor", .string, optional: true),
    ]
  }

  static let marked = RecordSchema(
    "marked",
    [
      Field("action", .words(Marked.Action.allCases.map(\.rawValue))), Field("is_dry_run", .boolean),
      Field("conversation_id", .uuid), Field("conversation_title", .string, optional: true),
      Field("ranges", .list(.list(.integer))), Field("marked_count", .integer), Field("unread_count", .integer),
      Field("marked_at", .time),
    ])

  // Events: the new state of a message or of a conversation, and the state of the stream.

  static let messageUpdated = RecordSchema(
    "message_updated",
    Array(message.fields.dropFirst().dropLast()) + [
      Field("changed", .list(.words(["text", "seq", "created_at", "status"]))),
      Field("cursor", .string, optional: true),
    ])

  static let messageStatus = RecordSchema(
    "message_status",
    [
      Field("conversation_id", .uuid), Field("conversation_title", .string, optional: true), Field("sender", .handle),
      Field("status", .words([Message.Status.delivered, .read].map(\.rawValue))),
      Field("ranges", .list(.list(.integer))), Field("user", .handle), Field("cursor", .string),
    ])
  static let conversationUpdated = RecordSchema(
    "conversation_updated",
    conversation.fields.dropFirst().dropLast() + [
      Field("replaces", .uuid, optional: true), Field("cursor", .string),
    ])

  static let typing = RecordSchema("typing", [Field("conversation_id", .uuid), Field("users", .list(.handle))])

  static let presence = RecordSchema(
    "presence", [Field("user", .handle), Field("is_online", .boolean), Field("last_seen_at", .time, optional: true)])

  static let caughtUp = RecordSchema("caught_up", [Field("cursor", .string)])
  static let heartbeat = RecordSchema("heartbeat", [Field("cursor", .string)])
  static let gap = RecordSchema("gap", [Field("from", .string), Field("to", .string), Field("cursor", .string)])
  static let ack = RecordSchema("ack", [Field("consumer", .string), Field("cursor", .string)])

  static let consumer = RecordSchema(
    "consumer",
    [
      Field("name", .string), Field("cursor", .string), Field("behind_count", .integer),
      Field("skipped_count", .integer), Field("used_at", .time),
    ])

  static let error = RecordSchema(
    "error",
    [
      Field("line", .integer, optional: true), Field("code", .words(DMError.Code.allCases.map(\.rawValue))),
      Field("retryable", .boolean), Field("subject", .string, optional: true),
      Field("nonce", .string, optional: true), Field("message", .string),
    ])

  static let sendLine = RecordSchema(
    "send_line",
    [
      Field("type", .string, optional: true), Field("conversation_id", .uuid, optional: true),
      Field("conversation", .string, optional: true),
      Field("text", .string, optional: true), Field("nonce", .string, optional: true),
      Field("reply_to", .anyOf([.string, .having([Field("id", .uuid)])]), optional: true),
      Field("attachments", .list(.anyOf([.uuid, .having([Field("id", .uuid)])])), optional: true),
      Field("link_preview", .having(linkPreview), optional: true),
      Field("expires_in", .anyOf([.string, .integer]), optional: true), Field("ack", .string, optional: true),
      Field("message_id", .uuid, optional: true), Field("react", .string, optional: true),
      Field("read", .boolean, optional: true),
    ], isInput: true, needsOneOf: ["conversation_id", "conversation", "ack", "message_id"])

  static let editLine = RecordSchema(
    "edit_line",
    [
      Field("type", .string, optional: true), Field("id", .uuid, optional: true),
      Field("conversation_id", .uuid, optional: true), Field("seq", .integer, optional: true),
      Field("text", .string, optional: true),
    ], isInput: true)

  static let importLine = RecordSchema(
    "import_line",
    [
      Field("type", .words(["message", "conversation", "user"]), optional: true), Field("id", .uuid, optional: true),
      Field("conversation", .string, optional: true), Field("conversation_id", .uuid, optional: true),
      Field("sender", .handle, optional: true), Field("text", .string, optional: true),
      Field("attachments", .list(.having([Field("path", .string, optional: true)])), optional: true),
      Field("created_at", .time, optional: true), Field("nonce", .string, optional: true),
      Field("reply_to", .anyOf([.uuid, .having([Field("id", .uuid)])]), optional: true),
      Field("reply_to_nonce", .string, optional: true), Field("link_preview", .having(linkPreview), optional: true),
      Field("system_kind", .words(Message.SystemKind.allCases.map(\.rawValue)), optional: true),
      Field("subject", .string, optional: true), Field("expires_at", .time, optional: true),
      Field("is_group", .boolean, optional: true), Field("title", .string, optional: true),
      Field("creator", .handle, optional: true), Field("participants", .list(.handle), optional: true),
      Field("last_activity_at", .time, optional: true), Field("last_activity", .time, optional: true),
      Field("handle", .handle, optional: true), Field("display_name", .string, optional: true),
      Field("bio", .string, optional: true), Field("avatar_url", .string, optional: true),
      Field("shows_presence", .boolean, optional: true), Field("sends_read_receipts", .boolean, optional: true),
      Field("is_known", .boolean, optional: true),
    ], isInput: true)

  static let readLine = RecordSchema(
    "read_line",
    [
      Field("type", .string, optional: true), Field("conversation_id", .uuid, optional: true),
      Field("seq", .integer, optional: true),
    ], isInput: true)
}
