internal import DMModel
internal import DMStore

extension RecordSchema {
  /// The records that dm-sync and dm-hub print.
  package static let hubRecords = [
    hub, outbox, transfer, invitation, login, machine, kept, hubServer, hubLimit, hubErasure, hubFinding,
  ]

  static let hubLimit = RecordSchema(
    "hub_limit",
    [
      Field("act", .words(Outbox.Act.allCases.map(\.word)), optional: true),
      Field("per_minute", .integer, optional: true),
      Field("bytes_per_hour", .integer, optional: true), Field("file_bytes_per_hour", .integer, optional: true),
      Field("bytes_per_person", .integer, optional: true),
    ])

  static let hubErasure = RecordSchema(
    "hub_erasure", [Field("handle", .handle), Field("message_count", .integer), Field("group_count", .integer)])

  static let transfer = RecordSchema(
    "transfer",
    [
      Field("direction", .words(Transfer.Direction.allCases.map(\.rawValue))),
      Field("state", .words(Transfer.State.allCases.map(\.rawValue))), Field("name", .string, optional: true),
      Field("sha256", .string), Field("size_bytes", .integer), Field("done_bytes", .integer),
      Field("next_attempt_at", .time, optional: true), Field("fault", .string, optional: true),
    ])

  static let hub = RecordSchema(
    "hub",
    [
      Field("state", .words(HubStatus.State.allCases.map(\.rawValue))),
      Field("color", .words(HubStatus.Color.allCases.map(\.rawValue))), Field("user", .handle),
      Field("network", .words(HubNetwork.allCases.map(\.word))), Field("is_running", .boolean),
      Field("queued_count", .integer), Field("failed_count", .integer),
      Field("oldest_queued_at", .time, optional: true), Field("attempts", .integer),
      Field("last_sync_at", .time, optional: true), Field("next_attempt_at", .time, optional: true),
      Field("retry_at", .time, optional: true), Field("clock_offset", .integer, optional: true),
      Field("fault", .string, optional: true),
      Field("set_aside", .list(.members(setAside)), optional: true),
    ])

  private static let setAside = [
    Field("conversation_id", .uuid), Field("conversation", .string, optional: true), Field("code", .string),
  ]

  static let outbox = RecordSchema(
    "outbox",
    [
      Field("id", .integer), Field("act", .words(Outbox.Act.allCases.map(\.word))),
      Field("state", .words(OutboxItem.State.allCases.map(\.rawValue))),
      Field("conversation_id", .uuid, optional: true), Field("conversation", .string, optional: true),
      Field("message_id", .uuid, optional: true), Field("text", .string, optional: true), Field("created_at", .time),
      Field("attempts", .integer), Field("next_attempt_at", .time, optional: true),
      Field("failure", .string, optional: true),
    ])

  static let invitation = RecordSchema(
    "invitation", [Field("handle", .handle), Field("login", .string), Field("token", .string)])

  static let login = RecordSchema(
    "login",
    [
      Field("handle", .handle), Field("login", .string, optional: true), Field("label", .string, optional: true),
      Field("invited_until", .time, optional: true), Field("joined_at", .time, optional: true),
      Field("seen_at", .time, optional: true), Field("is_disabled", .boolean),
    ])

  static let machine = RecordSchema(
    "machine",
    [
      Field("id", .uuid), Field("label", .string, optional: true), Field("is_this", .boolean),
      Field("is_connected", .boolean), Field("joined_at", .time), Field("seen_at", .time, optional: true),
    ])

  static let kept = RecordSchema(
    "kept",
    [
      Field("content_count", .integer), Field("content_bytes", .integer),
      Field("content_limit_bytes", .integer, optional: true), Field("message_count", .integer),
      Field("message_limit", .integer, optional: true), Field("message_age_seconds", .integer, optional: true),
    ])

  static let hubServer = RecordSchema(
    "hub_server",
    [
      Field("version", .integer), Field("server_version", .integer), Field("moved_to", .string, optional: true),
      Field("person_count", .integer), Field("login_count", .integer), Field("seen_login_count", .integer),
      Field("connection_count", .integer), Field("connection_limit", .integer),
      Field("conversation_count", .integer), Field("entry_count", .integer), Field("size_bytes", .integer),
      Field("report_count", .integer), Field("oldest_write_seconds", .integer, optional: true),
      Field("prepared_transaction_count", .integer), Field("notification_queue_percent", .integer),
      Field("standby_count", .integer), Field("standby_lag_seconds", .integer, optional: true),
      Field("problems", .list(.string)),
    ])

  static let hubFinding = RecordSchema("hub_finding", [Field("is_note", .boolean), Field("message", .string)])
}
