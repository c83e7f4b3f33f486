import Foundation
import Glibc
import JSONSupport
import Testing

/// Stores that lost acknowledged changes, because their WAL or their database file is damaged or missing.
@Suite struct LostLogTests {
  /// A store with a sound backup, whose messages are only in the WAL.
  private func filled() throws -> (store: ToolFixture, backup: String) {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    let lines = (1...50).map { JSON.line(["conversation": "bob", "text": "\($0)"]) }
    try f.done("dm-send", ["-q"], as: "alice", stdin: Input(lines: lines))
    let backup = f.directory + "/night.bk"
    try f.done("dm-doctor", ["backup", "-q", backup])
    try f.done("dm-send", ["bob", "after the backup"], as: "alice")
    return (f, backup)
  }

  static let losses: [(name: String, script: String)] = [
    ("a flipped bit", "printf '\\377' | dd of=\"$DM_STORE/dm.sqlite-wal\" bs=1 seek=300 conv=notrunc 2>/dev/null"),
    ("no log", "rm \"$DM_STORE/dm.sqlite-wal\""),
    ("a log that was cut", "truncate -s 4000 \"$DM_STORE/dm.sqlite-wal\""),
  ]

  @Test(arguments: losses.indices)
  func `a store that lost acknowledged changes is reported, and its backup is not replaced`(loss: Int) throws {
    let (f, backup) = try filled()
    let before = try Data(contentsOf: URL(fileURLWithPath: backup))
    #expect(try f.shell(Self.losses[loss].script).status == .exit(0))
    let check = try f.run("dm-doctor", ["check"])
    #expect(check.status == .exit(78), "\(check.stdout)\(check.stderr)")
    #expect(check.stdout.contains("were lost") || check.stderr.contains("is empty"), "\(check.stdout)\(check.stderr)")
    let again = try f.run("dm-doctor", ["backup", backup])
    #expect(again.status == .exit(78), "\(again.stderr)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: backup)) == before)
    let send = try f.run("dm-send", ["bob", "next"], as: "alice")
    #expect(send.status == .exit(78), "\(send.stdout)\(send.stderr)")
    #expect(send.output.isEmpty)
    #expect(send.stderr.contains("backup"), "\(send.stderr)")
  }

  @Test func `a store that lost a single acknowledged change is reported`() throws {
    let (f, _) = try filled()
    try f.done("sh", ["-c", "mkdir '\(f.directory)/saved' && cp \"$DM_STORE\"/dm.sqlite* '\(f.directory)/saved'"])
    try f.done("dm-send", ["bob", "lost"], as: "alice")
    try f.done("sh", ["-c", "rm \"$DM_STORE\"/dm.sqlite* && cp '\(f.directory)/saved'/* \"$DM_STORE\""])
    let send = try f.run("dm-send", ["bob", "next"], as: "alice")
    #expect(send.status == .exit(78), "\(send.stdout)\(send.stderr)")
    let numbers = send.stderr.split(separator: " ").compactMap { Int($0) }
    #expect(numbers.count == 2 && numbers.first == numbers.last, "\(send.stderr)")
  }

  @Test(.enabled(if: CrashTests.canTrace, "needs strace"), arguments: [[], ["--deep"]])
  func `a check does not report a change as lost that is committed during the check`(options: [String]) throws {
    let (f, _) = try filled()
    // Stops the check where it opens the file that has the number of the last change.
    let words = try f.meddling("openat", "signal=SIGSTOP:when=1", "dm-doctor", only: f.store + "/store.lock")
    let run = try LiveProcess(f, "strace", words + ["check"] + options, stdin: .null)
    let check = try run.descendant("dm-doctor")
    defer { check.send(SIGCONT) }
    try Torture.wait(until: "it is stopped") {
      try String(contentsOfFile: f.directory + "/trace", encoding: .utf8).contains("stopped by SIGSTOP")
    }
    try f.done("dm-send", ["bob", "meanwhile"], as: "alice")
    check.send(SIGCONT)
    let end = run.finish()
    #expect(end.status == .exit(0), "\(end.stdout)\(end.stderr)")
  }

  @Test(arguments: [0, 1, 300])
  func `a truncated database is reported as damaged, not as empty`(bytes: Int) throws {
    let (f, _) = try filled()
    try f.done("truncate", ["-s", "\(bytes)", f.store + "/dm.sqlite"])
    for (program, words) in [("dm-list", ["--count"]), ("dm-doctor", ["check"]), ("dm-send", ["bob", "hi"])] {
      let outcome = try f.run(program, words, as: "alice")
      #expect(outcome.status == .exit(78), "\(program): \(outcome.status) \(outcome.stdout)\(outcome.stderr)")
    }
    #expect(try f.done("stat", ["-c", "%s", f.store + "/dm.sqlite"]).stdout == "\(bytes)\n", "the file is unchanged")
  }

  @Test func `a removed database is not created again beside its other files`() throws {
    let (f, backup) = try filled()
    try f.done("rm", [f.store + "/dm.sqlite"])
    let outcome = try f.run("dm-send", ["bob", "hi"], as: "alice")
    #expect(outcome.status == .exit(78), "\(outcome.stdout)\(outcome.stderr)")
    #expect(!FileManager.default.fileExists(atPath: f.store + "/dm.sqlite"))
    f.set("DM_STORE", f.directory + "/new")
    try f.done("dm-doctor", ["restore", backup])
    #expect(try f.done("dm-send", ["bob", "hi"], as: "alice").record["seq"]?.int == 51)
  }

  @Test func `after a repair the store works without the lost changes, and followers get a gap`() throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    try f.done("dm-send", ["bob", "kept"], as: "alice")
    try f.done("dm-doctor", ["purge", "-q"])
    let cursor = try #require(
      try f.done("dm-tail", ["--cursor", "now"], as: "bob").records.last?["cursor"]?.string)
    try f.done("dm-send", ["bob", "lost"], as: "alice")
    let lost = try #require(Int(f.done("cat", [f.store + "/store.lock"]).stdout.suffix(20).dropLast()))
    try f.done("rm", [f.store + "/dm.sqlite-wal"])
    #expect(try f.run("dm-send", ["bob", "next"], as: "alice").status == .exit(78))
    #expect(try f.done("dm-doctor", ["repair"]).record["lost_changes_count"]?.int == 1)
    #expect(try f.run("dm-doctor", ["check", "--deep"]).status == .exit(0))
    try f.done("dm-send", ["bob", "next"], as: "alice")
    #expect(try f.sql("SELECT min(rev) > \(lost) FROM change") == "1", "the number of a lost change is not reused")
    let stream = try f.done("dm-tail", ["--cursor", cursor], as: "bob").records
    #expect(stream.map { $0["type"]?.string } == ["gap", "message", "caught_up"])
  }

  @Test func `without --force, a backup does not replace one that has more messages`() throws {
    let (f, backup) = try filled()
    defer { withExtendedLifetime(f) {} }
    let other = try ToolFixture()
    try other.addUsers("alice", "bob")
    try other.done("dm-send", ["bob", "one"], as: "alice")
    let before = try Data(contentsOf: URL(fileURLWithPath: backup))
    let refused = try other.run("dm-doctor", ["backup", backup])
    #expect(refused.status == .exit(73), "\(refused.stderr)")
    #expect(refused.stderr.contains("--force"), "\(refused.stderr)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: backup)) == before)
    try other.done("dm-doctor", ["backup", "--force", backup])
    #expect(try Data(contentsOf: URL(fileURLWithPath: backup)) != before)
    // A store with at least as many messages replaces the backup without --force.
    try other.done("dm-doctor", ["backup", backup])
  }
}
