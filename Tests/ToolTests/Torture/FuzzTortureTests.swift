import Foundation
import JSONSupport
import Testing

/// Random lines and arguments: no program crashes, hangs or reports an internal error, and the store stays sound.
@Suite(.serialized) struct FuzzTortureTests {
  private static let suite = "fuzz"

  /// A program that reads lines.
  struct Reader: Sendable, CustomTestStringConvertible {
    let program: String
    let arguments: [String]
    var user = "alice"
    /// Whether the program prints a line for each line of input, even for an invalid one.
    var answersAll = false

    var testDescription: String { "\(program) \(arguments.joined(separator: " "))" }
  }

  static let readers = [
    Reader(program: "dm-send", arguments: [], answersAll: true),
    Reader(program: "dm-send", arguments: ["--lines", "bob"], answersAll: true),
    Reader(program: "dm-send", arguments: ["--consumer", "c"], user: "bob"),
    Reader(program: "dm-send", arguments: ["--consumer", "c", "--skip-failed"], user: "bob"),
    Reader(program: "dm-import", arguments: [], answersAll: true),
    Reader(program: "dm-read", arguments: []),
    Reader(program: "dm-edit", arguments: ["text"]),
    Reader(program: "dm-edit", arguments: ["delete"]),
    Reader(program: "dm-edit", arguments: ["delete", "--for-everyone"]),
    Reader(program: "dm-edit", arguments: ["react", "👍"]),
    Reader(program: "dm-edit", arguments: ["report"]),
  ]

  private static let scene = Result {
    let scene = try CallTable.Scene()
    let f = scene.f
    let group = try f.done("dm-conversation", ["show", "+all"], as: "alice").record["id"]?.string ?? ""
    var lines = try f.shell("dm-tail -n all --peek bob; dm-tail -n all --peek +all; dm-list --all", as: "alice").stdout
      .split(separator: "\n").map(String.init)
    lines += [
      #"{"conversation":"bob","text":"hello","nonce":"n1"}"#,
      #"{"conversation":"+all","text":"@bob look","reply_to":"-1","expires_in":"1h"}"#,
      #"{"conversation":"alice","text":"answer","nonce":"n2","ack":"CURSOR"}"#, #"{"ack":"CURSOR"}"#,
      #"{"conversation":"+irc","sender":"bob","text":"hello","created_at":"2020-01-01T10:00:00Z","nonce":"irc:1"}"#,
      #"{"conversation":"+irc","sender":"carol","text":"so","created_at":"2020-01-01T10:00:01Z","reply_to_nonce":"irc:1"}"#,
      #"{"conversation_id":"GROUP","sender":"bob","system_kind":"title_changed","subject":"new","created_at":"2020-01-02T10:00:00Z"}"#,
      #"{"conversation":"+irc","sender":"bob","system_kind":"user_joined","subject":"alice","created_at":"2020-01-03T10:00:00Z"}"#,
      #"{"type":"conversation","id":"00000000-0000-4000-8000-000000000001","is_group":true,"participants":["alice","bob"],"title":"irc"}"#,
      #"{"conversation_id":"00000000-0000-4000-8000-000000000001","sender":"bob","text":"x","created_at":"2020-01-01T10:00:00Z"}"#,
      #"{"conversation_id":"00000000-0000-4000-8000-000000000001","sender":"bob","system_kind":"title_changed","subject":"t1","created_at":"2020-01-01T10:00:01Z"}"#,
      #"{"conversation_id":"GROUP","seq":1}"#, #"{"conversation_id":"GROUP","seq":2,"text":"other"}"#,
    ]
    let cursor = try #require(scene.names["CURSOR"])
    let corpus: [[UInt8]] = lines.map { line in
      Array(line.replacing("CURSOR", with: cursor).replacing("GROUP", with: group).utf8)
    }
    return (scene: scene, lines: corpus)
  }

