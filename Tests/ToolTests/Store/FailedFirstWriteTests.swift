import Foundation
import JSONSupport
import Testing

/// Commands that fail where there is no store yet.
@Suite struct FailedFirstWriteTests {
  struct Call: Sendable, CustomTestStringConvertible {
    let program: String
    let arguments: [String]
    var input: String?
    let status: Int32

    init(_ program: String, _ arguments: String..., input: String? = nil, status: Int32) {
      (self.program, self.arguments, self.input, self.status) = (program, arguments, input, status)
    }

    var testDescription: String { "\(program) \(arguments.joined(separator: " "))\(input == nil ? "" : " <lines")" }
  }

  static let calls = [
    Call("dm-send", "+ops", "text", status: 66), Call("dm-send", "bob", "text", status: 67),
    Call("dm-send", "bob", input: "text\n", status: 67), Call("dm-send", "bob", "", status: 65),
    Call("dm-send", "--lines", "bob", input: "one\ntwo\n", status: 1),
    Call("dm-send", input: "{\"conversation\":\"bob\",\"text\":\"one\"}\n{}\n", status: 1),
    Call("dm-send", "--to", "bob", "--to", "+ops", "text", status: 67),
    Call("dm-send", "bob", "--draft", "text", status: 67), Call("dm-send", "+ops", "--from-draft", status: 66),
    Call("dm-send", "alice", "--reply-to", "1", "text", status: 66),
    Call("dm-send", "bob", "--as-file", "--attach", "/etc/passwd", status: 67),
    Call("dm-send", "alice", "--attach", "/nonexistent", status: 66),
    Call("dm-attach", "/nonexistent", status: 66), Call("dm-attach", "/", status: 65),
    Call("dm-conversation", "create", "bob", status: 67),
    Call("dm-conversation", "create", "--title", "ops", "bob", status: 67),
    Call("dm-user", "block", "bob", status: 66), Call("dm-user", "add", "no handle", status: 65),
    Call("dm-import", input: "{\"conversation\":\"old\"}\n", status: 1),
  ]

  @Test(arguments: calls)
  func `a command that fails creates no store and no folder`(call: Call) throws {
    let f = try ToolFixture(store: "new/folder/store")
    let outcome = try f.run(call.program, call.arguments, as: "alice", stdin: call.input.map { Input($0) } ?? .none)
    #expect(outcome.status == .exit(call.status), "\(outcome.stderr)")
    #expect(!FileManager.default.fileExists(atPath: f.directory + "/new"))
  }

  @Test(arguments: [["+ops", "x"], ["bob", "x"], ["--draft", "bob", "x"]])
  func `if there is no store, the error for an unknown name says where the store would be`(words: [String]) throws {
    let f = try ToolFixture()
    #expect(try f.run("dm-send", words, as: "alice").stderr.contains("there is no store at '\(f.store)' yet"))
    f.set("DM_STORE", nil)
    let standard = f.directory + "/home/.local/share/dm"
    #expect(try f.run("dm-send", words, as: "alice").stderr.contains("there is no store at '\(standard)' yet"))
    #expect(
      try f.run("dm-send", as: "alice", stdin: Input(lines: ["{\"conversation\":\"bob\",\"text\":\"x\"}"])).record[
        "message"]?.string?.contains("there is no store at '\(standard)' yet") == true)
  }

  @Test func `lines create the store if at least one of them succeeds`() throws {
    let f = try ToolFixture()
    let lines = ["bob", "alice"].map { JSON.line(["conversation": $0, "text": "note"]) }
    let outcome = try f.run("dm-send", as: "alice", stdin: Input(lines: lines))
    #expect(outcome.status == .exit(1))
    #expect(try outcome.records.map { $0["seq"]?.int } == [nil, 1])
    try f.checkIntegrity()
    try f.done("dm-doctor", ["check", "--deep"])
  }

  @Test func `a store that DM_STORE names counts as absent until something is written to it`() throws {
    let f = try ToolFixture()
    try f.done("mkdir", [f.store])
    for file in ["", "with tables"] {
      if file.isEmpty {
        try f.done("touch", [f.store + "/dm.sqlite"])
      } else {
        try f.done("dm-user", ["add", "bob"])
        try f.makeEmpty()
      }
      for program in ["dm-list", "dm-tail"] {
        let outcome = try f.run(program, as: "alice")
        #expect(outcome.status == .exit(66), "\(program) \(file)")
        #expect(outcome.stderr.contains("there is no store at '\(f.store)' yet"), "\(outcome.stderr)")
      }
    }
    try f.done("dm-send", ["alice", "note"], as: "alice")
    #expect(try f.done("dm-list", as: "alice").records.count == 1)
  }
}
