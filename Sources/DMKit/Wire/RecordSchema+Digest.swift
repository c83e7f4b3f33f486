extension RecordSchema {
  static let digest = RecordSchema(
    "digest",
    [
      Field("kind", .words(["priority", "action_item", "decision", "question", "summary"])),
      Field("conversation", .string), Field("text", .string), Field("who", .string, optional: true),
      Field("until", .string, optional: true),
      Field("reason", .words(["asks", "requests", "urgent", "trouble", "answers"]), optional: true),
      Field("refs", .list(.string)), Field("created_at", .time), Field("source", .words(["cues", "model"])),
    ])

  static let translation = RecordSchema(
    "translation",
    [
      Field("id", .uuid), Field("ref", .string), Field("sender", .string), Field("text", .string),
      Field("language", .string), Field("created_at", .time),
    ])
}
