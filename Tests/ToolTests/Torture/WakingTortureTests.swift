import Foundation
import Glibc
import JSONSupport
import Testing

/// Followers when the file `bell` is not touched, is touched late, or cannot be watched.
@Suite(.serialized, .enabled(if: CrashTests.canTrace, "needs strace")) struct WakingTortureTests {
  private func lastRing(_ f: ToolFixture) throws -> String {
    try f.done("stat", ["-c", "%y", f.store + "/bell"]).stdout
  }

  @Test func `followers print a message even if its writer was killed before it could wake them`() throws {
    let f = try ToolFixture.filled()
    let follower = try f.follower(as: "alice")
    for round in 1...Torture.size(3, long: 30) {
      let before = try lastRing(f)
      let words = try f.meddling("utimensat", "signal=SIGKILL", "dm-send") + ["alice", "\(round)"]
      #expect(try f.run("strace", words, as: "bob").status == .signal(SIGKILL))
      let (seconds, number) = try Torture.time { try follower.nextNumber() }
      #expect(number == round)
      #expect(seconds < Torture.bound(1.5))
      #expect(try lastRing(f) == before, "the bell was touched")
    }
  }

  @Test func `followers print the message of a slow commit as soon as it is visible`() throws {
    let f = try ToolFixture.filled()
    let follower = try f.follower(as: "alice")
    // A separate reader that asks again and again.
    let witness = try LiveProcess(f, "sqlite3", [f.store + "/dm.sqlite"])
    func count() throws -> String? {
      try witness.send("SELECT count(*) FROM message;")
      return try witness.line()
    }
    for round in 1...Torture.size(2, long: 20) {
      let before = try count()
      let words = try f.meddling("fdatasync", "delay_enter=500000", "dm-send") + ["alice", "\(round)"]
      let writer = try f.start("strace", words, as: "bob")
      var lastUnseen = ContinuousClock.now
      try Torture.wait(until: "the message is there") {
        let asked = ContinuousClock.now
        if try count() != before { return true }
        lastUnseen = asked
        return false
      }
      #expect(try follower.nextNumber() == round)
      let seconds = Torture.seconds(since: lastUnseen)
      #expect(seconds < (Torture.isLong ? 0.1 : 1))
      #expect(try writer.finish().status == .exit(0))
    }
  }

  /// Makes read(2) return the event of an overflow of the queue: no watch, IN_Q_OVERFLOW, no name (inotify(7)).
  private static let overflow = "retval=16:poke_exit=@arg2=ffffffff004000000000000000000000:when=1"

  @Test(arguments: [
    ("inotify_init1", "error=ENOSYS", nil), ("inotify_add_watch", "error=ENOSPC", nil),
    ("read", overflow, "anon_inode:inotify"),
  ])
  func `a follower that cannot watch the store polls, warns once and misses no message`(
    call: String, fault: String, path: String?
  ) throws {
    let f = try ToolFixture.filled()
    let words = try f.meddling(call, fault, "dm-tail", only: path)
    let follower = try LiveProcess(
      f, "strace", words + ["-f", "-n", "0", "--peek", "--events", "message"], as: "alice", stdin: .null)
    defer { follower.process.send(SIGKILL, toGroup: true) }
    #expect(try follower.record()["type"]?.string == "caught_up")
    let singles = Torture.size(5, long: 50)
    for number in 1...singles {
      try f.sendNumbers(number...number, to: "alice", as: "bob")
      let (seconds, received) = try Torture.time { try follower.nextNumber() }
      #expect(received == number)
      #expect(seconds < Torture.bound(0.5))
    }
    let total = singles + Torture.size(500, long: 20000)
    try f.sendNumbers((singles + 1)...total, to: "alice", as: "bob")
    for number in (singles + 1)...total { #expect(try follower.nextNumber() == number) }
    let advice = "looking ten times a second instead"
    try Torture.wait(until: "it says why") { follower.stderr.contains(advice) }
    follower.process.send(SIGTERM, toGroup: true)
    let stderr = follower.finish().stderr
    #expect(stderr.components(separatedBy: advice).count == 2, "\(stderr)")
    #expect(try String(contentsOfFile: f.directory + "/trace", encoding: .utf8).contains("INJECTED"))
  }
}
