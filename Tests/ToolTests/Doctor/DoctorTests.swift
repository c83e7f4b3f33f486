import Foundation
import Glibc
import JSONSupport
import Testing

@Suite struct DoctorTests {
  private func filled() throws -> ToolFixture {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    try f.done("dm-send", ["-q", "--lines", "bob"], as: "alice", stdin: Input(lines: (1...200).map { "text \($0)" }))
    return f
  }

  @Test func `dm-doctor check prints the faults and exits with status 78`() throws {
    let f = try filled()
    _ = try f.sql("UPDATE message SET text = 'secret' WHERE id = 7; UPDATE conversation SET last_seq = 3")
    let outcome = try f.run("dm-doctor", ["check", "--deep"])
    #expect(outcome.status == .exit(78))
    #expect(try Set(outcome.records.compactMap { $0["check"]?.string }) == ["digests", "search", "counts"])
    #expect(!outcome.stdout.contains("secret"))
    #expect(outcome.stderr.hasPrefix("dm-doctor: "))
    let text = try f.run("dm-doctor", ["check", "--deep", "--text"])
    #expect(text.stdout.contains("digests: "))
    #expect(try f.run("dm-doctor", ["check", "--deep", "-q"]).stdout == "")
  }

  @Test func `dm-doctor check of a sound store prints nothing without --text`() throws {
    let f = try filled()
    #expect(try f.done("dm-doctor", ["check"]).stdout == "")
    #expect(try f.done("dm-doctor", ["check", "--deep"]).stdout == "")
    #expect(try f.done("dm-doctor", ["check", "--text"]).stdout.hasPrefix("no fault found; used last 2"))
    #expect(try f.done("dm-doctor", ["check", "--text", "-q"]).stdout == "")
  }

  @Test func `a store whose lock is held can be checked, dumped and backed up`() throws {
    let f = try filled()
    try f.done("dm-list", [], as: "alice")
    // Root can write to any file, and a read-only store would need a mount. So the test only holds the lock.
    let lock = try Descriptor(path: f.store + "/store.lock", O_RDWR)
    try #require(flock(lock.number, LOCK_EX) == 0)
    try f.done("dm-doctor", ["check", "--deep"])
    try f.done("dm-doctor", ["stats"])
    try f.done("dm-doctor", ["dump"])
    try f.done("dm-doctor", ["backup", f.directory + "/backup"])
    #expect(try f.run("dm-doctor", ["repair"]).status == .exit(75))
    flock(lock.number, LOCK_UN)
  }

  @Test(.enabled(if: ToolFixture.has("strace"), "needs strace"), arguments: [SIGINT, SIGTERM])
  func `a backup that is ended by a signal leaves no files behind`(signal: Int32) throws {
    let f = try filled()
    let folder = f.directory + "/backups"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let slow = try f.meddling("fsync", "delay_enter=500000:when=1", "dm-doctor")
    let run = try f.start("strace", slow + ["backup", folder + "/backup"])
    var program: SeenProcess?
    try Torture.wait(until: "the copy is there") {
      program = SeenProcess(pid: run.process.pid).descendants.first { $0.isAlive && $0.name == "dm-doctor" }
      return try !FileManager.default.contentsOfDirectory(atPath: folder).isEmpty
    }
    try #require(program).send(signal)
    // strace(1) ends with the signal that ended its program.
    #expect(try run.finish().status == .signal(signal))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
  }

  @Test func `a restore that is interrupted while it waits for lines leaves no files behind`() throws {
    let f = try ToolFixture()
    let live = try LiveProcess(f, "dm-doctor", ["restore"], as: "alice")
    try live.send("{\"type\":\"dump\",\"schema\":3}")
    try Torture.wait(until: "it builds") {
      try FileManager.default.contentsOfDirectory(atPath: f.directory).contains { $0.hasPrefix(".dm-restore") }
    }
    live.process.send(SIGINT)
    #expect(live.finish().status == .signal(SIGINT))
    #expect(!FileManager.default.fileExists(atPath: f.store))
    #expect(try FileManager.default.contentsOfDirectory(atPath: f.directory).allSatisfy { !$0.hasPrefix(".dm-") })
  }

  @Test func `a full disk is an error, and a restore that runs out of space leaves no store`() throws {
    let f = try filled()
    #expect(try f.run("dm-doctor", ["dump"], stdout: "/dev/full").status == .exit(74))
    try f.done("dm-doctor", ["backup", f.directory + "/backup"])
    let other = f.directory + "/other"
    let small = "ulimit -f 60; trap '' XFSZ; dm-doctor --store '\(other)' restore '\(f.directory)/backup'"
    #expect(try f.run("bash", ["-c", small]).status == .exit(74))
    #expect(!FileManager.default.fileExists(atPath: other))
    #expect(try FileManager.default.contentsOfDirectory(atPath: f.directory).allSatisfy { !$0.hasPrefix(".dm-") })
  }

  @Test func `reports are printed with the text that the message had when it was reported`() throws {
    let f = try filled()
    _ = try f.sql("INSERT INTO report (message, reporter, at, reason, text) VALUES (7, 2, 1, 'rude', 'text 7')")
    let record = try f.done("dm-doctor", ["reports"]).record
    #expect(record["user"]?.string == "bob")
    #expect(record["sender"]?.string == "alice")
    #expect(record["seq"]?.int == 7)
    #expect(record["text"]?.string == "text 7")
    #expect(try f.done("dm-doctor", ["reports", "--text"]).stdout.contains("bob reported"))
  }
}
