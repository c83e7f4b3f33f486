import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// The bots of the manual, as they are printed there, and messages that they cannot answer.
@Suite struct PoisonTests {
  /// The block of commands of a page that contains a text, as a terminal shows it.
  private static func block(_ page: String, with text: String) throws -> String {
    let source = try String(contentsOfFile: "\(repository)/\(page)", encoding: .utf8)
    let isMarkdown = page.hasSuffix(".md")
    let blocks = source.components(separatedBy: isMarkdown ? "```" : ".Bd -literal -offset indent\n")
    let found = blocks.compactMap { $0.components(separatedBy: "\n.Ed").first }.first { $0.contains(text) }
    let shown = try #require(found, "\(page) has no '\(text)'")
    let escapes = [("\\-", "-"), ("\\(aq", "'"), ("\\e", "\\")]
    if isMarkdown { return String(shown.drop { $0 != "\n" }) }
    return escapes.reduce(shown) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
  }

  /// A store in which mallory has sent a bot messages that it cannot answer.
  private func poisoned(_ bot: String) throws -> ToolFixture {
    let f = try ToolFixture()
    try f.addUsers("alice", bot, "mallory")
    try f.done("dm-send", [bot], as: "mallory", stdin: .bytes([UInt8](repeating: 0x78, count: 65_533)))
    try f.done("dm-conversation", ["create", "--title", "trap", bot], as: "mallory")
    try f.done("dm-send", ["+trap", "answer me"], as: "mallory")
    try f.done("dm-conversation", ["remove", "+trap", bot], as: "mallory")
    return f
  }

  @Test func `the echo bot of the manual answers alice, whatever messages mallory sent to it`() throws {
    let f = try poisoned("echo")
    let pipe = try Self.block("man/dm-tail.1", with: "--consumer echo".replacingOccurrences(of: "-", with: "\\-"))
    let answers = try f.follower(["--others", "--events", "message"], as: "alice")
    let bot = try LiveProcess(f, "sh", ["-c", pipe], as: "echo")
    defer { bot.process.send(SIGKILL) }
    try f.done("dm-send", ["echo", "still there?"], as: "alice")
    while try answers.record()["text"]?.string != "echo: still there?" {}
    try Torture.wait(until: "the bot complains of what it skips") {
      bot.stderr.contains("over 64 KiB") && bot.stderr.contains("has left the conversation")
    }
    #expect(try f.done("dm-tail", ["--consumers"], as: "echo").record["skipped_count"]?.int == 2)
    #expect(try f.sql("SELECT count(*) FROM message WHERE text LIKE 'echo: %'") == "1")
  }

  @Test(arguments: [
    ("README.md", "--consumer notes", "bob", "noted: hello"),
    ("man/dm-send.1", "\\-\\-consumer thanks", "bob", "thanks"),
  ])
  func `a bot of the manual answers alice and reports the messages that it skips`(
    page: String, text: String, user: String, answer: String
  ) throws {
    let f = try poisoned(user)
    try f.done("dm-send", [user, "hello"], as: "alice")
    // The stream starts before mallory's messages, although the example starts it at `now`.
    let pipe = try Self.block(page, with: text).replacingOccurrences(of: "--cursor now", with: "--cursor start")
    let outcome = try f.shell(pipe, as: user)
    #expect(outcome.status == .exit(1), "\(outcome.stderr)")
    #expect(outcome.stderr.contains("dm-send: skipped "), "\(outcome.stderr)")
    let faults = try outcome.records.filter { $0["type"]?.string == "error" }
    #expect(faults.last?["code"]?.string == "not_allowed")
    #expect(try f.done("dm-tail", [user, "-n", "1", "--peek"], as: "alice").record["text"]?.string == answer)
  }

  @Test func `with --stop-at-failed, no line after the first failed line is handled`() throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "echo")
    try f.done("dm-send", ["echo", "1"], as: "alice")
    try f.done("dm-tail", ["--consumer", "echo", "--cursor", "start", "--others"], as: "echo")
    let lines = ["nobody", "alice"].map { JSON.line(["conversation": $0, "text": "x"]) }
    let outcome = try f.run(
      "dm-send", ["--consumer", "echo", "--stop-at-failed"], as: "echo", stdin: Input(lines: lines))
    #expect(outcome.status == .exit(1))
    #expect(try outcome.record["code"]?.string == "unknown_user")
    #expect(!outcome.stderr.contains("skipped"), "\(outcome.stderr)")
  }
}
