import Foundation
import JSONSupport
import Testing

/// Random actions, and the changes that their answers acknowledge.
struct PowerLossModel {
  /// For each subject, SQL that returns 1 if the acknowledged change is stored; a later action on the subject replaces it.
  private(set) var promises: [String: String] = [:]
  private var cursor: String?
  private var number = 0
  /// The ids of messages that were acknowledged and that nobody has deleted.
  private var sent: [String] = []
  var dice: Dice

  static let suite = "power-loss"

  init(_ dice: Dice) { self.dice = dice }

  static func begin(on f: ToolFixture) throws {
    try f.addUsers("alice", "bob", "carol")
    let lines = (1...3).map { JSON.line(["conversation": "bob", "text": "before \($0)"]) }
    try f.done("dm-send", ["-q"], as: "alice", stdin: Input(lines: lines))
    try f.done("dm-send", ["-q", "carol", "hello"], as: "alice")
    try f.done("dm-tail", ["--consumer", "c", "--cursor", "start"], as: "bob")
  }

  private static func blob(_ id: String) -> String { "x'\(id.replacingOccurrences(of: "-", with: ""))'" }

  /// A random action, and its subject.
  private mutating func act(_ f: ToolFixture) throws -> (act: Act, about: String) {
    number += 1
    let n = "n\(number)"
    let said = "SELECT count(*) = 1 FROM message WHERE nonce = '\(n)'"
    switch dice.number(0...8) {
    case 0 where !sent.isEmpty:
      let id = dice.pick(sent)
      let done = "SELECT text = 'edited \(n)' FROM message WHERE uuid = \(Self.blob(id))"
      return (Act("dm-edit", "text", id, "edited \(n)", done: done), "text \(id)")
    case 1 where sent.count > 3:
      let id = sent.remove(at: dice.number(0...(sent.count - 1)))
      promises["text \(id)"] = nil
      promises["reaction \(id)"] = nil
      let done = "SELECT deleted_at IS NOT NULL AND text IS NULL FROM message WHERE uuid = \(Self.blob(id))"
      return (Act("dm-edit", "delete", "--for-everyone", id, done: done, again: [0, 66]), "deletion \(id)")
    case 2 where !sent.isEmpty:
      let (id, emoji) = (dice.pick(sent), dice.pick(["👍", "👀", "🎉"]))
      let done = """
        SELECT count(*) = 1 FROM reaction r JOIN message m ON m.id = r.message
        WHERE m.uuid = \(Self.blob(id)) AND emoji = '\(emoji)'
        """
      return (Act("dm-edit", "react", emoji, id, as: "bob", done: done), "reaction \(id)")
    case 3:
      let isPinned = dice.happens(oneIn: 2)
      let done = """
        SELECT is_pinned = \(isPinned ? 1 : 0) FROM participant WHERE user = 1
        AND conversation = (SELECT id FROM conversation WHERE direct_low = 1 AND direct_high = 2)
        """
      return (Act("dm-conversation", isPinned ? "pin" : "unpin", "bob", done: done), "pin")
    case 4:
      let events = try f.done("dm-tail", ["--consumer", "c", "--peek"], as: "bob").records
      let cursor = try #require(events.last?["cursor"]?.string)
      return (Act("dm-tail", "--consumer", "c", "--ack", cursor, as: "bob"), "cursor")
    case 5:
      let path = "\(f.directory)/file"
      try Data((0..<dice.number(1...20_000)).map { _ in UInt8.random(in: 0...255, using: &dice) })
        .write(to: URL(filePath: path))
      return (
        Act("dm-send", "bob", "--nonce", n, "text of \(n)", "--as-file", "--attach", path, done: said), "nonce \(n)"
      )
    case 6:
      let fraction = "\(1_000_000 + number)".suffix(6)
      let line = JSON.line([
        "conversation": "+old", "sender": "carol", "text": "text of \(n)", "nonce": n,
        "created_at": "2020-01-01T10:00:00.\(fraction)Z",
      ])
      // The times of imported messages must increase.
      return (Act("dm-import", reading: line + "\n", done: said), "nonce \(n)")
    case 7:
      let blocks = dice.happens(oneIn: 2)
      let done = "SELECT count(*) = \(blocks ? 1 : 0) FROM block"
      return (Act("dm-user", blocks ? "block" : "unblock", "carol", done: done), "block")
    default: return (Act("dm-send", "bob", "--nonce", n, "text of \(n)", done: said), "nonce \(n)")
    }
  }

