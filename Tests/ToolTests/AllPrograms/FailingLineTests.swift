import Foundation
import JSONSupport
import Testing

/// Batches in which some lines fail: a failing line changes nothing, and the other lines are handled.
struct FailingLineTests {
  struct Batch: Sendable, CustomTestStringConvertible {
    let program: String
    var arguments: [String] = []
    /// Lines that fail, perhaps after the program has begun to write.
    let failing: [String]
    let good: String

    var testDescription: String { ([program] + arguments).joined(separator: " ") }
  }

  private static let absent = "00000000-0000-4000-8000-000000000000"
  private static let past = #""created_at":"2004-11-15T00:00:00Z""#
  private static let group =
    #"{"type":"conversation","id":"\#(absent)","is_group":false,"participants":["bob","carol"]}"#

  static let batches: [Batch] = [
    Batch(
      program: "dm-send",
      failing: [
        #"{"conversation":"carol","text":"x","attachments":[{"id":"\#(absent)"}]}"#,
        #"{"conversation":"carol","text":"x","reply_to":"\#(absent)"}"#,
        #"{"conversation":"nobody","text":"x"}"#, #"{"conversation":"bob","text":""}"#,
      ], good: #"{"conversation":"bob","text":"good"}"#),
    Batch(
      program: "dm-send", arguments: ["--consumer", "c", "--skip-failed"],
      failing: [
        #"{"conversation":"carol","text":"x","attachments":[{"id":"\#(absent)"}]}"#,
        #"{"conversation":"nobody","text":"x"}"#,
      ], good: #"{"conversation":"bob","text":"good"}"#),
    Batch(
      program: "dm-import",
      failing: [
        // A file that cannot be read, a conversation that others use, and a message in this conversation.
        #"{"conversation":"new","sender":"eve","attachments":[{"path":"loop"}],\#(past)}"#, group,
        #"{"conversation_id":"\#(absent)","sender":"bob","text":"x",\#(past)}"#,
        #"{"conversation":"new","sender":"a b","text":"x",\#(past)}"#,
        #"{"type":"conversation","id":"\#(absent)","is_group":true,"participants":["a b"]}"#,
        #"{"conversation_id":"\#(absent)","sender":"eve","text":"x",\#(past)}"#,
      ], good: #"{"conversation":"old","sender":"eve","text":"good",\#(past)}"#),
    Batch(
      program: "dm-edit", arguments: ["react", "👍"],
      failing: [#"{"type":"message","id":"\#(absent)"}"#, #"{"type":"message","conversation_id":"ID","seq":99}"#],
      good: #"{"type":"message","conversation_id":"ID","seq":1}"#),
    Batch(
      program: "dm-read",
      failing: [#"{"type":"message","conversation_id":"\#(absent)","seq":1}"#],
      good: #"{"type":"message","conversation_id":"ID","seq":1}"#),
    Batch(
      program: "dm-usage",
      failing: [#"{"type":"usage"}"#, usage.replacing("sent", with: "danced"), usage.replacing("12", with: "-12")],
      good: usage),
  ]

  private static let usage =
    #"{"type":"usage","at":"2026-11-23T10:00:00Z","act":"sent","program":"dm-send","version":"0.2.0","#
    + #""duration_us":12,"count":1,"bytes":5,"status":0}"#

  @Test func `these tests cover each program that reads lines`() throws {
    let readers = try ToolFixture.programs.filter { program in
      let schema = try ToolFixture().run(program, ["--schema"])
      return try schema.record["$defs"]?["input"] != nil
    }
    // dm-preview passes on the lines that fail, and changes no store: see Tests/t/2050-preview.t.
    #expect(Set(readers).subtracting(["dm-preview"]) == Set(Self.batches.map(\.program)))
  }

  /// The numbers of rows in the tables that a failing line must not change.
  private func rows(_ f: ToolFixture) throws -> String {
    try [
      "conversation", "participant", "message", "user", "attachment", "conversation_alias", "reaction", "message_pin",
      "read_range",
    ]
    .map { table in "\(table): " + (try f.sql("SELECT count(*) FROM \(table)")) }.joined(separator: "\n")
  }

  @Test(arguments: batches)
  func `a line that fails changes nothing, and the other lines take effect`(batch: Batch) throws {
    func scene() throws -> (f: ToolFixture, id: String) {
      let f = try ToolFixture()
      try f.addUsers("alice", "bob", "carol")
      try f.done("dm-send", ["alice", "hello"], as: "bob")
      try f.done("dm-send", ["carol", "between us"], as: "bob")
      try f.done("dm-tail", ["--consumer", "c", "--cursor", "now"], as: "alice")
      let id = try #require(try f.done("dm-conversation", ["show", "bob"], as: "alice").record["id"]?.string)
      try FileManager.default.createSymbolicLink(atPath: f.directory + "/loop", withDestinationPath: "loop")
      return (f, id)
    }
    func run(_ lines: [String], _ scene: (f: ToolFixture, id: String)) throws -> Outcome {
      let options = batch.program == "dm-import" ? ["--folder", scene.f.directory] : []
      return try scene.f.run(
        batch.program, options + batch.arguments, as: "alice",
        stdin: Input(lines: lines.map { $0.replacing("ID", with: scene.id) }))
    }
    // `mixed` gets the failing lines and the good line in one transaction, `plain` gets only the good line.
    let (mixed, plain) = (try scene(), try scene())
    let outcome = try run(batch.failing + [batch.good] + batch.failing, mixed)
    #expect(outcome.status == .exit(1), "\(outcome.stderr)")
    _ = try run([batch.good], plain)
    #expect(try rows(mixed.f) == rows(plain.f), "\(outcome.stdout)")
    let errors = try outcome.records.filter { $0["type"]?.string == "error" }
    #expect(errors.count == 2 * batch.failing.count, "\(outcome.stdout)")
    try mixed.f.done("dm-doctor", ["check", "--deep"])
  }

  @Test(arguments: ["chmod 0 file", "ln -sf loop file", "touch file"])
  func `an unreadable file gets its own error record, and the other files are prepared`(script: String) throws {
    let f = try ToolFixture()
    try f.addUsers("alice")
    let name = script == "touch file" ? String(repeating: "x", count: 300) : "file"
    try f.done(
      "sh", ["-c", "cd \"$0\"; echo one >one; echo two >two; touch file; ln -s loop loop; \(script)", f.directory])
    let files = ["one", name, "two"].map { "\(f.directory)/\($0)" }
    let asRoot = geteuid() == 0 && script.hasPrefix("chmod")
    let outcome = try f.run("dm-attach", ["--as-file"] + files, as: "alice")
    let records = try outcome.records
    #expect(records.count == 3 && outcome.status == .exit(asRoot ? 0 : 1), "\(outcome.stdout)\(outcome.stderr)")
    if !asRoot { #expect(records[1]["code"]?.string == "unreadable_file", "\(records)") }
  }
}
