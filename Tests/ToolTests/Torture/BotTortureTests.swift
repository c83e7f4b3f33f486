import Foundation
import Glibc
import JSONSupport
import Testing

@testable import TestSupport

/// Bots whose processes are killed, and pipes that overlap: each message is answered once, in order.
@Suite(.serialized) struct BotTortureTests {
  private static let runBot = repository + "/examples/run-bot"

  /// A filter that answers each message, but each `failing`th line names a conversation that does not exist.
  ///
  /// Without a nonce, only the consumer prevents duplicate answers.
  private static func filter(failing: Int? = nil, nonce: Bool = false) -> [String] {
    let number = #"(.text | split(" ")[0] | tonumber)"#
    let conversation = failing.map { "(if \(number) % \($0) == 0 then \"+nowhere\" else .conversation_id end)" }
    return [
      "jq", "-c", "--unbuffered",
      #"(if .type == "message" and .text then {conversation: \#(conversation ?? ".conversation_id"), "#
        + #"text: "\(.text) echo"\#(nonce ? #", nonce: "echo:\(.id)""# : "")} else {} end) + {ack: .cursor}"#,
    ]
  }

  /// Runs a test with random numbers, and reports their seed if it fails.
  private func rolling(_ body: (inout Dice) throws -> Void) {
    var dice = Dice()
    do { try body(&dice) } catch { Issue.record(error, "DM_SEED=\(dice.seed)") }
  }

  private func expectAnswers(_ f: ToolFixture, to texts: [String], _ dice: Dice) throws {
    let answers = try f.done("dm-tail", ["alice", "-n", "all", "--peek"], as: "echo").records
      .filter { $0["sender"]?.string == "echo" }.compactMap { $0["text"]?.string }
    #expect(answers == texts.map { $0 + " echo" }, "DM_SEED=\(dice.seed)")
    try f.checkIntegrity()
  }

  @Test(arguments: [nil, Torture.size(20, long: 100)])
  func `a bot whose processes are killed again and again answers each message once`(failing: Int?) throws {
    rolling { dice in
      let f = try ToolFixture()
      try f.addUsers("alice", "echo")
      f.set("RUN_BOT_PAUSE", "0.05")
      let (total, kills) = (Torture.size(200, long: 3000), Torture.size(12, long: 300))
      let texts = (1...total).map { number in
        // Some texts are long, so that a killed process leaves half a line.
        "\(number) " + String(repeating: "x", count: number / 20 % 4 == 0 ? dice.number(2000...30000) : 20)
      }
      let expected = texts.indices.filter { index in failing.map { (index + 1) % $0 != 0 } ?? true }

      let answers = try f.follower(["--others"], as: "alice")
      let options = failing == nil ? ["--stop-at-failed"] : []
      let bot = try LiveProcess(
        f, Self.runBot, ["echo"] + options + ["--"] + Self.filter(failing: failing, nonce: failing != nil),
        as: "echo", stdin: .null)
      defer { bot.process.send(SIGTERM) }
      let sender = try LiveProcess(f, "dm-send", ["-q"], as: "alice")

      var (sent, answered) = (0, 0)
      func awaitAnswers(_ count: Int, seconds: Double) throws {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while answered < count {
          let left = (deadline - .now) / .seconds(1)
          let answer = try answers.record(within: max(0, left))
          try #require(answer["text"]?.string == texts[expected[answered]] + " echo", "after \(answered) answers")
          answered += 1
        }
      }
      for round in 1...kills {
        let most = 2 * total / kills
        let burst = round == kills ? total - sent : min(total - sent, dice.number(0...most))
        for text in texts[sent..<(sent + burst)] {
          try sender.send(JSON.line(["conversation": "echo", "text": text]))
        }
        sent += burst
        // Kills at once, between the answers, or after all of them.
        let open = expected.prefix { $0 < sent }.count - answered
        let awaited = round == kills ? 0 : [0, dice.number(0...open), open][dice.number(0...2)]
        try awaitAnswers(answered + awaited, seconds: 30)
        try bot.descendant(["dm-tail", "jq", "dm-send"][dice.number(0...2)]).send(SIGKILL)
      }
      Tally.add(.kills, kills, in: "bots")
      let lastKill = ContinuousClock.now
      try awaitAnswers(expected.count, seconds: 10)
      print("answered \(answered) of \(total), the last \(Torture.seconds(since: lastKill)) s after \(kills) kills")
      // A duplicate answer would come before the answer to this message.
      try sender.send(JSON.line(["conversation": "echo", "text": "1 last"]))
      let last = try answers.record()
      #expect(last["text"]?.string?.hasPrefix("1 last") == true, "DM_SEED=\(dice.seed)")

      try expectAnswers(f, to: expected.map { texts[$0] } + ["1 last"], dice)
      let consumer = try f.done("dm-tail", ["--consumers"], as: "echo").record
      #expect(consumer["skipped_count"]?.int == total - expected.count, "DM_SEED=\(dice.seed)")
      #expect(sender.finish().status == .exit(0))
      answers.process.send(SIGTERM)

      let started = bot.seen.descendants
      #expect(started.count >= 3)
      bot.process.send(SIGTERM)
      #expect(bot.finish(seconds: 5).status == .signal(SIGTERM))
      try Torture.wait(until: "all that the bot started is gone") { !started.contains(where: \.isAlive) }
    }
  }

