import Foundation
import Glibc
import JSONSupport
import Testing

/// Messages and mutes that expire, also in a read-only store and when the clock was changed.
@Suite struct LifetimeTests {
  private func filled(_ texts: [String], lifetime: String) throws -> ToolFixture {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    try f.done("dm-conversation", ["create", "--title", "all", "bob"], as: "alice")
    try f.done("dm-send", ["+all", "first"], as: "alice")
    let lines = texts.map { JSON.line(["conversation": "+all", "text": $0, "expires_in": lifetime]) }
    try f.done("dm-send", as: "alice", stdin: Input(lines: lines))
    return f
  }

  /// The texts that bob sees, and the counts and last message in bob's list.
  private struct Overview: Equatable {
    var texts: [String]
    var unread: Int
    var mentions: Int
    var last: String?
  }

  private func overview(_ run: (String, [String]) throws -> Outcome) throws -> Overview {
    let list = try run("dm-list", ["--match", "all"])
    let tail = try run("dm-tail", ["+all", "-n", "all", "--peek"])
    let count = try run("dm-list", ["--count"])
    for outcome in [list, tail, count] { #expect(outcome.status == .exit(0), "\(outcome.stderr)") }
    let record = try list.record
    #expect(count.stdout == "\(record["unread_count"]?.int ?? -1)\n")
    return Overview(
      texts: try tail.records.compactMap { $0["text"]?.string }, unread: record["unread_count"]?.int ?? -1,
      mentions: record["unread_mentions_count"]?.int ?? -1, last: record["last_message"]?["text"]?.string)
  }

  @Test(.enabled(if: StoreStateTests.canBecomeNobody, "needs root and setpriv"))
  func `expired messages in a read-only store are hidden and not counted`() throws {
    let f = try filled(["brief @bob", "brief"], lifetime: "1s")
    try f.done("chmod", ["755", f.directory])
    // A process that can write has the store open, so that its shared memory file exists.
    let writer = try LiveProcess(f, "dm-send", as: "alice")
    try writer.send(JSON.line(["conversation": "+all", "text": "last"]))
    _ = try writer.record()
    try f.done("chmod", ["-R", "a+rX,a-w", f.store])
    func nobody(_ program: String, _ arguments: [String]) throws -> Outcome {
      let copy = "\(f.directory)/\(program)"
      if !FileManager.default.fileExists(atPath: copy) {
        try f.done("install", ["-m", "755", "\(ToolFixture.binaries)/\(program)", copy])
      }
      return try f.run(
        "setpriv", ["--reuid", "65534", "--regid", "65534", "--clear-groups", copy] + arguments, as: "bob")
    }
    let wanted = Overview(texts: ["first", "last"], unread: 2, mentions: 0, last: "last")
    try Torture.wait(until: "it has expired") { try nobody("dm-list", ["--count"]).stdout == "2\n" }
    #expect(try overview(nobody) == wanted)
    #expect(try f.sql("SELECT count(*) FROM message WHERE deleted_at IS NULL AND text LIKE 'brief%'") == "2")
    #expect(try nobody("dm-tail", ["+all:3", "--peek"]).output.isEmpty)
    let tombstones = try nobody("dm-tail", ["+all", "3..4", "--deleted", "--peek"])
    #expect(try tombstones.records.map { $0["text"] } == [nil, nil])
    #expect(try nobody("dm-read", ["+all", "--all", "--dry-run"]).record["unread_count"]?.int == 0)
    #expect(try nobody("dm-read", ["+all", "--all"]).status == .exit(74))

    // A follower cannot turn the messages into tombstones, and does not keep trying.
    let words = ["--reuid", "65534", "--regid", "65534", "--clear-groups", "\(f.directory)/dm-tail"]
    let follower = try LiveProcess(
      f, "setpriv", words + ["-f", "-n", "0", "--invisible", "--heartbeat", "1s"], as: "bob", stdin: .null)
    for _ in 1...4 { _ = try follower.record() }
    follower.process.send(SIGTERM)
    #expect(follower.finish().cpu < 0.5, "the follower uses too much processor time")
    #expect(writer.finish().status == .exit(0))
  }

  @Test func `dm-list hides expired messages without writing, and the next write turns them into tombstones`() throws {
    let f = try filled(["brief @bob", "stays"], lifetime: "2s")
    try f.done("dm-send", ["+all", "last"], as: "alice")
    func bob(_ program: String, _ arguments: [String]) throws -> Outcome { try f.run(program, arguments, as: "bob") }
    try Torture.wait(until: "it has expired") { try bob("dm-list", ["--count"]).stdout == "2\n" }
    let wanted = Overview(texts: ["first", "last"], unread: 2, mentions: 0, last: "last")
    #expect(try overview(bob) == wanted)
    #expect(try f.sql("SELECT count(*) FROM message WHERE deleted_at IS NOT NULL") == "0", "dm-list must not write")
    try f.done("dm-user", ["set", "--bio", "x"], as: "alice")
    #expect(try f.sql("SELECT count(*) FROM message WHERE deleted_at = expires_at AND text IS NULL") == "2")
    #expect(try overview(bob) == wanted)
    try f.checkKept()
  }

  @Test func `a hundred messages that expire at the same time each give an event and are not counted as unread`() throws
  {
    let f = try filled(["before"], lifetime: "1h")
    let follower = try LiveProcess(
      f, "dm-tail", ["-f", "-n", "0", "--invisible", "--peek", "--events", "message_deleted"], as: "bob", stdin: .null)
    #expect(try follower.record()["type"]?.string == "caught_up")
    let lines = (1...100).map { JSON.line(["conversation": "+all", "text": "\($0) @bob", "expires_in": "1s"]) }
    try f.done("dm-send", ["-q"], as: "alice", stdin: Input(lines: lines))
    let numbers = try (1...100).map { _ in try follower.record()["seq"]?.int }
    #expect(numbers == Array(4...103))
    #expect(try f.done("dm-list", ["--count"], as: "bob").stdout == "2\n")
    try f.checkKept()
    follower.process.send(SIGTERM)
    _ = follower.finish()
  }

  // MARK: Clocks

  private func at(_ step: String, _ f: ToolFixture, _ user: String, _ program: String, _ arguments: [String]) throws
    -> Outcome
  {
    try f.run("faketime", ["-f", step, program] + arguments, as: user)
  }

  @Test(.enabled(if: ToolFixture.has("faketime"), "needs faketime"))
  func `a message expires earlier for a reader whose clock is ahead, and later for one whose clock is behind`() throws {
    let f = try filled(["an hour @bob"], lifetime: "1h")
    let all = Overview(texts: ["first", "an hour @bob"], unread: 2, mentions: 1, last: "an hour @bob")
    let rest = Overview(texts: ["first"], unread: 1, mentions: 0, last: "first")
    #expect(try overview { try at("+2h", f, "bob", $0, $1) } == rest)
    #expect(try overview { try at("+0", f, "bob", $0, $1) } == all, "reading changes nothing")
    #expect(try overview { try at("-10y", f, "bob", $0, $1) } == all)
    // A program that writes while its clock is ahead makes the message a tombstone for all users.
    #expect(try at("+2h", f, "alice", "dm-user", ["set", "--bio", "x"]).status == .exit(0))
    #expect(try overview { try at("-10y", f, "bob", $0, $1) } == rest)
    #expect(try at("+0", f, "bob", "dm-edit", ["react", "👍", "+all:3"]).status == .exit(66))
    try f.checkKept()
  }

  @Test(.enabled(if: ToolFixture.has("faketime"), "needs faketime"))
  func `the lifetime of a message begins when it is sent, also after the clock was set back`() throws {
    let f = try filled([], lifetime: "1h")
    #expect(try at("+10d", f, "alice", "dm-send", ["+all", "ahead"]).status == .exit(0))
    try f.done("dm-send", ["+all", "--expires-in", "1h", "back"], as: "alice")
    let left = try f.sql("SELECT (expires_at / 1000000 - unixepoch()) BETWEEN 3500 AND 3600 FROM message WHERE seq = 4")
    #expect(left == "1")
    #expect(try at("+50m", f, "bob", "dm-tail", ["+all:4", "--peek"]).stdout.contains("back"))
    #expect(try at("+2h", f, "bob", "dm-tail", ["+all:4", "--peek"]).output.isEmpty)
    #expect(try f.done("dm-tail", ["+all", "--since", "1h", "--peek"], as: "bob").stdout.contains("back"))
    #expect(try !f.done("dm-tail", ["+all", "--before", "now", "--peek"], as: "bob").stdout.contains("ahead"))
    try f.done("dm-doctor", ["check", "--deep"])
  }

  @Test(.enabled(if: ToolFixture.has("faketime"), "needs faketime"))
  func `a mute ends by the reader's clock, and then a new message unarchives the conversation`() throws {
    let f = try filled([], lifetime: "1h")
    try f.done("dm-conversation", ["mute", "+all", "--for", "1h"], as: "bob")
    try f.done("dm-conversation", ["archive", "+all"], as: "bob")
    func show(_ step: String) throws -> [Bool?] {
      let record = try at(step, f, "bob", "dm-conversation", ["show", "+all"]).record
      return [record["is_muted"]?.bool, record["muted_until"] != nil, record["is_archived"]?.bool]
    }
    #expect(try show("+0") == [true, true, true])
    #expect(try show("-10y") == [true, true, true])
    #expect(try show("+2h") == [false, false, true])
    #expect(try at("-10y", f, "alice", "dm-send", ["+all", "long ago"]).status == .exit(0))
    #expect(try show("+0") == [true, true, true], "the mute has not ended by the sender's clock")
    #expect(
      try at("+2h", f, "bob", "dm-conversation", ["unmute", "+all"]).output.isEmpty, "the mute has already ended")
    #expect(try at("+2h", f, "alice", "dm-send", ["+all", "later"]).status == .exit(0))
    #expect(try show("+2h") == [false, false, false])
    try f.checkKept()
  }
}
