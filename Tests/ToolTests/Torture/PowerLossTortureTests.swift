import Foundation
import Glibc
import JSONSupport
import Testing

/// Power losses: each acknowledged change exists once afterwards.
@Suite(
  .serialized, .enabled(if: LoopDisk.isPossible, "needs root, mkfs.ext4 and loop devices"),
  .enabled(if: CrashTests.canTrace, "needs strace"))
struct PowerLossTortureTests {
  private static let suite = PowerLossModel.suite

  @Test func `a simulated power loss keeps synced files and loses unsynced ones`() throws {
    let disk = try LoopDisk()
    let folder = disk.f.directory + "/disk"
    try disk.f.done("sh", ["-c", "echo a >\(folder)/synced && sync -f \(folder)/synced && echo b >\(folder)/unsynced"])
    let after = try disk.afterPowerLoss()
    #expect(try after.f.done("cat", [after.f.directory + "/disk/synced"]).stdout == "a\n")
    #expect(!FileManager.default.fileExists(atPath: after.f.directory + "/disk/unsynced"))
  }

  /// The image of a synced disk whose store has what the actions need, and a cursor for its consumer.
  private static let filled = Result {
    let disk = try LoopDisk()
    try PowerLossModel.begin(on: disk.f)
    try "content".write(toFile: disk.f.directory + "/file", atomically: true, encoding: .utf8)
    let cursor = try disk.f.done("dm-tail", ["--consumer", "c", "--peek"], as: "bob").records.last?["cursor"]?.string
    try disk.f.done("sync", ["-f", disk.f.store])
    let f = try ToolFixture()
    try f.done("cp", ["--sparse=always", disk.f.directory + "/image", disk.f.directory + "/file", f.directory])
    return (f: f, cursor: try #require(cursor))
  }

  static let acts = [
    Act("dm-send", "bob", "--nonce", "n", "one", done: "SELECT count(*) = 1 FROM message WHERE nonce = 'n'"),
    Act(
      "dm-send", "bob", "--nonce", "n", "--as-file", "--attach", "BASE/file",
      done: "SELECT attachment_count = 1 FROM message WHERE nonce = 'n'"),
    Act(
      "dm-import",
      reading: JSON.line([
        "conversation": "+old", "sender": "carol", "text": "one", "nonce": "n", "created_at": "2020-01-01T10:00:00Z",
      ]) + "\n", done: "SELECT count(*) = 1 FROM message WHERE nonce = 'n'"),
    Act("dm-edit", "text", "bob:1", "other", done: "SELECT count(*) = 1 FROM message WHERE text = 'other'"),
    Act("dm-edit", "react", "👍", "bob:1", done: "SELECT count(*) = 1 FROM reaction"),
    Act("dm-edit", "delete", "bob:2", done: "SELECT count(*) = 1 FROM hidden_range", again: [0, 66]),
    Act(
      "dm-edit", "delete", "--for-everyone", "bob:2", done: "SELECT count(*) = 0 FROM message WHERE text = 'before 2'",
      again: [0, 66]),
    Act("dm-conversation", "pin", "bob", done: "SELECT max(is_pinned) FROM participant"),
    Act("dm-conversation", "mute", "bob", done: "SELECT count(*) = 1 FROM participant WHERE muted_until IS NOT NULL"),
    Act(
      "dm-conversation", "draft", "bob", "unsaid",
      done: "SELECT count(*) = 1 FROM participant WHERE draft_text = 'unsaid'"),
    Act("dm-read", "alice", "--all", as: "bob", done: "SELECT count(*) = 1 FROM receipt WHERE user = 2"),
    Act("dm-user", "block", "carol", done: "SELECT count(*) = 1 FROM block"),
    Act("dm-user", "set", "--bio", "new", done: "SELECT bio = 'new' FROM user WHERE id = 1"),
    Act("dm-tail", "--consumer", "c", "--ack", "CURSOR", as: "bob", done: "SELECT rev > 0 FROM consumer"),
  ]

  @Test(arguments: acts, ["signal=SIGKILL", "error=EIO"])
  func `a change that a retry acknowledged survives a power loss, however the first try failed`(act: Act, fault: String)
    throws
  {
    let (base, cursor) = try Self.filled.get()
    let names = ["BASE": base.directory, "CURSOR": cursor]
    // The fault is injected at a sync: that of the log, or an earlier one of an attachment's content.
    for number in 1...Torture.size(1, long: 2) {
      let disk = try LoopDisk(image: base.directory + "/image")
      let first = try act.run(disk.f, names, injecting: ("fdatasync", "\(fault):when=\(number)"))
      if fault == "signal=SIGKILL", first.status == .signal(SIGKILL) { Tally.add(.kills, in: Self.suite) }
      if first.status != .exit(0) {
        let retry = try act.run(disk.f, names)
        try #require(act.again.contains { retry.status == .exit($0) }, "\(retry.status) \(retry.stderr)")
      }
      Tally.add(.acknowledged, in: Self.suite)
      let after = try disk.afterPowerLoss()
      Tally.add(.powerLosses, in: Self.suite)
      let isThere = try after.f.sql(try #require(act.done)) == "1"
      Tally.add(.lost, isThere ? 0 : 1, in: Self.suite)
      #expect(isThere, "\(act), \(fault) at sync \(number): it was acknowledged and is lost")
      try after.f.done("dm-doctor", ["check", "--deep"])
      let again = try act.run(after.f, names)
      #expect(act.again.contains { again.status == .exit($0) }, "\(again.stderr)")
      #expect(try after.f.sql(try #require(act.done)) == "1", "\(act): the change must exist after another retry")
    }
  }

  @Test func `acknowledged changes survive power losses, kills and disk errors`() throws {
    var model = PowerLossModel(Dice())
    var disk = try LoopDisk()
    try PowerLossModel.begin(on: disk.f)
    var tries = Torture.Tries(12, seconds: 180)
    while tries.goOn() {
      for _ in 1...model.dice.number(1...5) { disk = try model.step(disk) }
      disk = try model.powerLoss(disk)
    }
  }

  /// Stops the process groups of these runs, and waits until no process runs, so that the files have all answers.
  private func stop(_ runs: [ToolFixture.Running]) throws {
    for run in runs { run.process.send(SIGSTOP, toGroup: true) }
    let all = runs.map { SeenProcess(pid: $0.process.pid) }
    try Torture.wait(until: "all have stopped", seconds: 30) {
      (all + all.flatMap(\.descendants)).allSatisfy { $0.isStopped || !$0.isAlive }
    }
  }

  private func acknowledged(_ paths: [String]) -> Set<String> {
    paths.reduce(into: []) { ids, path in
      let text = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
      let lines = text[..<(text.lastIndex(of: "\n") ?? text.startIndex)].split(separator: "\n")
      ids.formUnion(
        lines.compactMap { $0.firstMatch(of: /^{"type":"message","id":"([0-9a-f-]{36})"/)?.1 }.map(String.init))
    }
  }

  @Test func `a power loss at any time loses nothing that was acknowledged to a writer`() throws {
    var dice = Dice(1)
    let disk = try LoopDisk()
    let f = disk.f
    try PowerLossModel.begin(on: f)
    let scripts = [
      "while :; do dm-send bob 'a word'; done",
      "while :; do seq 1 50 | dm-send --lines bob; done",
      "while :; do dm-edit react 👍 alice:1; dm-edit react 👀 alice:1; dm-send alice hello; done",
      "while :; do date +%N | dm-attach --as-file --name f - --to alice | dm-send; done",
    ]
    let files = scripts.indices.map { "\(f.directory)/told.\($0)" }
    for file in files { #expect(FileManager.default.createFile(atPath: file, contents: nil)) }
    let runs = try zip(scripts, files).enumerated().map { index, writer in
      try f.start("sh", ["-c", writer.0], as: index < 2 ? "alice" : "bob", stdout: writer.1)
    }
    let upkeep = "while :; do dm-doctor purge -q; dm-read -q --as bob alice --all; done"
    let all = try runs + [f.start("sh", ["-c", upkeep], as: "alice")]
    defer { for run in all { run.process.send(SIGKILL, toGroup: true) } }
    var tries = Torture.Tries(12, seconds: 120)
    var before = 0
    while tries.goOn() {
      try Torture.wait(until: "they have gone on", seconds: 60) { acknowledged(files).count > before + 20 }
      poll(nil, 0, Int32(dice.number(0...60)))
      try stop(all)
      let answered = acknowledged(files)
      let after = try disk.afterPowerLoss()
      for run in all { run.process.send(SIGCONT, toGroup: true) }
      Tally.add(.powerLosses, in: Self.suite)
      Tally.add(.acknowledged, answered.count - before, in: Self.suite)
      before = answered.count
      try after.f.done("dm-doctor", ["check", "--deep"])
      let found = try after.f.sql("SELECT lower(hex(uuid)) FROM message").split(separator: "\n").map(String.init)
      let lost = Set(answered.map { $0.replacingOccurrences(of: "-", with: "") }).subtracting(found)
      Tally.add(.lost, lost.count, in: Self.suite)
      Tally.add(.doubled, 0, in: Self.suite)
      #expect(lost.isEmpty, "\(lost.count) of \(answered.count), DM_SEED=\(dice.seed)")
    }
  }
}
