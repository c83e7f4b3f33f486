import Foundation
import Glibc
import JSONSupport
import Testing

/// Commands that are killed at random times: each acknowledged change exists, any other at most once, and a repetition succeeds.
@Suite(.serialized) struct KillTortureTests {
  private static let suite = "kills"

  private struct Scene {
    let f: ToolFixture
    var round = 0
    /// The lines of a round, with new nonces.
    var lines: [String] = []
    var acknowledged: Set<String> = []
  }

  enum Work: String, CaseIterable { case send, `import`, purge, repair, backup, restore, attach, edit }

  private static func begin() throws -> Scene {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    let lines = (1...2000).map { JSON.line(["conversation": "bob", "text": "word \($0)"]) }
    try f.done("dm-send", ["-q"], as: "alice", stdin: Input(lines: lines))
    try f.done("sh", ["-c", "head -c 3000000 /dev/urandom >'\(f.directory)/data'"])
    return Scene(f: f)
  }

  /// The command that is killed, as a script of sh(1).
  private func script(_ work: Work, _ scene: inout Scene) throws -> String {
    let (round, folder) = (scene.round, scene.f.directory)
    scene.lines = (1...600).map { number in
      let nonce = "k\(round).\(number)"
      if work != .import { return JSON.line(["conversation": "bob", "text": "text of \(nonce)", "nonce": nonce]) }
      let time =
        "20\(10 + round / 3600 % 60)-01-01T\(10 + round / 60 % 60 % 10):\(10 + round % 50):00.\(1000 + number)Z"
      return JSON.line([
        "conversation": "+old\(round)", "sender": "bob", "text": "text of \(nonce)", "nonce": nonce, "created_at": time,
      ])
    }
    if work != .send && work != .import { scene.lines = [] }
    try Data(scene.lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: folder + "/lines"))
    return switch work {
    case .send: "exec dm-send <'\(folder)/lines'"
    case .import: "exec dm-import <'\(folder)/lines'"
    case .purge: "exec dm-doctor purge -q"
    case .repair: "exec dm-doctor repair -q"
    case .backup: "exec dm-doctor backup -q '\(folder)/day'"
    case .restore: "exec dm-doctor --store '\(folder)/copy' restore -q '\(folder)/whole'"
    case .attach: "exec dm-attach --as-file -q '\(folder)/data'"
    case .edit: "exec dm-edit delete -q --for-everyone bob \(1 + round % 1900)..\(40 + round % 1900)"
    }
  }

  @Test func `a program killed at any time loses and duplicates nothing, and can be run again`() throws {
    var dice = Dice()
    var scene = try Self.begin()
    let f = scene.f
    try f.done("dm-doctor", ["backup", "-q", f.directory + "/whole"])
    var tries = Torture.Tries(24, seconds: 300)
    while tries.goOn() {
      scene.round += 1
      let work = dice.pick(Work.allCases)
      let what = "\(work) in round \(scene.round), DM_SEED=\(dice.seed)"
      let script = try script(work, &scene)
      let run = try f.start("sh", ["-c", script], as: "alice")
      // The command is killed at a random time.
      poll(nil, 0, Int32(dice.number(0...(dice.happens(oneIn: 3) ? 20 : 120))))
      run.process.send(SIGKILL)
      let outcome = try run.finish()
      if outcome.status == .signal(SIGKILL) { Tally.add(.kills, in: Self.suite) }
      let whole = outcome.output[..<(outcome.output.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0)]
      let nonces = try Contract.lines(of: Array(whole)).compactMap { try JSON($0.bytes)["nonce"]?.string }
      Tally.add(.acknowledged, nonces.count, in: Self.suite)
      scene.acknowledged.formUnion(nonces)
      try look(scene, what)
      // A killed restore leaves a complete store or none.
      let copy = f.directory + "/copy"
      if work == .restore, FileManager.default.fileExists(atPath: copy + "/dm.sqlite") {
        try f.done("dm-doctor", ["--store", copy, "check", "--deep"])
        try FileManager.default.removeItem(atPath: copy)
      }
      if work == .backup, FileManager.default.fileExists(atPath: f.directory + "/day") {
        let kept = try f.done("sqlite3", [f.directory + "/day", "PRAGMA integrity_check"]).stdout
        #expect(kept == "ok\n", "\(what)")
      }
      let again = try f.run("sh", ["-c", script], as: "alice")
      #expect([.exit(0), .exit(66)].contains(again.status), "\(what): \(again.status) \(again.stderr)")
      if !scene.lines.isEmpty { scene.acknowledged.formUnion((1...600).map { "k\(scene.round).\($0)" }) }
      if work == .restore {
        try f.done("dm-doctor", ["--store", copy, "check"])
        try FileManager.default.removeItem(atPath: copy)
      }
      if scene.round % 8 == 0 { try look(scene, what) }
    }
    try look(scene, "at the end")
    try f.done("dm-doctor", ["check", "--deep"])
  }

  /// Checks that each acknowledged message exists, and none twice.
  private func look(_ scene: Scene, _ what: String) throws {
    try scene.f.done("dm-doctor", ["check"])
    let found = try scene.f.sql("SELECT nonce FROM message WHERE nonce IS NOT NULL").split(separator: "\n").map(
      String.init)
    let kept = Set(found)
    let lost = scene.acknowledged.subtracting(kept)
    let twice = try scene.f.sql(
      "SELECT text FROM message WHERE text LIKE 'text of %' GROUP BY text HAVING count(*) > 1")
    Tally.add(.lost, lost.count, in: Self.suite)
    Tally.add(.doubled, twice.split(separator: "\n").count, in: Self.suite)
    #expect(lost.isEmpty, "\(what): \(lost.prefix(3)) of \(lost.count)")
    #expect(twice == "" && found.count == kept.count, "\(what)")
  }
}