  private mutating func keep(_ act: Act, _ about: String, _ outcome: Outcome) throws {
    Tally.add(.acknowledged, in: Self.suite)
    promises[about] = act.done
    if about == "cursor" { cursor = act.arguments.last }
    let record = try outcome.records.first
    if act.program == "dm-send", let id = record?["id"]?.string { sent.append(id) }
  }

  /// Runs a random action, perhaps with an injected fault and a power loss, and then again until it succeeds.
  ///
  /// - Returns: the disk to continue with.
  mutating func step(_ disk: LoopDisk) throws -> LoopDisk {
    var disk = disk
    let (act, about) = try act(disk.f)
    promises[about] = nil
    if about == "cursor" { cursor = nil }
    let faults = ["signal=SIGKILL", "error=EIO", "error=ENOSPC"]
    let calls = ["fdatasync", "fdatasync", "pwrite64", "fsync", "write", "utimensat", "fcntl", "ftruncate", "rename"]
    if dice.happens(oneIn: 2) {
      let (call, fault) = (dice.pick(calls), dice.pick(faults))
      // Failing locks are not tested here, only kills.
      let what = call == "fcntl" ? faults[0] : fault
      let outcome = try act.run(
        disk.f, injecting: (call, "\(what):when=\(dice.number(1...(call == "fcntl" ? 30 : 4)))"))
      if outcome.status == .signal(9) { Tally.add(.kills, in: Self.suite) }
      #expect(outcome.status != .overdue, "\(act) with \(what) at \(call)")
      if outcome.status == .exit(0) {
        try keep(act, about, outcome)
        return disk
      }
      if dice.happens(oneIn: 4) { disk = try powerLoss(disk) }
    }
    let outcome = try act.run(disk.f)
    let isDone = act.again.contains { outcome.status == .exit($0) }
    try #require(isDone, "\(act): \(outcome.stderr) DM_SEED=\(dice.seed)")
    try keep(act, about, outcome)
    return disk
  }

  /// - Returns: the disk after a power loss, which must have all acknowledged changes.
  func powerLoss(_ disk: LoopDisk) throws -> LoopDisk {
    let disk = try disk.afterPowerLoss()
    Tally.add(.powerLosses, in: Self.suite)
    // A program opens the store first, as after a real power loss.
    try disk.f.done("dm-list", as: "alice")
    let check = try disk.f.run("dm-doctor", ["check", "--deep"])
    #expect(check.status == .exit(0), "\(check.stdout)\(check.stderr) DM_SEED=\(dice.seed)")
    let kept = promises.sorted { $0.key < $1.key }
    let found = try disk.f.sql(kept.map { "SELECT coalesce((\($0.value)), 0);" }.joined() + "SELECT 1")
    let lost = zip(kept, found.split(separator: "\n")).filter { $1 != "1" }.map(\.0.key)
    let twice = try disk.f.sql("SELECT text FROM message WHERE text LIKE 'text of %' GROUP BY text HAVING count(*) > 1")
    var stored: String?
    if cursor != nil { stored = try disk.f.done("dm-tail", ["--consumers"], as: "bob").record["cursor"]?.string }
    let isBehind = stored != cursor
    Tally.add(.lost, lost.count + (isBehind ? 1 : 0), in: Self.suite)
    Tally.add(.doubled, twice.split(separator: "\n").count, in: Self.suite)
    try #require(lost.isEmpty && !isBehind, "lost: \(lost) \(isBehind ? "cursor" : "") DM_SEED=\(dice.seed)")
    #expect(twice == "", "DM_SEED=\(dice.seed)")
    return disk
  }
}
