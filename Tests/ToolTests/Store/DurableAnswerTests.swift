import Foundation
import Glibc
import JSONSupport
import Testing

/// Answers that depend on what another process committed.
///
/// A process that is killed, or gets an error, between writing and syncing the WAL leaves a commit that is only in the
/// page cache. The next process reads the commit from there.
@Suite(.enabled(if: CrashTests.canTrace, "needs strace")) struct DurableAnswerTests {
  struct Act: Sendable, CustomTestStringConvertible {
    let program: String
    let arguments: [String]
    /// The exit status of the same command when it is run again.
    var retryStatus: Int32 = 0

    var testDescription: String { "\(program) \(arguments.joined(separator: " "))" }
  }

  static let acts = [
    Act(program: "dm-send", arguments: ["bob", "--nonce", "n", "text"]),
    Act(program: "dm-send", arguments: ["--to", "bob", "--to", "+ops", "--nonce", "n", "text"]),
    Act(program: "dm-edit", arguments: ["text", "bob:1", "other"]),
    Act(program: "dm-edit", arguments: ["react", "👍", "bob:1"]),
    Act(program: "dm-edit", arguments: ["delete", "bob:1", "--for-everyone"], retryStatus: 66),
    Act(program: "dm-edit", arguments: ["delete", "bob:1"], retryStatus: 66),
    Act(program: "dm-conversation", arguments: ["pin", "bob"]),
    Act(program: "dm-conversation", arguments: ["add", "+ops", "carol"]),
    Act(program: "dm-conversation", arguments: ["mute", "bob"]),
    Act(program: "dm-user", arguments: ["block", "carol"]),
    Act(program: "dm-user", arguments: ["add", "dave"], retryStatus: 73),
    Act(program: "dm-read", arguments: ["bob", "--all"]),
    Act(program: "dm-tail", arguments: ["--consumer", "c", "--ack", "CURSOR"]),
  ]

  private static let template = Result {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob", "carol")
    try f.done("dm-send", ["bob", "one"], as: "alice")
    try f.done("dm-send", ["alice", "two"], as: "bob")
    try f.done("dm-conversation", ["create", "--title", "ops", "bob"], as: "alice")
    let stream = try f.done("dm-tail", ["--consumer", "c", "--cursor", "start"], as: "alice")
    return (store: f, cursor: try stream.records.last?["cursor"]?.string ?? "")
  }

  /// The system calls of a run, in order: writes and syncs of the WAL, and answers.
  private func calls(_ f: ToolFixture, _ act: Act, _ words: [String]) throws -> [String] {
    let trace = f.directory + "/calls"
    let outcome = try f.run(
      "strace",
      ["-f", "-y", "-s", "0", "-o", trace, "-e", "trace=pwrite64,write,fdatasync"]
        + [try ToolFixture.executable(act.program)] + words, as: "alice", validatedAs: act.program)
    #expect(outcome.status == .exit(act.retryStatus), "\(outcome.status) \(outcome.stderr)")
    return try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n").compactMap { line in
      if line.contains("fdatasync(") && line.contains("dm.sqlite-wal>") { return "sync" }
      if line.contains("pwrite64(") && line.contains("dm.sqlite-wal>") { return "write" }
      if line.contains(" write(1<") || line.contains(" write(2<") { return "answer" }
      return nil
    }
  }

  @Test(arguments: acts, ["signal=SIGKILL", "error=EIO"])
  func `a repeated command whose change is in the log answers only after a sync of the log`(act: Act, fault: String)
    throws
  {
    let (template, cursor) = try Self.template.get()
    let f = try ToolFixture(copyOf: template)
    let words = act.arguments.map { $0 == "CURSOR" ? cursor : $0 }
    let log = f.store + "/dm.sqlite-wal"
    let bytes = try Data(contentsOf: URL(fileURLWithPath: log)).count
    let broken = try f.run(
      "strace", try f.meddling("fdatasync", "\(fault):when=1", act.program) + words, as: "alice",
      validatedAs: act.program)
    #expect(broken.status == (fault == "error=EIO" ? .exit(74) : .signal(SIGKILL)), "\(broken.stderr)")
    #expect(broken.output.isEmpty)
    try #require(try Data(contentsOf: URL(fileURLWithPath: log)).count > bytes, "the commit is not in the log")
    let calls = try calls(f, act, words)
    let synced = try #require(calls.firstIndex(of: "sync"), "nothing was synced: \(calls)")
    #expect(
      calls[..<synced].contains("write"), "the log must be written again, because a failed sync may lose its pages")
    if let answer = calls.firstIndex(of: "answer") { #expect(synced < answer, "\(calls)") }
    // The third run does not write or sync, because the commit is recorded as synced.
    let third = try self.calls(f, act, words)
    if ["dm-send", "dm-edit"].contains(act.program), act.arguments[0] != "react" {
      #expect(third.filter { $0 != "answer" }.isEmpty, "\(third)")
    }
    try f.checkIntegrity()
  }

  @Test func `a send waits for the disk once, and also for the folder of a log that has no frames`() throws {
    let (template, _) = try Self.template.get()
    let f = try ToolFixture(copyOf: template)
    /// The files and folders that are synced by one send, in order.
    func synced() throws -> [String] {
      let trace = f.directory + "/calls"
      try f.done(
        "strace",
        ["-f", "-y", "-o", trace, "-e", "trace=fsync,fdatasync", try ToolFixture.executable("dm-send"), "bob", "text"],
        as: "alice")
      let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
      return lines.compactMap { line in
        line.split(separator: "/").last?.split(separator: ">").first.map(String.init)
      }.filter { !$0.contains("exited") }
    }
    _ = try synced()
    #expect(try synced() == ["dm.sqlite-wal"])
    // The sqlite3 shell removes the log when it closes the store.
    _ = try f.run("sqlite3", [f.store + "/dm.sqlite", "PRAGMA user_version"], as: "alice")
    let folder = try #require(f.store.split(separator: "/").last.map(String.init))
    #expect(try synced().first == folder)
    #expect(try synced() == ["dm.sqlite-wal"])
    try f.checkIntegrity()
  }

  @Test func `no change is acknowledged while every fdatasync fails`() throws {
    let f = try ToolFixture(copyOf: Self.template.get().store)
    for _ in 1...3 {
      let outcome = try f.run(
        "strace", try f.meddling("fdatasync", "error=EIO", "dm-send") + ["bob", "--nonce", "n", "text"], as: "alice",
        validatedAs: "dm-send")
      #expect(outcome.status == .exit(74), "\(outcome.status) \(outcome.stderr)")
      #expect(outcome.output.isEmpty)
    }
    #expect(try f.done("dm-send", ["bob", "--nonce", "n", "text"], as: "alice").record["duplicate"]?.bool == true)
    #expect(try f.sql("SELECT count(*) FROM message WHERE nonce = 'n'") == "1")
  }

  @Test func `a first write syncs each new folder of the store, and its parent, before it answers`() throws {
    let f = try ToolFixture()
    f.set("DM_STORE", f.directory + "/one/two/store")
    let trace = f.directory + "/calls"
    let outcome = try f.run(
      "strace",
      [
        "-f", "-y", "-o", trace, "-e", "trace=fsync,fdatasync,write", try ToolFixture.executable("dm-send"), "alice",
        "hi",
      ],
      as: "alice", validatedAs: "dm-send")
    #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    let calls = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
    let answer = try #require(calls.firstIndex { $0.contains(" write(1<") })
    for folder in [f.directory, f.directory + "/one", f.directory + "/one/two", f.directory + "/one/two/store"] {
      #expect(calls[..<answer].contains { $0.contains("sync(") && $0.contains("<\(folder)>") }, "\(folder)")
    }
  }
}
