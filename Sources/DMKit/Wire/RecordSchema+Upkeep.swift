// The records of dm-doctor(1).

extension RecordSchema {
  static let upkeep = [finding, backup, dump, row, content, dumpEnd, restore, purge, repair, statistics, report]

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
}
