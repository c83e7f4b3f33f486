import Foundation
import Glibc
import JSONSupport
import Testing

/// Calls that print something in the store of `ToolFixture.filled`.
let printingCalls: [(program: String, arguments: [String], input: String)] = [
  ("dm-conversation", ["show", "bob"], ""),
  ("dm-import", [], #"{"conversation":"old","sender":"eve","text":"hi","created_at":"2004-11-15T00:00:01Z"}"# + "\n"),
  ("dm-list", [], ""),
  ("dm-read", ["bob", "--all"], ""),
  ("dm-send", ["bob", "hello"], ""),
  ("dm-tail", ["bob"], ""),
  ("dm-user", ["list"], ""),
]

extension ToolFixture {
  /// A store in which bob has sent alice two messages, which alice has not read.
  static func filled() throws -> ToolFixture { try ToolFixture(copyOf: template.get()) }

  private static let template = Result {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    try f.done("dm-send", ["alice", "one"], as: "bob")
    try f.done("dm-send", ["alice", "two"], as: "bob")
    return f
  }
}

@Suite struct StreamTests {
  @Test(arguments: printingCalls)
  func `output to a file or a pipe is JSON`(program: String, arguments: [String], input: String) throws {
    let f = try ToolFixture.filled()
    let live = try LiveProcess(f, program, arguments, as: "alice")
    if !input.isEmpty { try live.send(input.trimmingCharacters(in: .newlines)) }
    let first = try live.record()
    #expect(first["type"] != nil)
    #expect(live.finish().status == .exit(0))
    let g = try ToolFixture.filled()
    let outcome = try g.run(program, arguments, as: "alice", stdin: Input(input))
    #expect(outcome.status == .exit(0))
    #expect(try !outcome.records.isEmpty)
  }

  @Test(arguments: printingCalls)
  func `output to a terminal is text, and JSON with --json`(program: String, arguments: [String], input: String) throws
  {
    for (flags, isJSON) in [([], false), (["--text"], false), (["--json"], true)] {
      let f = try ToolFixture.filled()
      let live = try LiveProcess(f, program, arguments + flags, as: "alice", stdout: .terminal)
      if !input.isEmpty { try live.send(input.trimmingCharacters(in: .newlines)) }
      live.closeInput()
      let line = try #require(try live.line())
      #expect(line.hasPrefix("{\"type\":") == isJSON, "\(line)")
      #expect(!line.isEmpty)
      #expect(live.finish().status == .exit(0))
    }
  }

  @Test(arguments: printingCalls)
  func `output to a file is text with --text`(program: String, arguments: [String], input: String) throws {
    let f = try ToolFixture.filled()
    let outcome = try f.run(program, arguments + ["--text"], as: "alice", stdin: Input(input))
    #expect(outcome.status == .exit(0))
    #expect(!outcome.stdout.isEmpty)
    #expect(!outcome.stdout.hasPrefix("{"))
  }

  @Test(arguments: printingCalls)
  func `-q and --quiet print nothing`(program: String, arguments: [String], input: String) throws {
    for flag in ["-q", "--quiet"] {
      let f = try ToolFixture.filled()
      let outcome = try f.run(program, arguments + [flag], as: "alice", stdin: Input(input))
      #expect(outcome.status == .exit(0))
      #expect(outcome.output.isEmpty)
      #expect(outcome.stderr.isEmpty)
    }
  }

  @Test(arguments: printingCalls)
  func `output that cannot be written is an error`(program: String, arguments: [String], input: String) throws {
    let f = try ToolFixture.filled()
    let outcome = try f.run(program, arguments, as: "alice", stdin: Input(input), stdout: "/dev/full")
    #expect(outcome.status == .exit(74))
    #expect(outcome.stderr.hasPrefix("\(program): "))
    try f.checkIntegrity()
  }

  @Test(arguments: printingCalls)
  func `--json together with --text is refused`(program: String, arguments: [String], input: String) throws {
    let f = try ToolFixture.filled()
    let outcome = try f.run(program, arguments + ["--json", "--text"], as: "alice", stdin: Input(input))
    #expect(outcome.status == .exit(64))
    #expect(outcome.output.isEmpty)
  }

  @Test(arguments: ToolFixture.programs)
  func `--help, --version and --schema work without creating a store`(program: String) throws {
    let f = try ToolFixture()
    let help = try f.done(program, ["--help"])
    #expect(help.stdout.hasPrefix("\(program) - "))
    #expect(try f.done(program, ["-h"]).stdout == help.stdout)
    #expect(try f.done(program, ["--version"]).stdout.hasPrefix("\(program) "))
    #expect(try f.done(program, ["--schema"]).record["title"]?.string == program)
    for flag in ["--help", "--version", "--schema"] {
      #expect(try f.run(program, [flag], stdout: "/dev/full").status == .exit(74))
    }
    #expect(!FileManager.default.fileExists(atPath: f.store))
  }
}
