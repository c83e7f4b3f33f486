package import DMJSON
internal import DMModel
internal import DMStore

// The schemas of the tools that the server for agents offers.

extension RecordSchema {
  /// A tool for agents: the fields of its arguments and of its result.
  package struct Tool: Sendable {
    package let name: String
    package let arguments: [Field]
    let result: [Field]

    /// Writes the schema of the arguments.
    ///
    /// The schema allows no other arguments.
    package func writeArguments(to json: inout JSONWriter) {
      json.object { json in
        RecordSchema.write(arguments, isInput: true, to: &json)
        json.member("additionalProperties", false)
      }
    }

    /// Writes the schema of the result.
    ///
    /// Its `$defs` contains the schemas of the records that the result refers to.
    package func writeResult(to json: inout JSONWriter) {
      json.object { json in
        RecordSchema.write(result, isInput: false, to: &json)
        json.key("$defs")
        json.object { json in
          for name in RecordSchema.withContained(result.compactMap(\.record)) {
            RecordSchema.named(name)?.write(to: &json)
          }
        }
      }
    }

    package static let listConversations = RecordSchema.Tool(
      name: "list_conversations",
      arguments: [
        Field("unread_only", .boolean, optional: true, note: "Only conversations with unread messages."),
        Field("include_archived", .boolean, optional: true, note: "Include archived conversations."),
        Field(
          "match", .string, optional: true,
          note: "Only conversations with this text in their name or their participants."),
        limit(50, of: "conversations"),
        Field("after", .string, optional: true, note: "The page_cursor of the last conversation on the previous page."),
      ], result: [Field("conversations", .list(.record("conversation")))])

    package static let readHistory = RecordSchema.Tool(
      name: "read_history",
      arguments: [
        Field("conversation", .string, optional: true, note: conversationNote + " All your conversations if left out."),
        Field("before", .string, optional: true, note: "Only messages before this message or time. " + boundNote),
        Field(
          "since", .string, optional: true,
          note: "Only this message and later ones, or only messages since this time. " + boundNote),
        Field("unread_only", .boolean, optional: true, note: "Only unread messages."),
        limit(30, of: "messages: the newest that match, returned oldest first"),
      ],
      result: [
        messages,
        Field("cursor", .string, optional: true, note: "For wait_for_message, to get the messages after these."),
      ])

    package static let search = RecordSchema.Tool(
      name: "search",
      arguments: [
        Field(
          "query", .string, optional: true,
          note:
            "Words, \"a phrase\", begin*, AND, OR, NOT and parentheses. Without a query, give conversations, from, "
            + "since, before or has."
        ),
        Field(
          "conversations", .list(.string), optional: true,
          note: "Only messages in these conversations. " + conversationNote),
        Field("from", .handle, optional: true, note: "Only messages from this user."),
        Field(
          "since", .string, optional: true,
          note: "Only this message and later ones, or only messages since this time. " + boundNote),
        Field("before", .string, optional: true, note: "Only messages before this message or time. " + boundNote),
        Field(
          "has", .list(.words(SearchRequest.Content.allCases.map(\.rawValue))), optional: true,
          note: "Only messages with all of these."),
        Field("newest_first", .boolean, optional: true, note: "Sort by time instead of by relevance."),
        limit(20, of: "messages"),
      ], result: [messages])

    package static let digest = RecordSchema.Tool(
      name: "digest",
      arguments: [
        Field("conversation", .string, optional: true, note: conversationNote + " All your conversations if left out."),
        Field("before", .string, optional: true, note: "Read only messages before this message or time. " + boundNote),
        Field(
          "since", .string, optional: true,
          note: "Read this message and later ones, or messages since this time. " + boundNote),
        Field(
          "unread_only", .boolean, optional: true,
          note: "Read only unread messages; always so if neither since nor before is given."),
        Field(
          "kinds", .list(.words(DigestPoint.Kind.allCases.map(\.rawValue))), optional: true,
          note: "Only points of these kinds; all kinds if left out."),
        Field(
          "summary_points", .count(0...100), optional: true,
          note: "The maximum number of summary points for each conversation; 5 if left out."),
        Field(
          "limit", .count(1...10_000), optional: true,
          note: "The maximum number of messages to read: the newest that match; 1000 if left out."),
      ],
      result: [
        Field("points", .list(.record("digest"))),
        Field("message_count", .integer, note: "How many messages with a text were read."),
      ])

    package static let send = RecordSchema.Tool(
      name: "send",
      arguments: [
        Field(
          "conversation", .string, note: conversationNote + " A direct conversation begins with its first message."),
        Field("text", .string, note: "At most 64 KiB."),
        Field(
          "nonce", .string,
          note:
            "A name for this message, 1 to 128 bytes, new for each message. Repeating a call with the same nonce and "
            + "text sends nothing again, and returns the message with \"duplicate\":true."),
        Field("reply_to", .string, optional: true, note: "The message that the new message answers. " + messageNote),
        Field(
          "expires_in", .string, optional: true,
          note: "The time after which the message expires, such as 10m, 1h or 7d."),
      ], result: [Field("message", .record("message"))])

    package static let react = RecordSchema.Tool(
      name: "react",
      arguments: [
        Field("message", .string, note: messageNote),
        Field(
          "emoji", .string, note: "One emoji, which replaces your earlier reaction; empty to remove your reaction."),
      ], result: [Field("reaction", .record("reaction"))])

    package static let markRead = RecordSchema.Tool(
      name: "mark_read",
      arguments: [
        Field("conversation", .string, note: conversationNote),
        Field(
          "up_to", .string, note: "The last message that you have read; earlier ones are marked too. " + messageNote),
      ], result: [Field("marked", .record("marked"), optional: true)])

    package static let waitForMessage = RecordSchema.Tool(
      name: "wait_for_message",
      arguments: [
        Field(
          "cursor", .string, optional: true,
          note:
            "The cursor of your last wait_for_message or read_history: returns messages after it. If left out, returns "
            + "messages from now on."),
        Field(
          "conversations", .list(.string), optional: true,
          note: "Only messages in these conversations. " + conversationNote),
        Field(
          "timeout_seconds", .count(0...3600), optional: true,
          note: "How many seconds to wait if there is no message yet; 30 if left out."),
      ],
      result: [
        messages, Field("cursor", .string, note: "The cursor for the next call of wait_for_message."),
        Field(
          "has_gap", .boolean, optional: true,
          note: "If true, messages may be missing, because the cursor is too old: call read_history."),
      ])

    private static let conversationNote = "A handle such as bob, a group as +TITLE, or the id of a conversation."
    private static let messageNote = "The id of a message, or its ref such as bob:57."
    private static let boundNote =
      "A ref such as bob:57, an id, or a time: 2026-11-21, 14:30, 2h or 7d (before now), yesterday, 2026-11-21T14:30:00Z."
    private static let messages = Field("messages", .list(.record("message")))

    private static func limit(_ standard: Int, of what: String) -> Field {
      Field("limit", .count(1...200), optional: true, note: "The maximum number of \(what); \(standard) if left out.")
    }
  }
}

