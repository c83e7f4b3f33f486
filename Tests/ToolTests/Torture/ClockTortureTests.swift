import Foundation
import Glibc
import JSONSupport
import Testing

/// The wall clock is changed while programs write, follow and show typing.
///
/// faketime(1) changes the wall clock, but not the monotonic clock. With NO_FAKE_STAT, it does not shift the times of
/// files, so an older file keeps its time, as on a real machine.
@Suite(.enabled(if: ToolFixture.has("faketime"), "needs faketime")) struct ClockTortureTests {
  private static let steps = ["-1h", "-10y", "+50y"]

  /// The arguments of faketime(1) for a program whose clock follows the file `clock`.
  private func faked(_ f: ToolFixture, keepsFiles: Bool = true) -> [String] {
    [
      "-f", "+0", "env", "-u", "FAKETIME", "FAKETIME_TIMESTAMP_FILE=\(f.directory)/clock", "FAKETIME_NO_CACHE=1",
      "FAKETIME_DONT_FAKE_MONOTONIC=1",
    ] + (keepsFiles ? ["NO_FAKE_STAT=1"] : [])
  }

  private func set(_ f: ToolFixture, _ step: String) throws {
    // Writes the file by renaming, so that no program reads half of it.
    try (step + "\n").write(toFile: f.directory + "/clock", atomically: true, encoding: .utf8)
  }

  /// Ends the program, but not faketime(1), which then cleans up.
  private func end(_ live: LiveProcess, _ program: String, with signal: Int32 = SIGTERM) throws {
    try live.descendant(program).send(signal)
    _ = live.finish()
  }

  @Test func `faketime changes the wall clock of a program`() throws {
    let f = try ToolFixture()
    try set(f, "+50y")
    let now = Calendar(identifier: .gregorian).component(.year, from: Date())
    #expect(try f.run("faketime", faked(f) + ["date", "+%Y"]).stdout == "\(now + 50)\n")
  }

  @Test func `messages keep their order when the clock is changed, and their times follow the clock`() throws {
    let f = try ToolFixture.filled()
    let follower = try f.follower(as: "alice")
    var times: [String] = []
    for (number, step) in (["+0"] + Self.steps + ["+0"] + Self.steps.reversed() + ["-10y", "+0"]).enumerated() {
      try set(f, step)
      let user = number % 3 == 0 ? "alice" : "bob"
      try f.done(
        "faketime", faked(f) + ["dm-send", user == "alice" ? "bob" : "alice", "\(number)"], as: user)
      let record = try follower.record()
      #expect(record["text"]?.string == "\(number)")
      let time = try #require(record["created_at"]?.string)
      let clock = try f.run("faketime", faked(f) + ["date", "-u", "+%Y-%m-%dT%H"]).stdout
      #expect(time.prefix(11) == clock.prefix(11), "\(step)")
      times.append(time)
    }
    let history = try f.done("dm-tail", ["bob", "-n", "all"], as: "alice").records
    #expect(history.compactMap { $0["created_at"]?.string }.suffix(times.count) == times[...])
    try f.checkIntegrity()
  }

  @Test func `heartbeats and messages arrive although the clock of the follower is changed`() throws {
    let f = try ToolFixture.filled()
    try set(f, "+0")
    let words = ["dm-tail", "-f", "-n", "0", "--events", "message", "--heartbeat", "1s"]
    let follower = try LiveProcess(f, "faketime", faked(f) + words, as: "alice", stdin: .null)
    #expect(try follower.record()["type"]?.string == "caught_up")
    for (number, step) in (Self.steps + ["+0"]).enumerated() {
      try set(f, step)
      try f.done("dm-send", ["alice", "\(number)"], as: "bob")
      var beats = 0
      var texts: [String] = []
      while beats < Torture.size(1, long: 3) || texts.isEmpty {
        let record = try follower.record(within: Torture.bound(1.5))
        if record["type"]?.string == "heartbeat" { beats += 1 }
        if let text = record["text"]?.string { texts.append(text) }
      }
      #expect(texts == ["\(number)"])
    }
    try end(follower, "dm-tail")
  }

  /// A follower of typing or presence, with a heartbeat for each second.
  private func watcher(_ f: ToolFixture, _ kind: String, keepsFiles: Bool) throws -> LiveProcess {
    let words = ["dm-tail", "-f", "-n", "0", "--events", kind, "--heartbeat", "1s", "--invisible"]
    let live = try LiveProcess(
      f, "faketime", faked(f, keepsFiles: keepsFiles) + words, as: "alice", stdin: .null)
    #expect(try live.record()["type"]?.string == "caught_up")
    return live
  }

  /// The next record that is not a heartbeat; nil if none comes within a number of heartbeats.
  private func nextChange(_ watcher: LiveProcess, seconds: Int) throws -> JSON? {
    for _ in 0..<seconds {
      let record = try watcher.record()
      if record["type"]?.string != "heartbeat" { return record }
    }
    return nil
  }

  @Test(arguments: Torture.isLong ? steps : ["+50y"])
  func `typing stays visible when the clock is changed, and ends if it is not refreshed`(step: String) throws {
    let f = try ToolFixture.filled()
    try set(f, "+0")
    let watcher = try watcher(f, "typing", keepsFiles: true)
    try f.done("dm-typing", ["alice", "--on"], as: "bob")
    #expect(try nextChange(watcher, seconds: 3)?["users"]?.array == [.string("bob")])
    let files = try FileManager.default.contentsOfDirectory(atPath: f.store + "/live")
    let signal = f.store + "/live/" + (try #require(files.first { $0.hasSuffix(".bob") }))
    try set(f, step)
    // Another signal makes the watcher check all signals before the next refresh.
    try f.done("dm-typing", ["bob", "--on"], as: "alice")
    for _ in 1...6 {
      #expect(try nextChange(watcher, seconds: 1) == nil, "a refreshed signal prints nothing")
      // Sets the time that the kernel would give the file after the change of the clock.
      let touched = try f.shell("touch -d \"@$(faketime -f '\(step)' date +%s)\" '\(signal)'")
      #expect(touched.status == .exit(0), "\(touched.stderr)")
    }
    #expect(try nextChange(watcher, seconds: 8)?["users"]?.array == [])
    try end(watcher, "dm-tail")
  }

  @Test(.enabled(if: Torture.isLong, "takes a minute"), arguments: steps)
  func `typing stays visible when the clock of dm-typing is changed, and ends when dm-typing is killed`(step: String)
    throws
  {
    let f = try ToolFixture.filled()
    try set(f, "+0")
    let watcher = try watcher(f, "typing", keepsFiles: false)
    let typer = try LiveProcess(f, "faketime", faked(f, keepsFiles: false) + ["dm-typing", "alice"], as: "bob")
    #expect(try nextChange(watcher, seconds: 3)?["users"]?.array == [.string("bob")])
    try set(f, step)
    #expect(try nextChange(watcher, seconds: 7) == nil, "typing stays visible for longer than one signal lasts")
    try end(typer, "dm-typing", with: SIGKILL)
    #expect(try nextChange(watcher, seconds: 8)?["users"]?.array == [])
    try end(watcher, "dm-tail")
  }

  @Test(arguments: steps)
  func `typing that begins after a change of the clock is visible at once`(step: String) throws {
    let f = try ToolFixture.filled()
    try set(f, step)
    let watcher = try watcher(f, "typing", keepsFiles: false)
    let typer = try LiveProcess(f, "faketime", faked(f, keepsFiles: false) + ["dm-typing", "alice"], as: "bob")
    #expect(try nextChange(watcher, seconds: 3)?["users"]?.array == [.string("bob")])
    typer.closeInput()
    #expect(try nextChange(watcher, seconds: 3)?["users"]?.array == [])
    #expect(typer.finish().status == .exit(0))
    try end(watcher, "dm-tail")
  }

  @Test(.enabled(if: Torture.isLong, "takes minutes"), arguments: steps)
  func `presence stays visible when the clock is changed, and ends when the follower is killed`(step: String) throws {
    let f = try ToolFixture.filled()
    try set(f, "+0")
    let watcher = try watcher(f, "presence", keepsFiles: true)
    let follower = try f.follower(as: "bob")
    #expect(try nextChange(watcher, seconds: 3)?["is_online"]?.bool == true)
    try set(f, step)
    #expect(try nextChange(watcher, seconds: 40) == nil, "bob stays online for longer than one signal lasts")
    follower.process.send(SIGKILL)
    #expect(try nextChange(watcher, seconds: 33)?["is_online"]?.bool == false)
    try end(watcher, "dm-tail")
  }
}
