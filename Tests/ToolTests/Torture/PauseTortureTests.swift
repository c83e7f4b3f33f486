import Foundation
import Glibc
import JSONSupport
import Testing

/// Processes that are stopped, and readers that do not read.
@Suite struct PauseTortureTests {
  /// Waits for some seconds, which the heartbeats of a follower count.
  private func pass(_ seconds: Int, _ f: ToolFixture) throws {
    let words = ["-f", "-n", "0", "--heartbeat", "1s", "--invisible", "--events", "message_deleted"]
    let clock = try LiveProcess(f, "dm-tail", words, as: "alice", stdin: .null)
    for _ in 0...seconds { _ = try clock.record() }
    clock.process.send(SIGTERM)
  }

  @Test func `after SIGCONT, a stopped follower prints all messages that were sent while it was stopped`() throws {
    let f = try ToolFixture.filled()
    let follower = try f.follower(as: "alice", isJudged: false)
    follower.process.send(SIGSTOP)
    try Torture.wait(until: "it is stopped") { follower.seen.isStopped }
    try f.sendNumbers(1...2000, to: "alice", as: "bob")
    if Torture.isLong { try pass(60, f) }
    follower.process.send(SIGCONT)
    for number in 1...2000 { #expect(try follower.nextNumber() == number) }
    try f.sendNumbers(2001...2001, to: "alice", as: "bob")
    #expect(try follower.nextNumber() == 2001)
  }

  @Test(
    .enabled(if: CrashTests.canTrace, "needs strace"),
    arguments: Torture.isLong ? ["fdatasync", "pwrite64"] : ["fdatasync"])
  func `a writer that is stopped during its commit keeps the lock, and finishes later`(call: String) throws {
    let f = try ToolFixture.filled()
    let follower = try f.follower(as: "alice")
    let words = try f.meddling(call, "signal=SIGSTOP:when=1", "dm-send")
    let stuck = try LiveProcess(f, "strace", words + ["alice", "1 stuck"], as: "bob", stdin: .null)
    let writer = try stuck.descendant("dm-send")
    defer { writer.send(SIGCONT) }
    func traced(_ word: String) throws -> Bool {
      try String(contentsOfFile: f.directory + "/trace", encoding: .utf8).contains(word)
    }
    try Torture.wait(until: "it is stopped") { try traced("stopped by SIGSTOP") }

    for _ in 1...Torture.size(1, long: 12) {
      let start = ContinuousClock.now
      let others = try (1...3).map { _ in try f.start("dm-send", ["bob", "too early"], as: "alice") }
      // Reading still works.
      #expect(try f.done("dm-list", as: "alice").records.count == 1)
      #expect(try f.done("dm-tail", ["bob", "--peek"], as: "alice").records.count == 2)
      for other in others { #expect(try other.finish().status == .exit(75)) }
      #expect(Torture.seconds(since: start) > 4)
    }
    #expect(try !traced("SIGCONT"))
    let waiting = try f.start("dm-send", ["bob", "2 patient"], as: "alice")
    writer.send(SIGCONT)
    #expect(try stuck.record()["text"]?.string == "1 stuck")
    #expect(stuck.finish().status == .exit(0))
    #expect(try waiting.finish().status == .exit(0))
    for number in 1...2 { #expect(try follower.nextNumber() == number) }
    try f.checkIntegrity()
  }

  @Test func `while nobody reads the output of a follower, the WAL stays under 16 MiB and no message is lost`() throws {
    let f = try ToolFixture.filled()
    let follower = try f.follower(as: "alice", isJudged: false)
    let total = Torture.size(20000, long: 100_000)
    let file = f.directory + "/lines"
    let filler = String(repeating: "x", count: 1200)
    let lines = (1...total).map { JSON.line(["conversation": "alice", "text": "\($0) \(filler)"]) + "\n" }
    try lines.joined().write(toFile: file, atomically: true, encoding: .utf8)
    let writer = try f.start("dm-send", ["-q"], as: "bob", stdin: .file(file))
    var largest: Int64 = 0
    try Torture.wait(until: "all is sent", seconds: 300) {
      var status = stat()
      // Only the size is read, because opening the file could affect the programs.
      if stat(f.store + "/dm.sqlite-wal", &status) == 0 { largest = max(largest, Int64(status.st_size)) }
      return !writer.process.isRunning
    }
    #expect(try writer.finish().status == .exit(0))
    #expect(largest > 0)
    #expect(largest < 16 * 1024 * 1024)
    print("the log grew to \(largest / 1024) KiB beside a reader who did not read \(total) messages")
    for number in 1...total { try #require(try follower.nextNumber() == number) }
  }
}
