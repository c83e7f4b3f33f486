import Foundation
import JSONSupport
import Testing

/// Texts with control characters: programs return them unchanged in JSON, and never print them raw on a terminal.
@Suite struct HostileTextTests {
  /// A text with all hidden characters except NUL, and texts that misuse some of them.
  static let texts: [String] = {
    let ranges: [ClosedRange<UInt32>] = [
      0x01...0x1F, 0x7F...0x9F, 0x61C...0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF...0xFEFF,
    ]
    let scalars = ranges.flatMap { $0.compactMap(Unicode.Scalar.init) }
    return [
      scalars.map { "<\($0)>" }.joined(),
      "\u{1B}]0;title\u{07}\u{1B}[2J\u{1B}[31mred", "\u{9D}0;title\u{9C}\u{9B}2J", "\u{1B}P$q\u{1B}\\", "\u{90}x\u{9C}",
      "a\rb\u{8}\u{8}c\u{7F}", "first\n14:30  1 bob: forged", "\u{202E}txt.exe\u{202C}", "\u{FEFF}begins",
      "z" + String(repeating: "\u{0301}", count: 1000), "\\u001b \" \\ / \u{2028}\u{2029}",
    ]
  }()

  private func check(terminal program: String, _ arguments: [String], _ f: ToolFixture, _ user: String) throws {
    func shown(colors: Bool) throws -> Outcome {
      f.set("NO_COLOR", colors ? nil : "1")
      let live = try LiveProcess(f, program, arguments, as: user, stdin: .null, stdout: .terminal)
      return live.finish()
    }
    let outcome = try shown(colors: false)
    #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    #expect(!outcome.output.isEmpty)
    let hidden = hiddenBytes(in: outcome.output, allowing: [0x0A])
    #expect(hidden.isEmpty, "\(program): \(outcome.stdout)")
    // With colors, the output has the same text.
    let colored = try shown(colors: true).stdout.replacing(#/\u{1B}\[[0-9;]*m/#, with: "")
    #expect(colored == outcome.stdout)
  }

  @Test(arguments: texts)
  func `a hostile text is returned unchanged, and its control characters reach no terminal`(text: String) throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    let sent = try f.done(
      "dm-send", as: "bob", stdin: Input(JSON.line(["conversation": "alice", "text": text]) + "\n"))
    #expect(try sent.record["text"] == .string(text))
    #expect(try f.done("dm-send", ["alice", text], as: "bob").record["text"] == .string(text))
    #expect(try f.done("dm-send", ["alice"], as: "bob", stdin: Input(text + "\n")).record["text"] == .string(text))
    let history = try f.done("dm-tail", ["bob"], as: "alice").records
    #expect(history.map { $0["text"] } == [.string(text), .string(text), .string(text)])
    let preview = String(String.UnicodeScalarView(text.unicodeScalars.prefix(200)))
    #expect(try f.done("dm-list", as: "alice").record["last_message"]?["text"] == .string(preview))
    try check(terminal: "dm-tail", ["bob"], f, "alice")
    try check(terminal: "dm-tail", [], f, "alice")
    try check(terminal: "dm-list", [], f, "alice")
    // jq reads the same bytes from the JSON.
    let read = try f.shell("dm-tail bob -n 1 --peek | jq -j .text", as: "alice")
    #expect(read.output == Array(text.utf8))
  }

  @Test(arguments: texts)
  func `dm-chat prints no control characters of a hostile text`(text: String) throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    let short = String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\n" }.prefix(60)))
    try f.done("dm-user", ["set", "--display-name", short], as: "bob")
    try f.done("dm-send", ["alice", text], as: "bob")
    try check(terminal: "dm-chat", ["--plain", "bob"], f, "alice")
    f.set("NO_COLOR", "1")
    f.set("TERM", "xterm")
    for call in ["dm-chat bob", "dm-chat"] {
      let outcome = try f.shell("printf '\\004' | script -qec '\(call)' /dev/null", as: "alice")
      #expect(outcome.status == .exit(0), "\(outcome.stdout)")
      // Removes the escape sequences that `Window` prints; no others are allowed.
      let words = outcome.stdout.replacing(
        #/\u{1B}\[(\?(2004|1049)[hl]|2[23];2t|0m|[0-9]*H|J|K)|\u{1B}\]2;[^\u{7}]*\u{7}/#, with: "")
      #expect(words.contains("-- ") && words.count > 20)
      let hidden = hiddenBytes(in: Array(words.utf8), allowing: [0x0A, 0x0D])
      #expect(hidden.isEmpty, "\(call): \(words)")
    }
  }

