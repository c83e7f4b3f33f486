import Foundation
import Glibc
import JSONSupport
import Testing

/// A bot's sender that is killed at each of its system calls.
@Suite(.enabled(if: CrashTests.canTrace, "needs strace")) struct CommitTortureTests {
  static let calls =
    ["fdatasync", "utimensat", "write"] + (Torture.isLong ? ["pwrite64", "ftruncate", "openat", "fcntl", "flock"] : [])

  @Test(arguments: calls)
  func `an answer and its acknowledgement are stored together or not at all`(call: String) throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "echo")
    var number = 0
    var wasWhole = false
    while !wasWhole {
      number += 1
      try #require(number < 200, "\(call) has no end")
      try f.done("dm-send", ["echo", "\(number)"], as: "alice")
      let records = try f.done("dm-tail", ["--consumer", "echo", "--cursor", "start", "--others"], as: "echo").records
      let question = try #require(records.last { $0["type"]?.string == "message" })
      #expect(question["text"]?.string == "\(number)", "the last message is not in the stream")
      let cursor = try #require(question["cursor"]?.string)
      // Without a nonce, so that only the acknowledgement prevents a second answer.
      let line = JSON.line(["conversation": "alice", "text": "answer \(number)", "ack": cursor])
      let words = try f.meddling(call, "signal=SIGKILL:when=\(number)", "dm-send") + ["--consumer", "echo"]
      let outcome = try f.run("strace", words, as: "echo", stdin: Input(lines: [line]), validatedAs: "dm-send")
      wasWhole = outcome.status == .exit(0)

      let answers = "SELECT count(*) FROM message WHERE text = 'answer \(number)'"
      let stored = try f.done("dm-tail", ["--consumers"], as: "echo").record["cursor"]?.string
      #expect(try f.sql(answers) == (stored == cursor ? "1" : "0"), "\(call) \(number)")
      if try !outcome.records.isEmpty { #expect(stored == cursor, "the answer was printed, but not acknowledged") }
      // A restarted pipe sends the line again.
      try f.done("dm-send", ["--consumer", "echo"], as: "echo", stdin: Input(lines: [line]))
      #expect(try f.sql(answers) == "1", "\(call) \(number)")
    }
    try f.checkIntegrity()
    Tally.add(.kills, number - 1, in: "bots")
    print("killed a bot's sender at \(number - 1) calls of \(call)")
  }
}
