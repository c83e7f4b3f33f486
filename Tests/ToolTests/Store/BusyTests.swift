import Foundation
import Glibc
import JSONSupport
import Testing

/// Writes while another process holds a lock of the store.
///
/// Serialized, because the tests measure time.
@Suite(.serialized) struct BusyTests {
  static let writing: [(program: String, arguments: [String], input: String)] = [
    ("dm-send", ["bob", "hello"], ""),
    ("dm-send", [], #"{"conversation":"bob","text":"hello"}"# + "\n"),
    ("dm-user", ["add", "dave"], ""),
    ("dm-user", ["set", "--bio", "x"], ""),
    ("dm-conversation", ["create", "--title", "ops", "bob"], ""),
    ("dm-read", ["bob", "--all"], ""),
    ("dm-import", [], #"{"conversation":"old","sender":"eve","text":"hi","created_at":"2004-11-15T00:00:01Z"}"# + "\n"),
  ]

  /// Runs all writing calls at once while another process holds the store, and expects each to give up in time.
  private func expectBusy(_ f: ToolFixture, at location: SourceLocation = #_sourceLocation) throws {
    let before = try f.sql("SELECT count(*) FROM message")
    let start = ContinuousClock.now
    let runs = try Self.writing.map { call in
      try f.start(call.program, call.arguments, as: "alice", stdin: call.input.isEmpty ? .none : Input(call.input))
    }
    for (run, call) in zip(runs, Self.writing) {
      let outcome = try run.finish()
      #expect(outcome.status == .exit(75), "\(call.program): \(outcome.stderr)", sourceLocation: location)
      // Each line gets an answer, which says that the line may be tried again.
      for record in try outcome.records {
        #expect(record["code"]?.string == "busy" && record["retryable"] == .bool(true), sourceLocation: location)
      }
      #expect(outcome.stderr.contains("try again"), sourceLocation: location)
    }
    let elapsed = ContinuousClock.now - start
    #expect(elapsed > .seconds(4), sourceLocation: location)
    #expect(elapsed < .seconds(8), sourceLocation: location)
    #expect(try f.sql("SELECT count(*) FROM message") == before, sourceLocation: location)
  }

  @Test func `a write fails after five seconds if another process holds the lock`() throws {
    let f = try ToolFixture.filled()
    let holder = try LiveProcess(f, "flock", [f.store + "/store.lock", "-c", "echo held; read line"])
    #expect(try holder.line() == "held")
    try expectBusy(f)
    // Reading needs no lock.
    #expect(try f.done("dm-list", as: "alice").records.count == 1)
    #expect(try f.done("dm-tail", ["bob", "--peek"], as: "alice").records.count == 2)
    #expect(holder.finish().status != .overdue)
    try f.done("dm-send", ["bob", "again"], as: "alice")
  }

  @Test(arguments: ["0s", "1s"])
  func `a write waits as long as --busy-timeout says or, without this option, DM_BUSY_TIMEOUT`(time: String) throws {
    let f = try ToolFixture.filled()
    f.set("DM_BUSY_TIMEOUT", time)
    let holder = try LiveProcess(f, "flock", [f.store + "/store.lock", "-c", "echo held; read line"])
    #expect(try holder.line() == "held")
    let start = ContinuousClock.now
    #expect(try f.run("dm-send", ["bob", "x"], as: "alice").status == .exit(75))
    let elapsed = ContinuousClock.now - start
    #expect(elapsed >= (time == "0s" ? .zero : .seconds(1)) && elapsed < .seconds(4))
    let waiter = try f.start("dm-send", ["--busy-timeout", "1h", "bob", "x"], as: "alice")
    #expect(holder.finish().status != .overdue)
    #expect(try waiter.finish().status == .exit(0))
    for wrong in ["5", "-1s", "400d"] {
      #expect(try f.run("dm-send", ["--busy-timeout=\(wrong)", "bob", "x"], as: "alice").status == .exit(64))
    }
  }

  @Test func `dm-tail prints messages even if it cannot record their delivery in time`() throws {
    let f = try ToolFixture.filled()
    let holder = try LiveProcess(f, "flock", [f.store + "/store.lock", "-c", "echo held; read line"])
    #expect(try holder.line() == "held")
    let outcome = try f.run("dm-tail", ["bob"], as: "alice")
    #expect(outcome.status == .exit(0))
    #expect(try outcome.records.count == 2)
    #expect(holder.finish().status != .overdue)
  }

  @Test func `a write fails after five seconds if a foreign program holds a write transaction`() throws {
    let f = try ToolFixture.filled()
    let holder = try LiveProcess(f, "sqlite3", [f.store + "/dm.sqlite"])
    try holder.send("BEGIN IMMEDIATE; SELECT 'held';")
    #expect(try holder.line() == "held")
    // One write only: of several, one would hold the lock and wait for the foreign program, and the others would wait for it.
    let start = ContinuousClock.now
    let outcome = try f.run("dm-send", ["bob", "hello"], as: "alice")
    #expect(outcome.status == .exit(75), "\(outcome.stderr)")
    #expect(ContinuousClock.now - start < .seconds(8))
    #expect(try f.done("dm-tail", ["bob", "--peek"], as: "alice").records.count == 2)
    try holder.send("ROLLBACK;")
    #expect(holder.finish().status == .exit(0))
    try f.done("dm-send", ["bob", "again"], as: "alice")
    #expect(try f.sql("SELECT count(*) FROM message") == "3")
  }

  @Test func `a write waits for the lock and then succeeds`() throws {
    let f = try ToolFixture.filled()
    let holder = try LiveProcess(f, "flock", [f.store + "/store.lock", "-c", "echo held; read line"])
    #expect(try holder.line() == "held")
    let waiting = try LiveProcess(f, "dm-send", ["bob", "patient"], as: "alice", stdin: .null)
    try waitUntil(seconds: 4) { try lockWaiters(of: f) > 0 }
    holder.closeInput()
    #expect(try waiting.record()["text"]?.string == "patient")
    #expect(waiting.finish().status == .exit(0))
    #expect(holder.finish().status != .overdue)
  }

  /// How many processes wait for the lock: in /proc/locks, each is a line with an arrow (proc_locks(5)).
  private func lockWaiters(of f: ToolFixture) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: f.store + "/store.lock")
    let inode = try #require(attributes[.systemFileNumber] as? NSNumber)
    return try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n")
      .filter { $0.contains("->") && $0.contains(":\(inode) ") }.count
  }

  private func waitUntil(seconds: Double, _ condition: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while try !condition() {
      try #require(ContinuousClock.now < deadline, "the condition was not met in time")
      sched_yield()
    }
  }
}
