import JSONSupport
import Testing

@testable import TestSupport

/// The lines that the program of a consumer writes to dm-send.
@Suite struct ConsumerTests {
  @Test func `with --stop-at-failed, the first line that fails ends dm-send at once, even if its input stays open`()
    throws
  {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    for text in ["one", "two"] { try f.done("dm-send", ["bob", text], as: "alice") }
    let records = try f.done("dm-tail", ["--consumer", "c", "--cursor", "start", "--events", "message"], as: "bob")
      .records
    let cursors = records.compactMap { $0["cursor"]?.string }
    let send = try LiveProcess(f, "dm-send", ["--consumer", "c", "--stop-at-failed"], as: "bob")
    try send.send(JSON.line(["conversation": "alice", "text": "1", "nonce": "1", "ack": cursors[0]]))
    #expect(try send.record()["type"]?.string == "message")
    // Each line is a batch of its own, as in a live pipe, and the pipe stays open.
    try send.send(JSON.line(["conversation": "nobody", "text": "2", "nonce": "2", "ack": cursors[1]]))
    #expect(try send.record()["code"]?.string == "unknown_user")
    #expect(send.finish(closingInput: false).status == .exit(1))
    let consumer = try f.done("dm-tail", ["--consumers"], as: "bob").record
    #expect(consumer["cursor"]?.string == cursors[0])
    #expect(consumer["behind_count"]?.int == 1)
  }

