import Foundation
import Glibc
import JSONSupport
import Testing

@Suite struct SignalTests {
  /// A store with more messages than fit into a pipe.
  private func long() throws -> ToolFixture {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    let filler = String(repeating: "x", count: 90)
    let lines = (1...3000).map { JSON.line(["conversation": "bob", "text": "\($0) \(filler)"]) }
    try f.done("dm-send", as: "alice", stdin: Input(lines: lines))
    return f
  }

  @Test(arguments: ["", "trap '' PIPE; "])
  func `dm-tail stops without an error text when its reader goes away`(before: String) throws {
    let f = try long()
    let outcome = try f.shell(
      before + "{ dm-tail bob -n all --peek; echo $? >&2; } | head -n 1", as: "alice", validatedAs: "dm-tail")
    #expect(try outcome.records.count == 1)
    #expect(outcome.stderr == "\(128 + SIGPIPE)\n")
  }

  @Test(arguments: ["", "trap '' PIPE; "])
  func `dm-send stops without an error text when the reader of its answers goes away`(before: String) throws {
    let f = try long()
    let line = JSON.line(["conversation": "bob", "text": "more"])
    let outcome = try f.shell(
      before + "yes '\(line)' | { dm-send; echo $? >&2; } | head -n 1", as: "alice", validatedAs: "dm-send")
    #expect(try outcome.records.count == 1)
    // If SIGPIPE does not kill yes(1), it prints an error of its own, which does not matter here.
    #expect(outcome.stderr.split(separator: "\n").contains { $0 == "\(128 + SIGPIPE)" })
    try f.checkIntegrity()
  }

  @Test(arguments: [SIGTERM, SIGINT])
  func `dm-tail that is ended by a signal has written only complete lines`(number: Int32) throws {
    let f = try long()
    let live = try LiveProcess(f, "dm-tail", ["bob", "-n", "all", "--peek"], as: "alice")
    _ = try live.record()
    live.process.send(number)
    let outcome = live.finish()
    #expect(outcome.status == .signal(number))
    #expect(outcome.output.last == 0x0A)
    try Contract.check(outcome.output, of: "dm-tail", at: #_sourceLocation)
  }

  /// A model that translates each message into itself.
  private static let echo = "jq -cR 'fromjson? | objects | {ref, text}'"

  @Test(arguments: [SIGTERM, SIGINT])
  func `dm-digest whose translations nobody reads is ended by a signal`(number: Int32) throws {
    let f = try long()
    let options = ["bob", "--since", "1", "--translate", "de", "--tokens", "100000", "--model", Self.echo]
    let live = try LiveProcess(f, "dm-digest", options, as: "alice")
    // The first translations fill the pipe, so the program waits for a reader.
    _ = try live.record()
    live.process.send(number)
    let outcome = live.finish()
    #expect(outcome.status == .signal(number))
  }

  @Test func `dm-digest stops without an error text when the reader of its translations goes away`() throws {
    let f = try long()
    let outcome = try f.shell(
      "{ dm-digest bob --since 1 --translate de --tokens 100000 --model \"\(Self.echo)\"; echo $? >&2; } | head -n 1",
      as: "alice", validatedAs: "dm-digest")
    #expect(try outcome.records.count == 1)
    #expect(outcome.stderr == "\(128 + SIGPIPE)\n")
  }

  @Test(arguments: [SIGTERM, SIGINT])
  func `dm-send that waits for a line is ended by a signal`(number: Int32) throws {
    let f = try long()
    let live = try LiveProcess(f, "dm-send", as: "alice")
    try live.send(JSON.line(["conversation": "bob", "text": "once"]))
    #expect(try live.record()["seq"]?.int == 3001)
    live.process.send(number)
    let outcome = live.finish()
    #expect(outcome.status == .signal(number))
    #expect(outcome.output.isEmpty)
    try f.checkIntegrity()
  }

  @Test func `dm-send answers each line before the next one is sent`() throws {
    let f = try long()
    let live = try LiveProcess(f, "dm-send", as: "alice")
    for number in 3001...3020 {
      try live.send(JSON.line(["conversation": "bob", "text": "line \(number)"]))
      #expect(try live.record()["seq"]?.int == number)
    }
    try live.send("no JSON")
    #expect(try live.record()["line"]?.int == 21)
    let outcome = live.finish()
    #expect(outcome.status == .exit(1))
    #expect(outcome.output.isEmpty)
  }

  @Test func `dm-send --lines answers each text before the next one is sent`() throws {
    let f = try long()
    let live = try LiveProcess(f, "dm-send", ["--lines", "bob"], as: "alice")
    for number in 3001...3005 {
      try live.send("line \(number)")
      #expect(try live.record()["seq"]?.int == number)
    }
    #expect(live.finish().status == .exit(0))
  }

  @Test func `dm-import answers each line before the next one is sent`() throws {
    let f = try ToolFixture()
    let live = try LiveProcess(f, "dm-import")
    for second in 1...5 {
      let time = "2004-11-15T00:00:0\(second)Z"
      try live.send(JSON.line(["conversation": "old", "sender": "eve", "text": "hi", "created_at": time]))
      #expect(try live.record()["seq"]?.int == second)
    }
    #expect(live.finish().status == .exit(0))
  }

  @Test(arguments: ["dm-send", "dm-import", "dm-read"])
  func `a program does not wait for lines from a terminal`(program: String) throws {
    let f = try long()
    let live = try LiveProcess(f, program, as: "alice", stdin: .terminal)
    #expect(live.finish(closingInput: false).status == .exit(64))
  }
}