  @Test func `the bot in the usage text of the run-bot script answers a message`() throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "echo")
    let script = try String(contentsOfFile: Self.runBot, encoding: .utf8)
    let shown = script.split(separator: "\n").filter { $0.hasPrefix("#   ") }.map { $0.dropFirst(2) }
    let command = "PATH=\"$PATH:\(repository)/examples\"; exec " + shown.joined(separator: "\n")
    let bot = try LiveProcess(f, "sh", ["-c", command], as: "echo", stdin: .null)
    defer { bot.process.send(SIGTERM) }
    let answers = try f.follower(["--others"], as: "alice")
    try f.done("dm-send", ["echo", "hello"], as: "alice")
    #expect(try answers.record()["text"]?.string == "echo: hello", "\(bot.stderr)")
  }

  @Test func `a filter that ignores SIGTERM ends when its bot ends`() throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "echo")
    let bot = try LiveProcess(
      f, Self.runBot, ["echo", "--", "sh", "-c", "trap '' TERM; while :; do jq -c '{}'; done"], as: "echo", stdin: .null
    )
    let started = try ["dm-tail", "jq", "dm-send"].map { try bot.descendant($0) } + bot.seen.descendants
    defer { for process in started where process.isAlive { process.send(SIGKILL) } }
    bot.process.send(SIGTERM)
    #expect(bot.finish(seconds: 5).status == .signal(SIGTERM))
    try Torture.wait(until: "all that the bot started is gone") { !started.contains(where: \.isAlive) }
  }

  @Test func `a bot that pauses between restarts ends at once on a signal`() throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "echo")
    f.set("RUN_BOT_PAUSE", "1000")
    let bot = try LiveProcess(f, Self.runBot, ["echo", "--"] + Self.filter(), as: "echo", stdin: .null)
    let started = bot.seen.descendants
    try bot.descendant("jq").send(SIGKILL)
    let pause = try bot.descendant("sleep")
    bot.process.send(SIGTERM)
    #expect(bot.finish(seconds: 5).status == .signal(SIGTERM))
    try Torture.wait(until: "all that the bot started is gone") { !(started + [pause]).contains(where: \.isAlive) }
  }

  @Test(arguments: [[], ["--stop-at-failed"]])
  func `the unfinished line of a killed bot is not counted as skipped and not acknowledged`(options: [String]) throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "echo")
    try f.sendNumbers(1...2, to: "echo", as: "alice")
    let cursors = try f.done("dm-tail", ["--consumer", "echo", "--cursor", "start", "--others"], as: "echo").records
      .compactMap { $0["cursor"]?.string }
    func line(_ index: Int) -> String {
      JSON.line(["conversation": "alice", "text": "\(index)", "ack": cursors[index]])
    }
    for cut in [1, line(1).utf8.count / 2, line(1).utf8.count] {
      let input = Array((line(0) + "\n").utf8) + Array(line(1).utf8.prefix(cut))
      let outcome = try f.run("dm-send", ["--consumer", "echo"] + options, as: "echo", stdin: .bytes(input))
      #expect(outcome.status == .exit(1), "\(outcome.stderr)")
      #expect(try outcome.records.last?["code"]?.string == "unfinished_line")
      let consumer = try f.done("dm-tail", ["--consumers"], as: "echo").record
      #expect(consumer["skipped_count"]?.int == 0 && consumer["cursor"]?.string == cursors[0])
    }
    let whole = try f.done("dm-send", ["--consumer", "echo"] + options, as: "echo", stdin: Input(lines: [line(1)]))
    #expect(try whole.record["text"]?.string == "1")
    #expect(try f.sql("SELECT count(*) FROM message") == "4")
  }

  @Test(arguments: [false, true])
  func `two pipes of one bot that run at once and restart at older lines answer each message once`(nonce: Bool) throws {
    rolling { dice in
      let f = try ToolFixture()
      try f.addUsers("alice", "echo")
      let total = Torture.size(300, long: 3000)
      try f.sendNumbers(1...total, to: "echo", as: "alice")
      let filter = Self.filter(nonce: nonce).map { "'\($0)'" }.joined(separator: " ")
      let lines = try f.shell("dm-tail --others --consumer echo --cursor start | \(filter)", as: "echo").stdout
        .split(separator: "\n").map(String.init)
      try #require(lines.count == total + 1, "a line for each message, and one for caught_up")

      struct Pipe {
        var sender: LiveProcess
        /// The index of the next line, and the indexes of the lines that are not answered yet.
        var next = 0
        var open: [Int] = []
      }
      func start(at number: Int) throws -> Pipe {
        Pipe(sender: try LiveProcess(f, "dm-send", ["--consumer", "echo"], as: "echo"), next: number)
      }
      var pipes = [try start(at: 0), try start(at: 0)]
      var answered = 0
      while answered < lines.count {
        let index = dice.number(0...1)
        if dice.happens(oneIn: 8) {
          // The process is killed before it has acknowledged all handled lines, and restarts with lines that were
          // handled before.
          pipes[index].sender.process.send(SIGKILL)
          Tally.add(.kills, in: "bots")
          pipes[index] = try start(at: max(0, answered - dice.number(0...30)))
        }
        for line in lines[pipes[index].next...].prefix(dice.number(0...20)) {
          try pipes[index].sender.send(line)
          pipes[index].open.append(pipes[index].next)
          pipes[index].next += 1
        }
        if dice.happens(oneIn: 4) { continue }
        for number in pipes[index].open {
          let answer = try pipes[index].sender.record()
          if let text = answer["text"]?.string {
            #expect(text == "\(number + 1)  echo", "DM_SEED=\(dice.seed)")
          } else {
            // The answer is to the last line, which is not a message, or to a line without a nonce that was handled before.
            #expect(answer["type"]?.string == "ack", "DM_SEED=\(dice.seed)")
            #expect(number == total || !nonce, "DM_SEED=\(dice.seed)")
          }
          answered = max(answered, number + 1)
        }
        pipes[index].open = []
      }
      for pipe in pipes { pipe.sender.process.send(SIGKILL) }
      try expectAnswers(f, to: (1...total).map { "\($0) " }, dice)
    }
  }
}
