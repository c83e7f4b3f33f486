import Foundation
import Glibc
import Testing

/// Whatever is shown is run: in a store where alice acts, bob, carol and dave are, and the group +ops has a history.
@Suite struct ExamplesTests {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized.path

  private static let furniture = Result {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob", "carol", "dave")
    try f.done("dm-conversation", ["create", "--title", "ops", "bob", "carol"], as: "alice")
    for place in ["+ops", "bob", "alice"] {
      let lines = Input(lines: (1...130).map { "message \($0)" })
      try f.done("dm-send", ["--lines", place], as: place == "alice" ? "bob" : "alice", stdin: lines)
    }
    return f
  }

  private func fixture() throws -> ToolFixture {
    let f = try ToolFixture(copyOf: Self.furniture.get())
    let folder = f.directory
    // What stands for any producer of text. A script that was just written may still be open in another test's child.
    try FileManager.default.createSymbolicLink(atPath: folder + "/llm", withDestinationPath: "/bin/echo")
    f.set("PATH", "\(folder):\(f.environment(as: nil)["PATH"] ?? "")")
    f.set("question", "why?")
    let line = #"{"conversation":"old","sender":"dave","text":"hi","created_at":"2020-01-01T00:00:00Z","nonce":"1"}"#
    try (line + "\n").write(toFile: folder + "/history.jsonl", atomically: true, encoding: .utf8)
    try #"{"to":"bob","body":"hi","id":"q1"}"#.write(toFile: folder + "/queue.json", atomically: true, encoding: .utf8)
    return f
  }

  private func run(_ script: String, at location: SourceLocation = #_sourceLocation) throws -> Outcome {
    let f = try fixture()
    return try f.shell("set -e; cd '\(f.directory)'; \(script)", as: "alice", at: location)
  }

  /// What never ends by itself works when it tells of what happens.
  private func checkFollowing(_ script: String) throws {
    let f = try fixture()
    try f.done("dm-typing", ["+ops", "--on"], as: "bob")
    let live = try LiveProcess(f, "sh", ["-c", "cd '\(f.directory)'; \(script)"], as: "alice", stdin: .null)
    // Again and again, because it may have begun after the first news.
    var line: String?
    for _ in 0..<40 where line == nil {
      for place in ["alice", "+ops"] { try f.done("dm-send", [place, "news"], as: "bob") }
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

  /// The blocks of a page's EXAMPLES, as a terminal shows them.
  static let shown: [String] = {
    let escapes = [
      ("\\&", ""), ("\\-", "-"), ("\\(aq", "'"), ("\\(ti", "~"), ("\\(ha", "^"), ("\\(ga", "`"), ("\\(dq", "\""),
      ("\\e", "\\"), ("\\[u1F44D]", "👍"), ("\\[u1F440]", "👀"),
    ]
    var blocks: [String] = []
    for program in ToolFixture.programs {
      guard let page = FileManager.default.contents(atPath: "\(root)/man/\(program).1") else { continue }
      var block: [String]?
      for line in String(decoding: page, as: UTF8.self).components(separatedBy: "\n.Sh EXAMPLES")[1]
        .split(separator: "\n", omittingEmptySubsequences: false)
      {
        if line.hasPrefix(".Sh") { break }
        if line.hasPrefix(".Bd") {
          block = []
        } else if line == ".Ed", let lines = block {
          blocks.append(escapes.reduce(lines.joined(separator: "\n")) { $0.replacingOccurrences(of: $1.0, with: $1.1) })
          block = nil
        } else {
          block?.append(String(line))
        }
      }
    }
    return blocks
  }()

  @Test func `every page has examples`() { #expect(Self.shown.count >= 3 * ToolFixture.programs.count) }

  @Test(arguments: shown)
  func `an example of a man page works when typed`(example: String) throws {
    if Self.follows(example) { return try checkFollowing(example) }
    let outcome = try run(example)
    #expect(outcome.status == .exit(0), "\(example)\n\(outcome.stderr)")
    #expect(outcome.stderr == "", "\(example)")
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

  @Test func `the tour of the README works when typed, and says what it shows`() throws {
    let readme = try String(contentsOfFile: Self.root + "/README.md", encoding: .utf8)
    let tour = readme.components(separatedBy: "## A tour of five minutes")[1].components(separatedBy: "\n## ")[0]
    let blocks = tour.components(separatedBy: "```sh\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    #expect(blocks.count >= 5)
    let f = try ToolFixture()
    f.set("DM_STORE", nil)
    let outcome = try f.shell("set -e; \(blocks.joined(separator: "\n"))\nrm -r \"$DM_STORE\"")
    #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    let lines = outcome.stdout.split(separator: "\n")
    #expect(lines.filter { $0 == "4" || $0 == "2" } == ["4", "2"], "the counts that it shows")
    #expect(lines.filter { $0.contains("\"duplicate\":true") }.count == 1)
    #expect(lines.contains("all **green** again") && !lines.contains { $0.contains("lunch**") })
    #expect(lines.filter { $0 == "user_joined" || $0 == "title_changed" } == ["user_joined", "title_changed"])
    #expect(lines.contains("-- carol reacted to 2: 👍 --"))
    #expect(lines.last { $0.hasPrefix("{") }?.hasPrefix("{\"type\":\"backup\"") == true)
    #expect(lines.contains("status 67"))
    #expect(outcome.stderr == "dm-send: there is no user 'bobb'; did you mean 'bob'?\n")
  }

  @Test func `the demo plays to its end`() throws {
    let outcome = try ToolFixture().run("sh", ["\(Self.root)/examples/demo"])
    #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    #expect(outcome.stderr == "")
    #expect(outcome.stdout.contains("$ dm-list --as bob --count\n3\n"))
    #expect(outcome.stdout.contains("$ dm-list --as bob --count\n1\n"))
    #expect(outcome.stdout.contains("it is "), "the bot answers")
    #expect(outcome.stdout.contains("2 bob: all green again  (edited)  👍"))
    #expect(outcome.stdout.contains("-- clock left --"))
  }
}