  @Test(arguments: texts)
  func `control characters in titles and profiles reach no terminal`(text: String) throws {
    // Titles and display names have a maximum length.
    let short = String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\n" }.prefix(60)))
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    let profile = ["--display-name", short, "--bio", text, "--avatar-url", short]
    let user = try f.done("dm-user", ["set"] + profile, as: "bob").record
    #expect(user["display_name"] == .string(short))
    #expect(user["bio"] == .string(text))
    try check(terminal: "dm-user", ["list"], f, "alice")
    try check(terminal: "dm-user", ["show", "bob"], f, "alice")
    let group = try f.run("dm-conversation", ["create", "--title", short, "bob"], as: "alice")
    if group.status == .exit(0) {
      #expect(try group.record["title"] == .string(short))
      let id = try #require(try group.record["id"]?.string)
      try f.done("dm-send", ["+" + short, "in it"], as: "bob")
      try check(terminal: "dm-conversation", ["show", id], f, "alice")
      try check(terminal: "dm-tail", [], f, "alice")
      try check(terminal: "dm-list", [], f, "alice")
    } else {
      #expect(group.status == .exit(65), "\(group.stderr)")
    }
  }

  @Test(arguments: texts)
  func `an error about a reference does not print its hidden characters`(text: String) throws {
    let f = try ToolFixture.filled()
    let line = JSON.line(["conversation": text, "text": "x", "nonce": text, "reply_to": text])
    let calls = [
      ["dm-tail", "--", text], ["dm-tail", "--", "+" + text], ["dm-user", "add", "--", text],
      ["dm-list", "--after=\(text)"], ["dm-list", "--\(text)"],
    ]
    for call in calls {
      let outcome = try f.run(call[0], Array(call.dropFirst()), as: "alice")
      #expect(outcome.status != .exit(0))
      #expect(hiddenBytes(in: Array(outcome.stderr.utf8.dropLast())).isEmpty, "\(outcome.stderr)")
      #expect(outcome.stderr.hasSuffix("\n"))
    }
    let outcome = try f.run("dm-send", as: "alice", stdin: Input(line + "\n"))
    #expect(outcome.status == .exit(1))
    #expect(hiddenBytes(in: Array(outcome.stderr.utf8.dropLast())).isEmpty, "\(outcome.stderr)")
  }

  @Test func `handles that look alike but differ in bytes are different users`() throws {
    // The same letter, composed and decomposed: equal to a person and in Swift, but two handles in the store.
    let (one, other) = ("\u{E9}", "e\u{301}")
    let f = try ToolFixture()
    try f.addUsers("alice", one, other)
    let lines = [one, other, one].map { JSON.line(["conversation": $0, "text": "to \($0.unicodeScalars.count)"]) }
    let records = try f.done("dm-send", as: "alice", stdin: Input(lines: lines)).records
    try #require(records.count == 3)
    #expect(records.map { $0["seq"]?.int } == [1, 1, 2])
    #expect(records[0]["conversation_id"] != records[1]["conversation_id"])
  }

  @Test func `the same nonce with a text that looks the same but has other bytes is a conflict`() throws {
    let f = try ToolFixture.filled()
    try f.done("dm-send", ["bob", "--nonce", "n", "\u{E9}"], as: "alice")
    let outcome = try f.run("dm-send", ["bob", "--nonce", "n", "e\u{301}"], as: "alice")
    #expect(outcome.status == .exit(73))
  }

  @Test func `a text that is not UTF-8 is refused, not repaired`() throws {
    let f = try ToolFixture.filled()
    let outcome = try f.shell(#"dm-send bob "$(printf 'gr\374n')""#, as: "alice")
    #expect(outcome.status == .exit(65))
    #expect(outcome.output.isEmpty)
    // The same bytes on standard input are refused, too.
    let piped = try f.run("dm-send", ["bob"], as: "alice", stdin: .bytes([0x67, 0x72, 0xFC, 0x6E]))
    #expect(piped.status == .exit(65))
  }

  @Test func `JSON members whose names look alike are two members`() throws {
    let f = try ToolFixture.filled()
    let line = "{\"conversation\":\"bob\",\"text\":\"x\",\"\u{E9}\":1,\"e\u{301}\":2}\n"
    let outcome = try f.run("dm-send", as: "alice", stdin: Input(line))
    #expect(outcome.status == .exit(0))
  }
}
