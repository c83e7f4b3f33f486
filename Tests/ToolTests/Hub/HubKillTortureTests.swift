import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// Kills a join, send, sync, move or leave at a system call, and runs it again: its effect must be there once.
@Suite(.serialized, .enabled(if: CrashTests.canTrace, "needs strace")) struct HubKillTortureTests {
  private static let suite = "hub-kills"
  private static let calls = [
    "pwrite64", "fdatasync", "fsync", "ftruncate", "sendto", "recvfrom", "rename", "unlink", "openat", "connect",
    "flock",
  ]

  enum Work: String, CaseIterable { case join, send, carry, move, leave }

  /// A hub, and a machine with a message to push and one to pull.
  private final class Scene {
    let hub: HubFixture
    let bob: ToolFixture
    let alice: ToolFixture

    init() throws {
      hub = try HubFixture()
      bob = try hub.machine("bob")
      alice = try hub.machine("alice")
      try alice.done("dm-send", ["bob", "one"])
      try alice.sync()
      try bob.sync()
      try bob.done("dm-send", ["alice", "two"])
      try bob.sync()
      try alice.done("dm-send", ["bob", "three"])
    }

    /// The machine on which the program is killed, and the program's command.
    func machine(_ work: Work) throws -> (machine: ToolFixture, words: [String]) {
      guard work == .join else {
        let words: [Work: [String]] = [
          .send: ["dm-send", "bob", "four", "--nonce", "4"], .carry: ["dm-sync"], .leave: ["dm-sync", "leave"],
          .move: ["dm-sync", "move", "localhost:\(hub.server.port)", "--ca", "\(hub.server.folder)/data/server.crt"],
        ]
        if work == .leave {
          let leaving = try hub.machine("carol")
          return (leaving, words[.leave] ?? [])
        }
        let copy = try ToolFixture(copyOf: alice)
        copy.set("DM_SYNC", "off")
        return (copy, words[work] ?? [])
      }
      let machine = try ToolFixture()
      machine.set("DM_SYNC", "off")
      return (machine, ["dm-sync", "join", try hub.invite("carol")])
    }

    func check(_ work: Work, _ machine: ToolFixture, _ words: [String], _ what: String) throws {
      // A sync must work with the machine's present address and certificate, whether new or old.
      if work == .move { try machine.sync() }
      let again = try machine.run(words[0], Array(words.dropFirst()))
      switch work {
      case .leave:
        #expect(again.status == .exit(0), "\(what): \(again.status) \(again.stderr)")
        #expect(try machine.done("dm-sync", ["status"]).record["state"]?.string == "left", "\(what)")
      case .join:
        #expect(again.status == .exit(0), "\(what): \(again.status) \(again.stderr)")
        #expect(try machine.sync().record["user"]?.string == "carol", "\(what)")
        #expect(!FileManager.default.fileExists(atPath: machine.store + "/hub.new"), "\(what)")
      case .send, .carry, .move:
        if work == .move {
          #expect(try machine.credentials("host") == "localhost", "\(what)")
          let files = try FileManager.default.contentsOfDirectory(atPath: machine.store)
          #expect(try files.filter { $0.hasSuffix(".crt") } == [machine.credentials("ca")], "\(what)")
          #expect(!FileManager.default.fileExists(atPath: machine.store + "/hub.moved"), "\(what)")
        }
        #expect(again.status == .exit(0), "\(what): \(again.status) \(again.stderr)")
        try machine.sync()
        let texts = try machine.texts("bob").map { String($0.drop { $0 != " " }.dropFirst()) }
        #expect(texts.prefix(3).sorted() == ["one", "three", "two"], "\(what): \(texts)")
        #expect(Set(texts).count == texts.count, "\(what): \(texts)")
        #expect(try machine.done("dm-sync", ["pending"]).records.isEmpty, "\(what)")
      }
      try machine.done("dm-doctor", ["check", "--deep"])
    }
  }

  @Test(arguments: Work.allCases) func `a program that is killed at any system call and run again has its effect once`(
    work: Work
  ) throws {
    let scene = try Scene()
    var dice = Dice()
    var points: [(call: String, number: Int)] = []
    let (whole, words) = try scene.machine(work)
    let trace = whole.directory + "/trace"
    let program = try ToolFixture.executable(words[0])
    try whole.done(
      "strace", ["-f", "-o", trace, "-e", "trace=\(Self.calls.joined(separator: ","))", program] + words.dropFirst())
    let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
    for call in Self.calls {
      let count = lines.filter { $0.contains(" \(call)(") }.count
      points += (1..<(count + 1)).map { (call, $0) }
    }
    // The dynamic loader opens its cache and three libraries before the program runs.
    points = points.filter { $0.call != "openat" || $0.number > 4 }.shuffled(using: &dice)
    var tries = Torture.Tries(26, seconds: 300)
    for point in points where tries.goOn() {
      let (machine, words) = try scene.machine(work)
      let what = "\(work) killed at \(point.call) number \(point.number), DM_SEED=\(Dice.seed)"
      let killed = try machine.run(
        "strace",
        machine.meddling(point.call, "signal=SIGKILL:when=\(point.number)", words[0]) + words.dropFirst())
      if killed.status == .signal(SIGKILL) { Tally.add(.kills, in: Self.suite) }
      try scene.check(work, machine, words, what)
    }
    // A message that was pushed twice is in the log once.
    let twice = try scene.hub.sql("SELECT payload FROM dm.entry WHERE kind = 0 GROUP BY payload HAVING count(*) > 1")
    Tally.add(.doubled, twice.split(separator: "\n").count, in: Self.suite)
    #expect(twice == "", "\(work)")
  }

  @Test func `a bot on a hub answers each message once, whichever process is killed`() throws {
    var dice = Dice()
    let hub = try HubFixture()
    let bot = try hub.machine("echo")
    let alice = try hub.machine("alice")
    let filter =
      #"{ack: .cursor} + if .type == "message" and .text then {conversation: .conversation_id, "#
      + #"text: "\(.text) echo", nonce: .id} else {} end"#
    let pipe = "dm-tail --others --consumer echo --cursor start | jq -c '\(filter)' | dm-send --consumer echo -q"
    var tries = Torture.Tries(12, seconds: 900)
    var sent = 0
    while tries.goOn() {
      for _ in 0..<dice.number(1...5) {
        sent += 1
        try alice.done("dm-send", ["-q", "echo", "\(sent)"])
      }
      for (machine, script) in [
        (alice, "exec dm-sync -q"), (bot, "exec dm-sync -q"), (bot, pipe), (bot, "exec dm-sync -q"),
      ] {
        let run = try machine.start("sh", ["-c", script])
        if dice.happens(oneIn: 2) {
          // The process is killed at a random time.
          poll(nil, 0, Int32(dice.number(0...60)))
          run.process.send(SIGKILL, toGroup: true)
          Tally.add(.kills, in: Self.suite)
        }
        _ = try run.finish()
      }
    }
    for _ in 0..<2 {
      try alice.sync()
      try bot.sync()
      _ = try bot.shell(pipe)
      try bot.sync()
    }
    try alice.sync()
    let texts = try alice.done("dm-tail", ["--peek", "-n", "all", "echo"]).records.compactMap { $0["text"]?.string }
    let answers = texts.filter { $0.hasSuffix(" echo") }
    Tally.add(.acknowledged, sent, in: Self.suite)
    #expect(answers.count == sent && Set(answers).count == sent, "\(sent) sent: \(answers) DM_SEED=\(dice.seed)")
    #expect(Set(answers) == Set((1...sent).map { "\($0) echo" }), "DM_SEED=\(dice.seed)")
    for machine in [alice, bot] { try machine.done("dm-doctor", ["check", "--deep"]) }
  }
}
