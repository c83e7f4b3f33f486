package import DMJSON
internal import DMModel
internal import DMStore

// The schemas of the tools that the server for agents offers.

extension RecordSchema {
  /// A tool for agents, with the fields of its arguments.
  package struct Tool: Sendable {
    package let name: String
    package let arguments: [Field]

    /// Writes the schema of the arguments.
    ///
    /// Models read the schemas of all tools before anything else, so their texts are short.
    package func writeArguments(to json: inout JSONWriter) {
      json.object { RecordSchema.write(arguments, isInput: true, to: &$0) }
    }

    package static let listConversations = RecordSchema.Tool(
      name: "list_conversations",
      arguments: [
        Field("unread_only", .boolean, optional: true, note: "Only with unread messages."),
        Field("include_archived", .boolean, optional: true, note: "Archived ones, too."),
        Field("match", .string, optional: true, note: "Text in a name or a participant."),
        limit(50),
        Field("after", .string, optional: true, note: "The next of the previous page."),
      ])

    package static let readHistory = RecordSchema.Tool(
      name: "read_history",
      arguments: [
        Field("conversation", .string, optional: true, note: conversationNote + " All if left out."),
        Field("before", .string, optional: true, note: "Before this message or time:" + boundNote),
        Field("since", .string, optional: true, note: "From this message or time on:" + boundNote),
        Field("unread_only", .boolean, optional: true, note: "Only unread messages."),
        Field("around", .string, optional: true, note: "Messages before and after this one: " + messageNote),
        limit(30),
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
        Field("conversations", .list(.string), optional: true, note: "Only in these: " + conversationNote),
        Field("from", .handle, optional: true, note: "Only messages from this user."),
        Field("since", .string, optional: true, note: "From this message or time on:" + boundNote),
        Field("before", .string, optional: true, note: "Before this message or time:" + boundNote),
        Field(
          "has", .list(.words(SearchRequest.Content.allCases.map(\.rawValue))), optional: true,
          note: "Only messages with all of these."),
        Field("newest_first", .boolean, optional: true, note: "Sort by time instead of by relevance."),
        limit(20),
      ])

    package static let digest = RecordSchema.Tool(
      name: "digest",
      arguments: [
        Field("conversation", .string, optional: true, note: conversationNote + " All if left out."),
        Field("before", .string, optional: true, note: "Before this message or time:" + boundNote),
        Field("since", .string, optional: true, note: "From this message or time on:" + boundNote),
        Field("unread_only", .boolean, optional: true, note: "Only unread messages."),
        Field(
          "kinds", .list(.words(DigestPoint.Kind.allCases.map(\.rawValue))), optional: true,
          note: "All if left out."),
        Field("summary_points", .count(0...100), optional: true, note: "For each conversation; 5 if left out."),
        Field("limit", .count(1...10_000), optional: true, note: "How many messages are read; 1000 if left out."),
      ])

    package static let send = RecordSchema.Tool(name: "send", arguments: sent)
    package static let sendWithFiles = RecordSchema.Tool(
      name: "send",
      arguments: sent + [
        Field("file", .string, optional: true, note: "In the owner's folder.")
      ])

    private static let sent = [
      Field("conversation", .string, note: conversationNote + " A direct conversation begins with its first message."),
      Field("text", .string, note: "Up to 64 KiB."),
      Field(
        "nonce", .string,
        note:
          "A new name for each message, 1 to 128 bytes. A call that repeats it sends nothing again, and returns "
          + "\"duplicate\":true."),
      Field("reply_to", .string, optional: true, note: "The answered message: " + messageNote),
      Field("expires_in", .string, optional: true, note: "10m, 1h or 7d."),
    ]

    package static let editMessage = RecordSchema.Tool(
      name: "edit_message",
      arguments: [
        Field("message", .string, note: messageNote), Field("text", .string, note: "The new text, at most 64 KiB."),
      ])

    package static let deleteMessage = RecordSchema.Tool(
      name: "delete_message",
      arguments: [
        Field("message", .string, note: messageNote),
        Field("for_everyone", .boolean, optional: true, note: "Only for messages that you have sent."),
      ])

    package static let getAttachment = RecordSchema.Tool(
      name: "get_attachment",
      arguments: [
        Field("message", .string, note: messageNote),
        Field("number", .count(1...32), optional: true, note: "Which of its attachments; 1 if left out."),
        Field("whole", .boolean, optional: true, note: "Return the whole file, at most 1 MiB."),
      ])

    package static let findPeople = RecordSchema.Tool(
      name: "find_people",
      arguments: [
        Field("match", .string, optional: true, note: "Text in a handle or name."),
        Field("conversation", .string, optional: true, note: "Only its participants."),
        limit(50),
      ])

    package static let receipts = RecordSchema.Tool(
      name: "receipts", arguments: [Field("message", .string, note: messageNote)])

    package static let react = RecordSchema.Tool(
      name: "react",
      arguments: [
        Field("message", .string, note: messageNote),
        Field("emoji", .string, note: "One emoji; empty to remove your reaction."),
      ])

    package static let markRead = RecordSchema.Tool(
      name: "mark_read",
      arguments: [
        Field("conversation", .string, note: conversationNote),
        Field("up_to", .string, note: "The last message that you have read: " + messageNote),
      ])

    package static let waitForMessage = RecordSchema.Tool(
      name: "wait_for_message",
      arguments: [
        Field(
          "cursor", .string, optional: true,
          note:
            "The cursor of your last wait_for_message or read_history; from now on if left out."),
        Field("conversations", .list(.string), optional: true, note: "Only in these: " + conversationNote),
        Field("timeout_seconds", .count(0...3600), optional: true, note: "30 if left out."),
      ])

    /// The parameters of `resources/read`.
    package static let resource = [Field("uri", .string)]

    private static let conversationNote = "bob, +TITLE or an id."
    private static let messageNote = "bob:57 or an id."
    private static let boundNote = " bob:57, 2026-11-21, 14:30, 7d, yesterday (UTC)."

    private static func limit(_ standard: Int) -> Field {
      Field("limit", .count(1...200), optional: true, note: "\(standard) if left out.")
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
      Field("conversation_id", .uuid), Field("user", .handle, optional: true), Field("name", .string),
      Field("is_group", .boolean), Field("format", .words(["html", "markdown", "mbox", "json"])),
      Field("path", .string),
      Field("last_path", .string, optional: true), Field("message_count", .integer),
      Field("attachments_count", .integer), Field("missing_count", .integer), Field("written_count", .integer),
      Field("first_at", .time, optional: true), Field("last_at", .time, optional: true),
      Field("is_partial", .boolean),
    ])
}