  @Test func `a bot that was removed from a group continues to answer in other conversations`() throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob", "carol")
    try f.done("dm-conversation", ["create", "--title", "ops", "bob", "carol"], as: "alice")
    try f.done("dm-send", ["+ops", "question"], as: "carol")
    try f.done("dm-conversation", ["remove", "+ops", "bob"], as: "alice")
    try f.done("dm-send", ["bob", "hello"], as: "alice")
    let bot = """
      dm-tail --others --consumer bot --cursor start | jq -c '(if .type == "message" and .text
        then {conversation: .conversation_id, text: "re: \\(.text)", nonce: .id} else {} end) + {ack: .cursor}' |
      dm-send --consumer bot
      """
    let first = try f.shell(bot, as: "bob", validatedAs: "dm-send")
    #expect(first.status == .exit(1))
    #expect(first.stderr.contains("skipped 1 line"), "\(first.stderr)")
    let error = try #require(first.records.first { $0["type"]?.string == "error" })
    #expect(error["code"]?.string == "not_allowed" && error["nonce"]?.string != nil)
    #expect(
      try f.done("dm-tail", ["bob"], as: "alice").records.compactMap { $0["text"]?.string } == ["hello", "re: hello"])
    try f.done("dm-send", ["bob", "again"], as: "alice")
    let second = try f.shell(bot, as: "bob", validatedAs: "dm-send")
    #expect(second.status == .exit(0), "\(second.stderr)")
    #expect(try f.done("dm-tail", ["--consumers"], as: "bob").record["skipped_count"]?.int == 1)
  }

  @Test func `a line can react, mark as read and acknowledge in one transaction, and gets one answer`() throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    for text in ["one", "two", "three"] { try f.done("dm-send", ["bob", text], as: "alice") }
    let records = try f.done("dm-tail", ["--consumer", "c", "--cursor", "start", "--events", "message"], as: "bob")
      .records
      .filter { $0["type"]?.string == "message" }
    let (ids, cursors) = (records.compactMap { $0["id"]?.string }, records.compactMap { $0["cursor"]?.string })
    let lines = [
      "{\"ack\":\"\(cursors[0])\",\"message_id\":\"\(ids[0])\",\"react\":\"👍\",\"read\":true}",
      "{\"conversation\":\"alice\",\"text\":\"re\",\"nonce\":\"n\",\"reply_to\":\"2\",\"ack\":\"\(cursors[1])\",\"read\":true}",
      "{\"ack\":\"\(cursors[2])\",\"message_id\":\"\(ids[2])\",\"react\":\"no emoji\"}",
    ]
    for expected in [["ack", "message", "error"], ["ack", "message", "ack"]] {
      let outcome = try f.run("dm-send", ["--consumer", "c"], as: "bob", stdin: Input(lines: lines))
      #expect(try outcome.records.compactMap { $0["type"]?.string } == expected, "\(outcome.stderr)")
    }
    #expect(
      try f.done("dm-tail", ["bob", "-n", "all"], as: "alice").records.map { $0["reactions"] != nil }
        == [true, false, false, false])
    #expect(try f.done("dm-tail", ["alice", "--unread"], as: "bob").records.compactMap { $0["seq"]?.int } == [3])
    let receipts = try f.done("dm-read", ["--receipts", "bob:1"], as: "alice").records
    #expect(receipts.compactMap { $0["type"]?.string }.sorted() == ["delivery_receipt", "read_receipt"])
    #expect(try f.sql("SELECT count(*) FROM reaction") == "1")
    try f.checkKept()
    let plain = try f.run("dm-send", as: "bob", stdin: Input(lines: [lines[0].replacing("ack", with: "x")]))
    #expect(try plain.record["code"]?.string == "bad_field", "without --consumer, such a line is an error")
  }

  @Test func `a line whose reaction is refused sends nothing`() throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob", "carol")
    try f.done("dm-conversation", ["create", "--title", "ops", "bob"], as: "alice")
    try f.done("dm-send", ["bob", "one"], as: "alice")
    let records = try f.done("dm-tail", ["--consumer", "c", "--cursor", "start", "--events", "message"], as: "bob")
      .records
    let cursor = try #require(records[0]["cursor"]?.string)
    let announced = try #require(records.first { $0["system_kind"] != nil }?["id"]?.string)
    let line =
      "{\"conversation\":\"alice\",\"text\":\"re\",\"ack\":\"\(cursor)\",\"message_id\":\"\(announced)\",\"react\":\"👍\"}"
    let outcome = try f.run("dm-send", ["--consumer", "c", "--stop-at-failed"], as: "bob", stdin: Input(lines: [line]))
    #expect(try outcome.record["code"]?.string == "not_allowed")
    #expect(try f.sql("SELECT count(*) FROM message WHERE text = 're'") == "0")
  }

  /// A store in which the consumer `bot` of bob acknowledged the first of four messages, and the change of the second
  /// was removed from the log.
  private func gap() throws -> ToolFixture {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    for text in ["one", "two", "three", "four"] { try f.done("dm-send", ["bob", text], as: "alice") }
    let events = ["--events", "message", "--peek"]
    let records = try f.done("dm-tail", ["--consumer", "bot", "--cursor", "start"] + events, as: "bob").records
    let first = try #require(records.first?["cursor"]?.string)
    try f.done("dm-tail", ["--consumer", "bot", "--ack", first], as: "bob")
    _ = try f.sql("DELETE FROM change WHERE rev <= (SELECT rev + 1 FROM consumer)")
    return f
  }

  @Test func `dm-tail --consumer ends at a gap with status 76, and continues with --accept-gap`() throws {
    let f = try gap()
    let consumer = ["--consumer", "bot", "--events", "message"]
    for _ in 1...2 {
      let stopped = try f.run("dm-tail", consumer, as: "bob")
      #expect(stopped.status == .exit(76))
      #expect(stopped.output.isEmpty)
      #expect(stopped.stderr.hasPrefix("dm-tail: ") && stopped.stderr.contains("--accept-gap"), "\(stopped.stderr)")
    }
    #expect(try f.run("dm-tail", ["-f"] + consumer, as: "bob").status == .exit(76))
    #expect(try f.run("dm-tail", ["--accept-gap", "bob"], as: "bob").status == .exit(64))
    let records = try f.done("dm-tail", consumer + ["--accept-gap"], as: "bob").records
    #expect(records.compactMap { $0["type"]?.string } == ["gap", "message", "message", "caught_up"])
    #expect(records.compactMap { $0["text"]?.string } == ["three", "four"])
    try f.done("dm-tail", ["--consumer", "bot", "--ack", #require(records[0]["cursor"]?.string)], as: "bob")
    #expect(try f.done("dm-tail", consumer, as: "bob").records.first?["text"]?.string == "three")
  }

  @Test func `dm-tail without a consumer prints a gap record and continues`() throws {
    let f = try gap()
    let cursor = try #require(try f.done("dm-tail", ["--consumers"], as: "bob").record["cursor"]?.string)
    let records = try f.done("dm-tail", ["--cursor", cursor, "--events", "message"], as: "bob").records
    #expect(records.compactMap { $0["type"]?.string } == ["gap", "message", "message", "caught_up"])
  }

  @Test func `dm-doctor stats warns of a consumer at a gap, even with -q`() throws {
    let f = try gap()
    let outcome = try f.done("dm-doctor", ["stats"])
    #expect(outcome.stdout.contains("\"warning\":\"gap\""))
    #expect(outcome.stderr.hasPrefix("dm-doctor: ") && outcome.stderr.contains("--forget bot"), "\(outcome.stderr)")
    #expect(try f.done("dm-doctor", ["stats", "-q"]).stderr == outcome.stderr)
    #expect(try f.done("dm-doctor", ["stats", "--text"]).stdout.contains("bob/bot 2 behind"))
  }

  @Test func `the run-bot script ends at a gap`() throws {
    let f = try gap()
    let bot = ["bot", "--", "jq", "-c", "--unbuffered", "{ack: .cursor}"]
    let outcome = try f.run(repository + "/examples/run-bot", bot, as: "bob")
    #expect(outcome.status == .exit(76), "\(outcome.stderr)")
    #expect(outcome.stderr.contains("--accept-gap"))
  }
}