  /// Runs a program, and records a failure if it crashes, hangs or uses too much memory.
  private func run(
    _ words: [String], as user: String, stdin: Input, _ f: ToolFixture, validatedAs: String? = nil, _ what: String
  ) throws -> Outcome {
    let program = try ToolFixture.executable(words[0])
    let peak = "\(f.directory)/peak"
    let outcome = try f.run(
      "/usr/bin/time",
      ["-q", "-o", peak, "-f", "%M", "env", "-C", f.directory, program] + Array(words.dropFirst()), as: user,
      stdin: stdin, validatedAs: validatedAs, seconds: 30)
    let held = try #require(
      Int(try String(contentsOfFile: peak, encoding: .utf8).split(separator: "\n").last ?? "0"), "\(what)")
    let ending: Int32? = if case .exit(let status) = outcome.status { status } else { nil }
    // time(1) reports the end by a signal as a status over 128.
    let isWell = ending.map { $0 != 70 && $0 <= 78 } ?? false
    if !isWell || held > 160 * 1024 {
      Tally.add(.failures, in: Self.suite)
      Issue.record("\(what): \(outcome.status), \(held) KiB, \(outcome.stderr.suffix(500)) DM_SEED=\(Dice.seed)")
    }
    return outcome
  }

  @discardableResult
  private func checkSound(_ f: ToolFixture, _ what: String) throws -> Bool {
    let check = try f.run("dm-doctor", ["check", "--deep"])
    if check.status != .exit(0) { Tally.add(.failures, in: Self.suite) }
    #expect(check.status == .exit(0), "\(what): \(check.stdout.prefix(2000)) \(check.stderr) DM_SEED=\(Dice.seed)")
    return check.status == .exit(0)
  }

  @Test(arguments: readers.indices)
  func `random input lines do not crash a program or damage the store`(index: Int) throws {
    let (scene, corpus) = try Self.scene.get()
    let reader = Self.readers[index]
    var dice = Dice(index)
    var f = try ToolFixture(copyOf: scene.f)
    var tries = Torture.Tries(5, seconds: 220, part: 1 / Double(Self.readers.count))
    var batch = 0
    while tries.goOn() {
      batch += 1
      let lines: [[UInt8]] = (0..<dice.number(1...Torture.size(60, long: 300))).map { _ in dice.line(like: corpus) }
      let bytes: [UInt8] = Array(lines.joined(separator: [0x0A])) + [0x0A]
      let what = "\(reader.testDescription), batch \(batch)"
      let outcome = try run(
        [reader.program] + reader.arguments, as: reader.user, stdin: .bytes(bytes), f, validatedAs: reader.program, what
      )
      Tally.add(.lines, lines.count, in: Self.suite)
      if reader.answersAll {
        let answers = outcome.output.filter { $0 == 0x0A }.count
        #expect(answers == lines.count, "\(what): \(outcome.stderr) DM_SEED=\(dice.seed)")
      }
      let isSound = try checkSound(f, what)
      // Takes a new copy of the store after a fault, and after every 20 batches, because a consumer's position only
      // moves forward.
      if batch % 20 == 0 || !isSound { f = try ToolFixture(copyOf: scene.f) }
    }
  }

  /// The options and actions in a program's help, without the options that wait.
  private static func options(_ program: String) throws -> [String] {
    let help = try ToolFixture().done(program, ["--help"]).stdout
    let waiting = ["-f", "--follow", "--watch", "--open", "--edit", "--for"]
    let words = help.split { " ,.;=[]|()\n".contains($0) }.map(String.init)
    let options = Set(words.filter { $0.firstMatch(of: /^--?[a-z][a-z-]*$/) != nil }).subtracting(waiting)
    let actions = help.split(separator: "\n").compactMap { $0.firstMatch(of: /^  ([a-z]+)/)?.1 }.map(String.init)
    return options.sorted() + Set(actions).sorted() + Set(actions).sorted()
  }

  private static let values = [
    "bob", "alice", "+all", "+nobody", "mallory", "bob:1", "bob:-1", "+all:3", "1", "0", "-1", "1..3", "3..1",
    "bob:1..2",
    "99999999999999999999", "9223372036854775807", "-9223372036854775808", "", "é", "\u{202E}", "a\nb", "\u{1B}[31m",
    "1h",
    "1s", "off", "all", "start", "now", "2026-01-01", "1970-01-01T00:00:00Z", "../x", "/nowhere/x", "-", "c", "👍",
    "%n%s",
    "1e9", "data", "00000000-0000-0000-0000-000000000000", String(repeating: "x", count: 5000), "link", "image",
    "message",
    "@bob", "three", "\"three\"", "NEAR(", "*",
  ]

  @Test(arguments: ToolFixture.programs)
  func `random arguments do not crash a program`(program: String) throws {
    let (scene, _) = try Self.scene.get()
    var dice = Dice(100 + (ToolFixture.programs.firstIndex(of: program) ?? 0))
    // dm-typing runs the words after `--` as a command.
    let values = program == "dm-typing" ? Self.values : Self.values + ["--"]
    let options = try Self.options(program)
    let f = try ToolFixture(copyOf: scene.f)
    try f.done("cp", [scene.f.directory + "/data", f.directory])
    var tries = Torture.Tries(25, seconds: 120, part: 1 / Double(ToolFixture.programs.count))
    while tries.goOn() {
      let words = (0..<dice.number(0...6)).map { _ in dice.happens(oneIn: 2) ? dice.pick(options) : dice.pick(values) }
      _ = try run(
        [program] + words, as: dice.pick(["alice", "bob", "carol", "x"]), stdin: .none, f, "\(program) \(words)")
      Tally.add(.runs, in: Self.suite)
    }
    try checkSound(f, program)
  }
}
