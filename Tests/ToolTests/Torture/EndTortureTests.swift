import Foundation
import Glibc
import Testing

/// How programs end that run until they are stopped.
@Suite struct EndTortureTests {
  @Test(arguments: ["dm-tail -f -n 1 bob", "dm-tail -f -n 0", "dm-list -f", "dm-tail --cursor now -f --events typing"])
  func `a follower ends when its reader goes away, even if no more events come`(call: String) throws {
    let f = try ToolFixture.filled()
    let (seconds, outcome) = try Torture.time {
      try f.shell("{ \(call); echo $? >&2; } | head -n 1", as: "alice", seconds: 20)
    }
    #expect(try outcome.records.count == 1)
    #expect(outcome.stderr == "\(128 + SIGPIPE)\n")
    #expect(seconds < Torture.bound(1))
  }

  static let endless: [(program: String, arguments: [String])] = [
    ("dm-tail", ["-f", "-n", "0"]), ("dm-tail", ["-f", "--consumer", "c", "--cursor", "now"]), ("dm-list", ["-f"]),
    ("dm-list", ["-f", "--count"]), ("dm-user", ["presence", "-f"]), ("dm-typing", ["--watch"]),
  ]

  @Test(arguments: endless, [SIGTERM, SIGINT])
  func `a waiting follower is ended by a signal`(
    call: (program: String, arguments: [String]), number: Int32
  ) throws {
    let f = try ToolFixture.filled()
    let live = try LiveProcess(f, call.program, call.arguments, as: "alice", stdin: .null)
    // Typing and presence, for followers that print nothing at their start.
    try f.done("dm-typing", ["alice", "--on"], as: "bob")
    try f.follower(as: "bob").process.send(SIGTERM)
    _ = try live.line()
    live.process.send(number)
    let (seconds, outcome) = Torture.time { live.finish() }
    #expect(outcome.status == .signal(number))
    #expect(outcome.output.isEmpty || outcome.output.last == 0x0A)
    #expect(seconds < Torture.bound(1))
  }

  @Test(arguments: [SIGTERM, SIGINT])
  func `a signal ends dm-attach even while it writes a large file to a slow disk`(number: Int32) throws {
    let f = try ToolFixture.filled()
    try f.done("truncate", ["-s", "128M", f.directory + "/large"])
    let words = try f.meddling("sync_file_range", "delay_enter=500000", "dm-attach")
    let live = try LiveProcess(f, "strace", words + ["--as-file", f.directory + "/large"], as: "alice", stdin: .null)
    let attach = try live.descendant("dm-attach")
    try Torture.wait(until: "the disk takes it", seconds: 60) {
      FileManager.default.contents(atPath: f.directory + "/trace").map { !$0.isEmpty } ?? false
    }
    attach.send(number)
    let (seconds, outcome) = Torture.time { live.finish() }
    #expect(outcome.status == .signal(number), "\(outcome.stderr)")
    #expect(seconds < Torture.bound(1.5))
    #expect(try f.done("find", [f.store + "/attachments", "-type", "f"]).output.isEmpty, "an incomplete file is left")
  }

  private func typing(_ f: ToolFixture) throws -> [String] {
    if !FileManager.default.fileExists(atPath: f.store + "/live") { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: f.store + "/live").filter { $0.hasPrefix("typing.") }
  }

  @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
  func `dm-typing as a filter shows no typing after a signal ends it`(number: Int32) throws {
    let f = try ToolFixture.filled()
    let live = try LiveProcess(f, "env", ["dm-typing", "alice"], as: "bob")
    try live.send("what passes through")
    #expect(try live.line() == "what passes through")
    try Torture.wait(until: "typing shows") { try !typing(f).isEmpty }
    live.process.send(number)
    #expect(live.finish(closingInput: false).status == .signal(number))
    #expect(try typing(f).isEmpty)
  }

  @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
  func `a signal to dm-typing also ends the command that it runs`(number: Int32) throws {
    let f = try ToolFixture.filled()
    let live = try LiveProcess(f, "env", ["dm-typing", "alice", "--", "cat"], as: "bob")
    try live.send("what passes through")
    #expect(try live.line() == "what passes through")
    try Torture.wait(until: "typing shows") { try !typing(f).isEmpty }
    let command = try live.descendant("cat")
    // A terminal sends SIGINT to the whole process group.
    live.process.send(number, toGroup: number == SIGINT)
    #expect(live.finish(closingInput: false).status == .signal(number))
    #expect(try typing(f).isEmpty)
    try Torture.wait(until: "the command is gone") { !command.isAlive }
  }

  @Test func `dm-typing as a filter ends when its reader goes away, and shows no typing`() throws {
    let f = try ToolFixture.filled()
    let live = try LiveProcess(f, "dm-typing", ["alice"], as: "bob")
    try Torture.wait(until: "typing shows") { try !typing(f).isEmpty }
    live.closeOutput()
    #expect(live.finish(closingInput: false).status == .signal(SIGPIPE))
    #expect(try typing(f).isEmpty)
  }

  @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGQUIT, nil])
  func `dm-typing restores the settings of the terminal, however it ends`(number: Int32?) throws {
    let f = try ToolFixture.filled()
    let (keyboard, screen) = try Descriptor.terminal()
    var before = termios()
    tcgetattr(screen.number, &before)
    before.c_lflag |= tcflag_t(ICANON | ECHO)
    tcsetattr(screen.number, TCSANOW, &before)
    func isKeyed() -> Bool {
      var now = termios()
      tcgetattr(screen.number, &now)
      return now.c_lflag & tcflag_t(ICANON) == 0
    }
    let errors = try Descriptor.temporary(in: f.directory)
    let output = try Descriptor.temporary(in: f.directory)
    let process = try ToolProcess(
      ToolFixture.executable("dm-typing"), ["alice"], environment: f.environment(as: "bob"),
      streams: [screen.number, output.number, errors.number])
    try Torture.wait(until: "it takes keys") { isKeyed() }
    try keyboard.write(Array("hello".utf8))
    try Torture.wait(until: "typing shows") { try !typing(f).isEmpty }
    if let number {
      process.send(number)
    } else {
      try keyboard.write(Array("\n".utf8) + [0x04])
    }
    #expect(process.wait(seconds: 10).ending == number.map(Ending.signal) ?? .exit(0))
    #expect(try typing(f).isEmpty)
    var after = termios()
    tcgetattr(screen.number, &after)
    #expect(after.c_lflag == before.c_lflag && after.c_iflag == before.c_iflag && after.c_oflag == before.c_oflag)
    #expect(output.contents() == (number == nil ? Array("hello\n".utf8) : []))
    #expect(errors.contents().isEmpty)
  }
}
