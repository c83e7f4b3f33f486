import Foundation
import Glibc
import Testing

@testable import TestSupport

/// Runs the examples of the documentation as alice, in a store with bob, carol, dave and a group +ops with messages.
@Suite struct ExamplesTests {
  private static let template = Result {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob", "carol", "dave")
    try f.done("dm-conversation", ["create", "--title", "ops", "bob", "carol"], as: "alice")
    for conversation in ["+ops", "bob", "alice"] {
      var texts = (1...130).map { "message \($0)" }
      texts[119] += ": can you look at the backup machine?"
      let lines = Input(lines: texts)
      let sender = conversation == "alice" ? "bob" : "alice"
      try f.done("dm-send", ["--lines", conversation], as: sender, stdin: lines)
      let files = ["--attach", "\(repository)/examples/photo.jpg", "--attach", try core(in: f.directory)]
      try f.done("dm-send", [conversation, "message 131"] + files, as: sender)
    }
    return f
  }

  /// A file that is not an image.
  private static func core(in folder: String) throws -> String {
    let path = folder + "/core.gz"
    try Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]).write(to: URL(filePath: path))
    return path
  }

  /// One second of a tone, as arecord(1) makes it: 8,000 samples of 16 bits.
  private static let recording: [UInt8] = {
    func number(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 0xFF) } }
    let samples = (0..<8000).flatMap { number(Int(8000 * sin(Double($0) / 3)), 2) }
    let format =
      number(16, 4) + number(1, 2) + number(1, 2) + number(8000, 4) + number(16000, 4)
      + number(2, 2) + number(16, 2)
    return Array("RIFF".utf8) + number(samples.count + 36, 4) + Array("WAVEfmt ".utf8) + format
      + Array("data".utf8) + number(samples.count, 4) + samples
  }()

  private func fixture() throws -> ToolFixture {
    let f = try ToolFixture(copyOf: Self.template.get())
    let folder = f.directory
    // `llm` stands for any producer of text. It is a link, because a script that was just written may still be open in
    // a child process of another test.
    try FileManager.default.createSymbolicLink(
      atPath: folder + "/llm", withDestinationPath: "\(repository)/Tests/Fixtures/digest/llm")
    try FileManager.default.createDirectory(atPath: folder + "/examples", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: folder + "/examples/vectors", withDestinationPath: "\(repository)/Tests/Fixtures/digest/vectors")
    f.set("DM_EMBED", "\(folder)/examples/vectors")
    f.set("PATH", "\(folder):\(f.environment(as: nil)["PATH"] ?? "")")
    f.set("question", "why?")
    let line = #"{"conversation":"old","sender":"dave","text":"hi","created_at":"2020-01-01T00:00:00Z","nonce":"1"}"#
    try (line + "\n").write(toFile: folder + "/history.jsonl", atomically: true, encoding: .utf8)
    try #"{"to":"bob","body":"hi","id":"q1"}"#.write(toFile: folder + "/queue.json", atomically: true, encoding: .utf8)
    try FileManager.default.copyItem(atPath: repository + "/examples/photo.jpg", toPath: folder + "/photo.jpg")
    try Self.usage.write(toFile: folder + "/home/dm-usage.log", atomically: true, encoding: .utf8)
    _ = try Self.core(in: folder)
    try Data(Self.recording).write(to: URL(filePath: folder + "/recording.wav"))
    try FileManager.default.createDirectory(atPath: folder + "/home/Downloads", withIntermediateDirectories: true)
    return f
  }

  /// A line of a usage log.
  private static let usage =
    #"{"type":"usage","at":"2026-11-23T10:00:00Z","act":"sent","program":"dm-send","version":"0.2.0","#
    + #""duration_us":5000,"count":1,"bytes":5,"status":0}"# + "\n"

  /// A function that replaces arecord(1), which needs a microphone.
  private static let arecord = "arecord() { cat recording.wav; }"

  private func run(_ script: String, at location: SourceLocation = #_sourceLocation) throws -> Outcome {
    let f = try fixture()
    // dm-chat needs a terminal, and ends on Ctrl-D.
    let call =
      script.drop { $0 == " " }.hasPrefix("dm-chat") ? "printf '\\004' | script -qec '\(script)' /dev/null" : script
    return try f.shell("set -e; cd '\(f.directory)'; \(Self.arecord); \(call)", as: "alice", at: location)
  }

  /// The lines on standard error, without notes that an external tool is missing.
  private func complaints(_ outcome: Outcome) -> [Substring] {
    outcome.stderr.split(separator: "\n").filter { !$0.contains("; install ") }
  }

  /// Checks that an example that does not end by itself prints new messages or typing.
  private func checkFollowing(_ script: String) throws {
    let f = try fixture()
    let live = try LiveProcess(f, "sh", ["-c", "cd '\(f.directory)'; \(script)"], as: "alice", stdin: .null)
    // Repeated, because the program may start after the first message.
    var line: String?
    for _ in 0..<40 where line == nil {
      for conversation in ["alice", "+ops"] { try f.done("dm-send", [conversation, "news"], as: "bob") }
      // A message ends its sender's typing, so the typing begins again.
      try f.done("dm-typing", ["+ops", "--on"], as: "bob")
      line = try live.lineIfAny(within: 0.5)
    }
    #expect(line != nil, "\(script)\n\(live.stderr)")
    live.process.send(SIGKILL)
    _ = live.finish()
    #expect(live.stderr == "", "\(script)")
  }

  private static func follows(_ script: String) -> Bool {
    script.contains(" -f") || script.contains("--watch") || script.contains("run-bot")
  }

  /// The commands in the EXAMPLES sections of all man pages, as a terminal shows them, without the sessions, which begin with
  /// `$ ` and which `Tests/t/2100-manual.t` runs.
  static let shown: [String] = {
    let escapes = [
      ("\\&", ""), ("\\-", "-"), ("\\(aq", "'"), ("\\(ti", "~"), ("\\(ha", "^"), ("\\(ga", "`"), ("\\(dq", "\""),
      ("\\e", "\\"), ("\\[u1F44D]", "👍"), ("\\[u1F440]", "👀"),
    ]
    var blocks: [String] = []
    for program in ToolFixture.programs {
      guard let page = FileManager.default.contents(atPath: "\(repository)/man/\(program).1") else { continue }
      var block: [String]?
      for line in String(decoding: page, as: UTF8.self).components(separatedBy: "\n.Sh EXAMPLES")[1]
        .split(separator: "\n", omittingEmptySubsequences: false)
      {
        if line.hasPrefix(".Sh") { break }
        if line.hasPrefix(".Bd") {
          block = []
        } else if line == ".Ed", let lines = block {
          defer { block = nil }
          if lines.first?.hasPrefix("$ ") == true { continue }
          blocks.append(escapes.reduce(lines.joined(separator: "\n")) { $0.replacingOccurrences(of: $1.0, with: $1.1) })
        } else {
          block?.append(String(line))
        }
      }
    }
    return blocks
  }()

  @Test func `the man pages have, on average, at least three examples for each program`() {
    #expect(Self.shown.count >= 3 * ToolFixture.programs.count)
  }

  @Test(arguments: shown)
  func `an example of a man page works when typed`(example: String) throws {
    if Self.follows(example) { return try checkFollowing(example) }
    let outcome = try run(example)
    #expect(outcome.status == .exit(0), "\(example)\n\(outcome.stderr)")
    #expect(complaints(outcome) == [], "\(example)")
  }

  /// The loop of dm(7) that retries while the store is busy, and sends a message once.
  private func retryLoop() throws -> String {
    let page = try String(contentsOfFile: repository + "/man/dm.7", encoding: .utf8)
    let lines = page.components(separatedBy: "and go on trying while the store is busy:\n")[1].split(separator: "\n")
    let block = lines.dropFirst().prefix { $0 != ".Ed" }.joined(separator: "\n")
    return block.replacing("\\-", with: "-").replacing("\\(aq", with: "'")
  }

  @Test func `the retry loop of dm(7) sends a message once, and ends with the status of a failed send`() throws {
    let f = try fixture()
    let script = try "set -e\n" + retryLoop() + "\necho went on"
    for _ in 1...2 {
      let sent = try f.shell(script, as: "alice")
      #expect(sent.status == .exit(0) && sent.stdout.hasSuffix("went on\n"), "\(sent.stderr)")
    }
    #expect(try f.sql("SELECT count(*) FROM message WHERE nonce LIKE 'disk-%'") == "1")
    let failed = try f.shell(script.replacing("+ops", with: "+nogroup"), as: "alice")
    #expect(failed.status == .exit(66) && !failed.stdout.contains("went on"))
  }

  @Test func `the retry loop of dm(7) goes on while the store is busy`() throws {
    let f = try fixture()
    f.set("DM_BUSY_TIMEOUT", "1s")
    let holder = try LiveProcess(f, "flock", [f.store + "/store.lock", "-c", "echo held; read line"])
    #expect(try holder.line() == "held")
    // The lock is released after the loop has reported a failed attempt.
    let loop = try LiveProcess(f, "sh", ["-c", "{ \(retryLoop()); } 2>&1"], as: "alice", stdin: .null)
    #expect(try loop.line()?.contains("try again") == true)
    #expect(holder.finish().status != .overdue)
    var line = try loop.line()
    while line?.contains("try again") == true { line = try loop.line() }
    #expect(line?.contains("Filesystem") == true)
    #expect(loop.finish().status == .exit(0))
  }

  @Test(arguments: ToolFixture.programs)
  func `an example of the help works when typed`(program: String) throws {
    let help = try ToolFixture().done(program, ["--help"]).stdout
    let lines = help.components(separatedBy: "\nExamples:\n")[1].split(separator: "\n")
    let examples = lines.filter { !$0.hasPrefix("  # ") }
    #expect(examples.count >= 2)
    for example in examples.map(String.init) {
      if Self.follows(example) {
        try checkFollowing(example)
        continue
      }
      let outcome = try run(example)
      #expect(outcome.status == .exit(0), "\(example)\n\(outcome.stderr)")
    }
  }

  @Test func `the demo script runs to its end`() throws {
    let outcome = try ToolFixture().run("sh", ["\(repository)/examples/demo"])
    #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    #expect(complaints(outcome) == [])
    #expect(outcome.stdout.contains("$ dm-list --as bob --count\n3\n"))
    #expect(outcome.stdout.contains("$ dm-list --as bob --count\n1\n"))
    #expect(outcome.stdout.contains("it is "), "the bot has not answered")
    #expect(outcome.stdout.contains("2 Bob B. (bob, edited, 👍 you): all green again"))
    #expect(outcome.stdout.contains("from-alice.jpg, 300 by 400 pixels"))
    #expect(outcome.stdout.contains("-- clock left --"))
  }
}
