import JSONSupport
import Testing

/// What an agent can learn about other conversations, and which input it may write.
struct MCPScopeTests {
  private func fixture() throws -> ToolFixture {
    let f = try ToolFixture()
    try f.addUsers("alice", "bot", "carol")
    try f.done("dm-send", ["bot", "hello, can you approve the invoice?"], as: "alice")
    try f.done("dm-send", ["bot", "not for the agent, can you approve it?"], as: "carol")
    return f
  }

  /// Everything that an agent with one conversation can read, read twice.
  private func everything(_ f: ToolFixture) throws -> String {
    let server = try MCPServer(f, ["--only", "alice"], as: "bot")
    var texts: [String] = []
    for _ in 1...2 {
      texts.append("\(try server.call("read_history"))")
      texts.append("\(try server.call("list_conversations"))")
      texts.append("\(try server.call("digest", #"{"since":"1h"}"#))")
      texts.append("\(try server.call("wait_for_message", #"{"timeout_seconds":0}"#))")
      texts.append("\(try server.ask("resources/list"))")
    }
    #expect(server.live.finish().status == .exit(0))
    return texts.joined(separator: "\n")
  }

  @Test func `with --only, the answers show nothing of other conversations`() throws {
    let f = try fixture()
    let before = try everything(f)
    for number in 1...3 { try f.done("dm-send", ["carol", "\(number)"], as: "alice") }
    try f.done("dm-conversation", ["create", "--title", "elsewhere", "carol"], as: "alice")
    #expect(try everything(f) == before)
  }

  @Test func `with --only, references and search order do not depend on other conversations`() throws {
    let f = try fixture()
    try f.done("dm-conversation", ["create", "--title", "ops", "bot"], as: "alice")
    for text in ["foo one", "bar two, can somebody approve it?"] { try f.done("dm-send", ["+ops", text], as: "alice") }
    func seen() throws -> String {
      let server = try MCPServer(f, ["--only", "+ops"], as: "bot")
      let answers = [
        try server.call("read_history"), try server.call("search", #"{"query":"foo OR bar"}"#),
        try server.call("wait_for_message", #"{"timeout_seconds":0}"#), try server.call("digest", #"{"since":"1h"}"#),
        try server.call("send", #"{"conversation":"+ops","text":"same","nonce":"n"}"#),
      ]
      #expect(server.live.finish().status == .exit(0))
      return answers.map { "\($0)" }.joined(separator: "\n")
    }
    _ = try seen()
    let before = try seen()
    #expect(before.contains("+ops:4"))
    for _ in 1...9 { try f.done("dm-send", ["carol", "bar secret"], as: "alice") }
    // The agent's conversation is named when the server starts; here by its id, because two groups have its title.
    let id = try #require(try f.done("dm-conversation", ["show", "+ops"], as: "bot").record["id"]?.string)
    try f.done("dm-conversation", ["create", "--title", "ops", "bot"], as: "carol")
    let server = try MCPServer(f, ["--only", id], as: "bot")
    let found = "\(try server.call("search", #"{"query":"foo OR bar"}"#))"
    #expect(server.live.finish().status == .exit(0))
    #expect(found.contains("+ops") && found.contains("foo one"))
    #expect(before.contains(found))
  }

  @Test func `with --only, a wait continues at a cursor of its connection, and other cursors are refused`() throws {
    let f = try fixture()
    let server = try MCPServer(f, ["--only", "alice"], as: "bot")
    let history = try server.data("read_history")
    let cursor = try #require(history["cursor"]?.string)
    try f.done("dm-send", ["bot", "next"], as: "alice")
    let waited = try server.data("wait_for_message", #"{"cursor":"\#(cursor)"}"#)
    #expect(waited.texts == ["next"])
    #expect(try server.data("list_conversations")["next"] == nil)
    let list = try server.data("list_conversations", #"{"limit":1}"#)
    let page = try #require(list["next"]?.string)
    let rest = try server.data("list_conversations", #"{"after":"\#(page)"}"#)
    #expect(rest["conversations"]?.array == [])
    // A cursor of the other kind is refused, too. The error names the cursor, and not the cursor of the store that it
    // stands for.
    for (tool, wrong) in [("wait_for_message", page), ("list_conversations", cursor)] {
      let argument = tool == "list_conversations" ? "after" : "cursor"
      let result = "\(try server.call(tool, "{\"\(argument)\":\"\(wrong)\"}"))"
      #expect(
        result.contains("is no such cursor") && result.contains(wrong) && !result.contains("is not a cursor of"),
        "\(result)")
    }
    for unknown in ["c1-1", "k999", ""] {
      #expect(try server.call("wait_for_message", #"{"cursor":"\#(unknown)"}"#)["isError"]?.bool == true)
    }
    #expect(server.live.finish().status == .exit(0))
  }

  @Test(arguments: [
    #"{"x":"a\u0000b"}"#, #"{"x":"half \ud83d"}"#, #"{"x":"other half \udc00"}"#, #"{"x":1e999}"#, #"{"x":1,"x":2}"#,
    #"{"x":\#(String(repeating: "[", count: 100) + String(repeating: "]", count: 100))}"#,
  ])
  func `a call whose JSON is not accepted gets an error with the id of the call`(params: String) throws {
    let server = try MCPServer(fixture(), as: "bot")
    let answer = try server.ask("ping", params, id: #""call 42""#)
    #expect(answer["id"]?.string == "call 42" && answer["error"]?["code"]?.int == -32602, "\(answer)")
    #expect(try server.ask("ping")["error"] == nil)
    // A notification is not answered.
    try server.live.send(#"{"jsonrpc":"2.0","method":"notifications/x","params":\#(params)}"#)
    #expect(try server.ask("ping", id: "7")["id"]?.int == 7)
  }

  @Test(arguments: ["2026-01-01", "yesterday", "7d", "14:30", "2026-01-01T00:00:00Z", "alice:1"])
  func `the argument since accepts each form of a time that the programs accept`(time: String) throws {
    let server = try MCPServer(fixture(), as: "bot")
    let result = try server.call("read_history", #"{"conversation":"alice","since":"\#(time)"}"#)
    #expect(result["isError"]?.bool != true, "\(result)")
    let wrong = try server.call("read_history", #"{"conversation":"alice","since":"last tuesday"}"#)
    #expect("\(wrong)".contains("is not a time; write 2026-11-21"))
  }
}