extension RecordSchema.Field {
  /// The name of the record that is the value of the field, or an element of its list; nil if it is not a record.
  fileprivate var record: String? {
    switch kind {
    case .record(let name), .list(.record(let name)): name
    default: nil
    }
  }
}

// The records of dm-doctor(1) and dm-export(1).

extension RecordSchema {
  static let upkeep = [
    finding, backup, dump, row, content, dumpEnd, restore, purge, repair, statistics, report, exported,
  ]

  private static let lastUsedAt = Field("last_used_at", .time, optional: true)

  static let finding = RecordSchema(
    "finding",
    [
      Field("check", .words(Finding.Check.allCases.map(\.rawValue))), Field("subject", .string, optional: true),
      Field("message", .string),
    ])

  static let backup = RecordSchema(
    "backup",
    [
      Field("path", .string), Field("store_id", .uuid), Field("size_bytes", .integer), Field("message_count", .integer),
      Field("created_at", .time), lastUsedAt,
    ])

  static let dump = RecordSchema(
    "dump", [Field("schema", .integer), Field("store_id", .uuid), Field("created_at", .time), lastUsedAt])

  static let row = RecordSchema("row", [Field("table", .string), Field("values", .named)])

  static let content = RecordSchema(
    "content", [Field("sha256", .string), Field("number", .integer), Field("bytes", .string)])

  static let dumpEnd = RecordSchema("dump_end", [Field("rows", .integer), Field("contents", .integer)])

  static let restore = RecordSchema(
    "restore",
    [
      Field("store_id", .uuid), Field("message_count", .integer), Field("fault_count", .integer),
      Field("restored_at", .time),
    ])

  static let purge = RecordSchema(
    "purge",
    [
      Field("expired_count", .integer), Field("changes_count", .integer), Field("attachments_count", .integer),
      Field("contents_count", .integer), Field("copies_count", .integer), Field("freed_bytes", .integer),
      Field("is_complete", .boolean), lastUsedAt,
    ])

  static let repair = RecordSchema(
    "repair",
    [
      Field("indexed_count", .integer), Field("conversations_count", .integer), Field("participants_count", .integer),
      Field("messages_count", .integer), Field("lost_changes_count", .integer), lastUsedAt,
    ])

  static let statistics = RecordSchema(
    "statistics",
    [
      Field("store_id", .uuid), Field("schema", .integer), Field("sqlite_version", .string),
      Field("has_wal_reset_bug", .boolean), Field("database_bytes", .integer), Field("log_bytes", .integer),
      Field("free_bytes", .integer), Field("contents_count", .integer), Field("contents_bytes", .integer),
      Field(
        "copies",
        .list(
          .members([
            Field("path", .string), Field("created_at", .time), Field("size_bytes", .integer),
            Field("missing_count", .integer), Field("senders", .list(.handle)),
          ]))),
      Field("rows", .named), Field("oldest_change_at", .time, optional: true),
      Field(
        "consumers",
        .list(
          .members([
            Field("user", .handle), Field("name", .string), Field("behind_count", .integer), Field("used_at", .time),
            Field("warning", .words(Consumer.Warning.allCases.map(\.rawValue)), optional: true),
          ]))),
      Field("upkeep", .list(.members([Field("tool", .string), Field("used_at", .time)]))),
    ])

  static let report = RecordSchema(
    "report",
    [
      Field("message_id", .uuid), Field("conversation_id", .uuid), Field("seq", .integer), Field("sender", .handle),
      Field("user", .handle), Field("reason", .string, optional: true), Field("text", .string, optional: true),
      Field("reported_at", .time),
    ])

  static let exported = RecordSchema(
    "exported",
    [
      Field("conversation_id", .uuid), Field("name", .string), Field("is_group", .boolean),
      Field("format", .words(["html", "markdown", "mbox", "json"])), Field("path", .string),
      Field("last_path", .string, optional: true), Field("message_count", .integer),
      Field("attachments_count", .integer), Field("missing_count", .integer), Field("written_count", .integer),
      Field("first_at", .time, optional: true), Field("last_at", .time, optional: true),
      Field("is_partial", .boolean),
    ])
}
