import Foundation
import JSONSupport
import Testing

/// Programs that have a store open when it is replaced by another one.
struct StayingProgramsTests {
  struct Call: Sendable, CustomTestStringConvertible {
    let program: String
    let arguments: [String]
    /// The lines that the program gets before and after the store is replaced; nil for a follower.
    var lines: (before: String, after: String)?

    var testDescription: String { ([program] + arguments).joined(separator: " ") }
  }

  private static func text(_ text: String) -> String { #"{"conversation":"bob","text":"\#(text)"}"# }
  private static func history(_ second: Int) -> String {
    #"{"conversation":"old","sender":"eve","text":"\#(second)","created_at":"2004-11-15T00:00:0\#(second)Z"}"#
  }
  /// A message that the program marks or changes.
  private static func message(_ seq: Int) -> String { #"{"type":"message","conversation_id":"ID","seq":\#(seq)}"# }

  static let calls: [Call] = [
    Call(program: "dm-send", arguments: [], lines: (text("before"), text("after"))),
    Call(program: "dm-send", arguments: ["--lines", "bob"], lines: ("before", "after")),
    Call(program: "dm-send", arguments: ["--consumer", "c"], lines: (text("before"), text("after"))),
    Call(program: "dm-import", arguments: [], lines: (history(1), history(2))),
    Call(program: "dm-read", arguments: [], lines: (message(1), message(2))),
    Call(program: "dm-edit", arguments: ["react", "👍"], lines: (message(1), message(2))),
    Call(program: "dm-edit", arguments: ["delete"], lines: (message(1), message(2))),
    Call(
      program: "dm-mcp", arguments: [],
      lines: (
        MCPServer.line("resources/list"),
        MCPServer.line("tools/call", #"{"name":"send","arguments":{"conversation":"bob","text":"after","nonce":"n"}}"#)
      )),
    Call(
      program: "dm-mcp", arguments: ["--read-only"],
      lines: (
        MCPServer.line("resources/list"),
        MCPServer.line("resources/list")
      )),
    Call(program: "dm-tail", arguments: ["-f", "-n", "0", "--peek"]),
    Call(program: "dm-tail", arguments: ["-f", "--consumer", "c"]),
    Call(program: "dm-list", arguments: ["-f"]),
    Call(program: "dm-user", arguments: ["presence", "-f"]),
    Call(program: "dm-typing", arguments: ["--watch"]),
    Call(program: "dm-chat", arguments: ["--plain", "bob"], lines: ("before", "after")),
  ]
  /// Programs that have a store open only briefly, because they follow nothing, and open it after they have read all lines.
  ///
  /// `dm-usage` opens none, and `dm-preview` only for the image of a line.
  static let ending = [
    "dm-attach", "dm-conversation", "dm-digest", "dm-doctor", "dm-export", "dm-preview", "dm-search", "dm-usage",
  ]

  @Test func `these tests cover each program that does not end by itself`() {
    #expect(Set(Self.calls.map(\.program) + Self.ending) == Set(ToolFixture.programs))
  }

  @Test(arguments: calls, ["mv \"$0\" \"$0.damaged\"", "rm -r \"$0\" || rm -r \"$0\""])
  func `a program whose store is replaced reports this and acknowledges nothing more`(call: Call, removal: String)
    throws
  {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    for number in 1...2 { try f.done("dm-send", ["alice", "\(number)"], as: "bob") }
    try f.done("dm-tail", ["--consumer", "c", "--cursor", "now"], as: "alice")
    let id = try #require(try f.done("dm-conversation", ["show", "bob"], as: "alice").record["id"]?.string)
    try f.done("dm-doctor", ["backup", "-q", f.directory + "/kept"])
    let live = try start(call, f)
    if let before = call.lines?.before {
      try live.send(before.replacing("ID", with: id))
      _ = try live.line()
    } else if call.program == "dm-typing" {
      // dm-typing prints nothing before somebody types, so the test waits until it watches the store.
      let files = "/proc/\(live.process.pid)/fd"
      try Torture.wait(until: "it watches the store") {
        try FileManager.default.contentsOfDirectory(atPath: files).contains { name in
          let file = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(files)/\(name)")
          return file?.hasPrefix("anon_inode:inotify") == true
        }
      }
    } else {
      _ = try live.line()
    }

    try f.done("sh", ["-c", removal, f.store])
    try f.done("dm-doctor", ["restore", "-q", f.directory + "/kept"])
    let held = try f.sql("SELECT (SELECT count(*) FROM message), (SELECT count(*) FROM receipt)")
    if let after = call.lines?.after {
      do {
        try live.send(after.replacing("ID", with: id))
      } catch {
        // dm-mcp may have noticed the new store and ended.
        #expect(call.program == "dm-mcp", "\(error)")
      }
    }
    let outcome = live.finish(closingInput: false)

    #expect(outcome.status == .exit(66), "\(outcome.stderr)")
    // A follower or a server may look while there is no store, and then reports that.
    #expect(outcome.stderr.contains("store"), "\(outcome.stderr)")
    if call.lines != nil, !["dm-chat", "dm-mcp"].contains(call.program) {
      #expect(outcome.stderr.contains("another store was put at"), "\(outcome.stderr)")
      let answers = outcome.stdout.split(separator: "\n").filter { !$0.contains(#""type":"error""#) }
      #expect(answers.isEmpty, "\(outcome.stdout)")
    }
    #expect(!outcome.stdout.contains(#""isError":false"#))
    #expect(try f.sql("SELECT (SELECT count(*) FROM message), (SELECT count(*) FROM receipt)") == held)
    // store.lock names the new store, so that lost commits of this store are noticed.
    try f.done("dm-send", ["bob", "next"], as: "alice")
    let mark = try String(contentsOfFile: f.store + "/store.lock", encoding: .utf8).split(separator: " ")
    let store = try f.sql("SELECT lower(hex(uuid)) FROM store")
    #expect(mark.count == 3 && mark[1].filter { $0 != "-" } == store, "\(mark) \(store)")
    try f.done("dm-doctor", ["check", "--deep"])
  }

  private func start(_ call: Call, _ f: ToolFixture) throws -> LiveProcess {
    let isChat = call.program == "dm-chat"
    let live = try LiveProcess(
      f, call.program, call.arguments, as: "alice", stdin: isChat ? .terminal : call.lines == nil ? .null : .pipe,
      stdout: isChat ? .terminal : .pipe)
    if call.program == "dm-mcp" {
      try live.send(MCPServer.greeting())
      _ = try live.line()
    }
    // dm-user presence -f prints nothing before somebody's presence changes.
    if call.program == "dm-user" { try f.follower(as: "bob").process.send(SIGTERM) }
    return live
  }
}
