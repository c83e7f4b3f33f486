import Foundation
import Glibc
import JSONSupport
import Testing

/// Processes that are killed.
///
/// `strace -e inject` kills a send at each of its system calls, or makes a call fail.
@Suite struct CrashTests {
  /// Whether strace is installed and may trace.
  static let canTrace: Bool = {
    do {
      let f = try ToolFixture()
      if try f.run("strace", ["-f", "-o", "/dev/null", "true"]).status == .exit(0) { return true }
    } catch {}
    print("skipped: the tests that kill a send at each system call; strace is absent or may not trace")
    return false
  }()

  private static let template = Result {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    try f.done("dm-send", ["bob", "before"], as: "alice")
    return f
  }

  private func traced(
    _ f: ToolFixture, _ call: String, _ fault: String, _ number: Int, _ nonce: String
  ) throws -> Outcome {
    try f.run(
      "strace",
      [
        "-f", "-o", f.directory + "/trace", "-e", "trace=\(call)", "-e", "inject=\(call):\(fault):when=\(number)",
        ToolFixture.executable("dm-send"), "bob", "--nonce", nonce, "text of \(nonce)",
      ], as: "alice", validatedAs: "dm-send")
  }

  /// Checks that an acknowledged message exists once, any other at most once, and exactly once after a retry with its nonce.
  private func check(_ f: ToolFixture, _ outcome: Outcome, _ nonce: String, at location: SourceLocation) throws {
    let isAcknowledged = try !outcome.records.isEmpty
    let query = "SELECT count(*) FROM message WHERE nonce = '\(nonce)'"
    let again = try f.done("dm-list", as: "alice", at: location)
    #expect(!again.output.isEmpty, sourceLocation: location)
    let present = try f.sql(query, at: location)
    if isAcknowledged {
      #expect(present == "1", "\(nonce) was acknowledged", sourceLocation: location)
    } else {
      #expect(["0", "1"].contains(present), "\(nonce)", sourceLocation: location)
    }
    let retry = try f.done("dm-send", ["bob", "--nonce", nonce, "text of \(nonce)"], as: "alice", at: location)
    #expect(try (retry.record["duplicate"]?.bool == true) == (present == "1"), sourceLocation: location)
    #expect(try f.sql(query, at: location) == "1", sourceLocation: location)
    try f.checkIntegrity(at: location)
  }

  @Test(
    .enabled(if: canTrace, "needs strace"),
    arguments: ["pwrite64", "fdatasync", "fsync", "ftruncate", "write", "unlink", "rename", "openat", "fcntl", "flock"])
  func `a send that is killed at any system call stores its message once or not at all`(call: String) throws {
    let f = try ToolFixture(copyOf: Self.template.get())
    var number = 0
    var wasWhole = false
    while !wasWhole {
      number += 1
      try #require(number < 200, "\(call) has no end")
      let nonce = "\(call)-\(number)"
      let outcome = try traced(f, call, "signal=SIGKILL", number, nonce)
      // strace ends with the signal that killed its child.
      wasWhole = outcome.status == .exit(0)
      if !wasWhole { #expect(outcome.status == .signal(SIGKILL), "\(outcome.status) \(outcome.stderr)") }
      try check(f, outcome, nonce, at: #_sourceLocation)
    }
    Tally.add(.kills, number - 1, in: "sends")
    print("killed a send at \(number - 1) calls of \(call)")
  }

  @Test(
    .enabled(if: canTrace, "needs strace"),
    arguments: ["pwrite64", "fdatasync", "ftruncate"], ["EIO", "ENOSPC"])
  func `a send acknowledges its message only if it is stored, also if a system call fails`(call: String, error: String)
    throws
  {
    let f = try ToolFixture(copyOf: Self.template.get())
    var number = 0
    var wasInjected = true
    while wasInjected {
      number += 1
      try #require(number < 200, "\(call) has no end")
      let nonce = "\(call)-\(number)"
      let outcome = try traced(f, call, "error=\(error)", number, nonce)
      let trace = try String(contentsOfFile: f.directory + "/trace", encoding: .utf8)
      wasInjected = trace.contains("(INJECTED)")
      if outcome.output.isEmpty {
        #expect([.exit(74), .exit(75)].contains(outcome.status), "\(nonce): \(outcome.status) \(outcome.stderr)")
        #expect(outcome.stderr.hasPrefix("dm-send: "))
      } else {
        #expect(outcome.status == .exit(0), "\(nonce): \(outcome.stderr)")
      }
      try check(f, outcome, nonce, at: #_sourceLocation)
    }
  }

  @Test(
    .enabled(if: canTrace, "needs strace"), arguments: ["pwrite64", "fdatasync", "write", "openat", "mkdir", "flock"])
  func `a first send that is killed leaves a store that the next send can use`(call: String) throws {
    var number = 0
    var wasWhole = false
    while !wasWhole {
      number += 1
      try #require(number < 200, "\(call) has no end")
      let f = try ToolFixture()
      let outcome = try f.run(
        "strace",
        [
          "-f", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(call):signal=SIGKILL:when=\(number)",
          ToolFixture.executable("dm-send"), "alice", "--nonce", "n", "first",
        ], as: "alice", validatedAs: "dm-send")
      wasWhole = outcome.status == .exit(0)
      Tally.add(.kills, wasWhole ? 0 : 1, in: "sends")
      // A reader accepts what is left: no store, a store without tables or without users, or a complete store.
      let list = try f.run("dm-list", as: "alice")
      #expect([.exit(0), .exit(66), .exit(67)].contains(list.status), "\(call) \(number): \(list.stderr)")
      let retry = try f.done("dm-send", ["alice", "--nonce", "n", "first"], as: "alice")
      if try !outcome.records.isEmpty { #expect(try retry.record["duplicate"]?.bool == true) }
      #expect(try f.sql("SELECT count(*) FROM message") == "1")
      try f.checkIntegrity()
    }
  }

  @Test func `a batch that is killed and repeated until it succeeds sends each line once`() throws {
    let f = try ToolFixture(copyOf: Self.template.get())
    let count = 6000
    let lines = (1...count).map { JSON.line(["conversation": "bob", "text": "\($0)", "nonce": "n\($0)"]) }
    let file = f.directory + "/batch.jsonl"
    try (lines.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
    var seed: UInt64 = 20_041_115
    var runs = 0
    var acknowledged: Set<String> = []
    while true {
      runs += 1
      try #require(runs < 100)
      let live = try LiveProcess(f, "sh", ["-c", "exec dm-send <'\(file)'"], as: "alice")
      // Killed after a pseudorandom number of answers, which is the same in each run of the test.
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      var left = runs < 8 ? Int(seed >> 33) % count : .max
      while left > 0, let line = try live.line(within: 30) {
        let record = try JSON(Array(line.utf8))
        if let nonce = record["nonce"]?.string { acknowledged.insert(nonce) }
        left -= 1
      }
      if left > 0 {
        #expect(live.finish().status == .exit(0))
        break
      }
      live.process.send(SIGKILL)
      Tally.add(.kills, in: "sends")
      #expect([.signal(SIGKILL), .exit(0)].contains(live.finish().status))
    }
    #expect(acknowledged.count == count)
    let counts = try f.sql("SELECT count(*), count(DISTINCT nonce) FROM message WHERE nonce IS NOT NULL")
    #expect(counts == "\(count)|\(count)")
    let texts = try f.sql("SELECT text FROM message WHERE nonce IS NOT NULL ORDER BY seq")
    #expect(texts == (1...count).map(String.init).joined(separator: "\n"))
    try f.checkIntegrity()
  }
}
