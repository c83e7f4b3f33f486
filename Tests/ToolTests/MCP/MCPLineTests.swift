import Foundation
import Glibc
import JSONSupport
import Testing

/// dm-mcp line by line: input that no correct client writes, and how the server ends.
@Suite struct MCPLineTests {
  private static let template = Result {
    let f = try ToolFixture()
    try f.addUsers("alice", "bot")
    try f.done("dm-send", ["bot", "hello"], as: "alice")
    return f
  }

  private func fixture() throws -> ToolFixture { try ToolFixture(copyOf: Self.template.get()) }

  /// A server that has agreed with its client on a revision of the protocol.
  private func server(_ f: ToolFixture, _ revision: String = "2025-06-18") throws -> LiveProcess {
    let live = try LiveProcess(f, "dm-mcp", as: "bot")
    try live.send(MCPServer.greeting(revision))
    let hello = try live.record()
    #expect(hello["result"]?["protocolVersion"]?.string == revision)
    try live.send(#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
    return live
  }

  private func line(_ method: String, _ params: String = "{}", id: String = "1") -> String {
    MCPServer.line(method, params, id: id)
  }

  private func ask(_ live: LiveProcess, _ method: String, _ params: String = "{}", id: String = "1") throws -> JSON {
    try live.send(line(method, params, id: id))
    return try live.record()
  }

  private func call(_ tool: String, _ arguments: String = "{}", id: String = "1") -> String {
    line("tools/call", #"{"name":"\#(tool)","arguments":\#(arguments)}"#, id: id)
  }

  /// Sends a line, and expects an error with this code and this id.
  private func expect(
    _ code: Int, id: JSON = .null, for line: [UInt8], _ live: LiveProcess, at location: SourceLocation
  ) throws {
    try live.send(bytes: line + [0x0A])
    let answer = try live.record()
    #expect(answer["jsonrpc"]?.string == "2.0", sourceLocation: location)
    #expect(answer["error"]?["code"]?.int == code, "\(answer)", sourceLocation: location)
    #expect(answer["id"] == id, sourceLocation: location)
    #expect(answer["result"] == nil, sourceLocation: location)
  }

  private func expect(
    _ code: Int, id: JSON = .null, for line: String, _ live: LiveProcess, at location: SourceLocation = #_sourceLocation
  ) throws {
    try expect(code, id: id, for: Array(line.utf8), live, at: location)
  }

  @Test func `a line that is not JSON is a parse error, and the next line is answered`() throws {
    let live = try server(fixture())
    for garbage in ["hello", "", "{", #"{"jsonrpc":"2.0","id":1,"method":"ping""#, #"{"a":1,"a":2}"#, "{'a':1}", "nul"]
    {
      try expect(-32700, for: garbage, live)
    }
    try expect(-32700, for: [0x22, 0xFF, 0x22], live, at: #_sourceLocation)
    try expect(-32700, for: String(repeating: "[", count: 100_000), live)
    #expect(try ask(live, "ping")["result"] == .object([]))
    #expect(live.finish().status == .exit(0))
  }

  @Test func `a line far over 1 MiB is a parse error, and the server uses less than 64 MiB`() throws {
    let live = try server(fixture())
    let mebibyte = [UInt8](repeating: UInt8(ascii: "a"), count: 1024 * 1024)
    for _ in 1...Torture.size(128, long: 1024) { try live.send(bytes: mebibyte) }
    try expect(-32700, for: "", live)
    #expect(try live.peak() < 64 * 1024, "KiB")
    #expect(try ask(live, "ping")["result"] == .object([]))
    #expect(live.finish().status == .exit(0))
  }

  @Test func `a message that is not a request gives the error for an invalid request`() throws {
    let live = try server(fixture())
    let invalid = [
      "7", "null", "[]", #"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "{}",
      #"{"id":null,"jsonrpc":"2.0","method":"ping"}"#,
      #"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, #"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#,
    ]
    for message in invalid { try expect(-32600, for: message, live) }
    try expect(-32600, id: .number(7), for: #"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, live)
    try expect(-32600, id: .string("x"), for: #"{"jsonrpc":"2.0","id":"x","method":7}"#, live)
    try expect(-32600, id: .string("x"), for: #"{"jsonrpc":"2.0","id":"x"}"#, live)
    #expect(live.finish().status == .exit(0))
  }

  @Test func `an unknown method gives error -32601, and wrong parameters give error -32602`() throws {
    let live = try server(fixture())
    for method in ["prompts/list", "logging/setLevel", "resources/subscribe", "tools", "server/discover", ""] {
      try expect(-32601, id: .number(1), for: line(method), live)
    }
    let wrong = [
      line("tools/call"), line("tools/call", "[]"), line("tools/call", #"{"name":7}"#), call("no_tool"),
      line("tools/call", #"{"name":"send","arguments":[]}"#), call("send", #"{"conversation":"alice","text":"x"}"#),
      call("send", #"{"conversation":"alice","text":"x","nonce":7.5}"#),
      call("send", #"{"conversation":"alice","text":"x","nonce":null}"#),
      call("read_history", #"{"limit":201}"#), call("read_history", #"{"limit":"five"}"#),
      call("read_history", #"{"unread_only":1}"#), call("search", #"{"has":["luck"]}"#),
      call("digest", #"{"kinds":["rumor"]}"#), call("digest", #"{"limit":10001}"#),
      call("search", #"{"query":"x","conversations":{"a":"alice"}}"#),
      call("list_conversations", #"{"sender":"alice"}"#),
      line("resources/read"), line("resources/list", #"{"cursor":"x"}"#), line("tools/list", #"{"cursor":"x"}"#),
    ]
    for request in wrong { try expect(-32602, id: .number(1), for: request, live) }
    #expect(live.finish().status == .exit(0))
  }

  @Test func `before initialization the server answers only ping and initialize`() throws {
    let live = try LiveProcess(fixture(), "dm-mcp", as: "bot")
    #expect(try ask(live, "ping")["result"] == .object([]))
    for method in ["tools/list", "resources/list", "resources/templates/list", "server/discover"] {
      try expect(-32602, id: .number(1), for: line(method), live)
    }
    try expect(-32602, id: .number(1), for: call("list_conversations"), live)
    try expect(-32602, id: .number(1), for: line("initialize"), live)
    #expect(try ask(live, "initialize", #"{"protocolVersion":"2024-11-05"}"#)["result"] != nil)
    try expect(-32600, id: .number(1), for: line("initialize", #"{"protocolVersion":"2024-11-05"}"#), live)
    #expect(live.finish().status == .exit(0))
  }

  @Test(arguments: ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
  func `the server accepts each protocol revision that it supports`(revision: String) throws {
    let live = try server(fixture(), revision)
    #expect(try ask(live, "tools/list")["result"]?["tools"]?.array.count == 13)
    #expect(live.finish().status == .exit(0))
  }

  @Test(arguments: ["1999-01-01", "2026-07-28", ""])
  func `the server offers its latest revision instead of one that it does not support`(revision: String) throws {
    let live = try LiveProcess(fixture(), "dm-mcp", as: "bot")
    let hello = try ask(live, "initialize", #"{"protocolVersion":"\#(revision)"}"#)
    #expect(hello["result"]?["protocolVersion"]?.string == "2025-11-25")
    #expect(live.finish().status == .exit(0))
  }

  @Test func `only revision 2025-03-26 has batches, and a batch is answered with one array`() throws {
    let f = try fixture()
    let live = try server(f, "2025-03-26")
    let noted = #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#
    let wait = call("wait_for_message", #"{"timeout_seconds":600}"#, id: #""w""#)
    try live.send("[\(wait),\(noted),\(line("ping", id: "2")),7]")
    // A batch is answered as a whole, so the line after it is answered first.
    #expect(try ask(live, "ping", id: "3")["id"] == .number(3))
    try f.done("dm-send", ["bot", "news"], as: "alice")
    let answers = try live.record().array
    try #require(answers.count == 3)
    #expect(answers.map { $0["id"] } == [.number(2), .null, .string("w")])
    #expect(answers[1]["error"]?["code"]?.int == -32600)
    #expect(try MCPServer.data(answers[2]["result"]).texts == ["news"])
    try live.send("[\(noted)]")
    try expect(-32600, for: "[]", live)
    #expect(live.finish().status == .exit(0))
  }

  @Test func `a notification and a response get no answer`() throws {
    let live = try server(fixture())
    for method in ["notifications/initialized", "notifications/roots/list_changed", "tools/list", "nonsense"] {
      try live.send(#"{"jsonrpc":"2.0","method":"\#(method)"}"#)
    }
    try live.send(#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#)
    try live.send(#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#)
    try live.send(#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
    #expect(try ask(live, "ping", id: #""last""#)["id"] == .string("last"))
    #expect(live.finish().output.isEmpty)
  }

  @Test func `a cancelled call gets no answer, and other calls go on`() throws {
    let f = try fixture()
    let live = try server(f)
    try live.send(call("wait_for_message", #"{"timeout_seconds":600}"#, id: "1"))
    try live.send(call("wait_for_message", #"{"timeout_seconds":600}"#, id: #""1""#))
    try live.send(#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
    #expect(try ask(live, "ping", id: "2")["id"] == .number(2))
    try f.done("dm-send", ["bot", "news"], as: "alice")
    #expect(try live.record()["id"] == .string("1"))
    let outcome = live.finish()
    #expect(outcome.status == .exit(0))
    #expect(outcome.output.isEmpty)
  }

  @Test func `a waiting call ends at its timeout and at the end of the input`() throws {
    let f = try fixture()
    let live = try server(f)
    let none = try ask(live, "tools/call", #"{"name":"wait_for_message","arguments":{"timeout_seconds":1}}"#)
    #expect(try MCPServer.data(none["result"])["messages"] == .array([]))
    #expect(try MCPServer.data(none["result"])["cursor"]?.string?.isEmpty == false)
    try live.send(call("wait_for_message", #"{"timeout_seconds":3600}"#, id: "2"))
    let outcome = live.finish()
    #expect(outcome.status == .exit(0))
    let last = try JSON(Array(outcome.output.dropLast()))
    #expect(last["id"] == .number(2))
    #expect(try MCPServer.data(last["result"])["messages"] == .array([]))
    try f.checkIntegrity()
  }

  @Test func `an incomplete last line is a parse error and has no effect`() throws {
    let f = try fixture()
    let live = try server(f)
    try live.send(bytes: Array(call("send", #"{"conversation":"alice","text":"half","nonce":"n"}"#).utf8))
    let outcome = live.finish()
    #expect(outcome.status == .exit(0))
    #expect(try JSON(Array(outcome.output.dropLast()))["error"]?["code"]?.int == -32700)
    #expect(try f.sql("SELECT count(*) FROM message") == "1")
  }

  @Test(arguments: [SIGTERM, SIGINT], [false, true])
  func `dm-mcp that is ended by a signal leaves its store intact`(number: Int32, isWaiting: Bool) throws {
    let f = try fixture()
    let live = try server(f)
    try live.send(call("send", #"{"conversation":"alice","text":"once","nonce":"n"}"#))
    #expect(try MCPServer.data(live.record()["result"])["message"]?["ref"]?.string == "alice:2")
    if isWaiting { try live.send(call("wait_for_message", #"{"timeout_seconds":3600}"#)) }
    #expect(try ask(live, "ping", id: "9")["id"] == .number(9))
    live.process.send(number)
    let outcome = live.finish(closingInput: false)
    #expect(outcome.status == .signal(number))
    #expect(outcome.output.isEmpty)
    try f.checkIntegrity()
  }

  @Test func `standard error has the errors and never the text of a message`() throws {
    let f = try fixture()
    let live = try server(f)
    let secret = "the password is 4711"
    for arguments in [
      #"{"conversation":"alicia","text":"\#(secret)","nonce":"n"}"#, #"{"conversation":"alice","text":"\#(secret)"}"#,
      #"{"conversation":"alice","text":["\#(secret)"],"nonce":"n"}"#,
    ] {
      try live.send(call("send", arguments))
      _ = try live.record()
    }
    try live.send(#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"\#(secret)"}"#)
    try live.send("{\(secret)")
    _ = try (live.record(), live.record())
    let outcome = live.finish()
    #expect(outcome.stderr.split(separator: "\n").count == 5, "\(outcome.stderr)")
    #expect(outcome.stderr.hasPrefix("dm-mcp: send: unknown_user\n"))
    #expect(!outcome.stderr.contains("4711"), "\(outcome.stderr)")
    try f.checkIntegrity()
  }

  @Test func `dm-mcp does not start with an unknown conversation, on a terminal or with operands`() throws {
    let f = try fixture()
    #expect(try f.run("dm-mcp", ["--only", "+nowhere"], as: "bot").status == .exit(66))
    #expect(try f.run("dm-mcp", ["--only", "alicia"], as: "bot").status == .exit(67))
    #expect(try f.run("dm-mcp", ["serve"], as: "bot").status == .exit(64))
    #expect(try f.run("dm-mcp", ["--quiet"], as: "bot").status == .exit(64))
    let live = try LiveProcess(f, "dm-mcp", as: "bot", stdin: .terminal)
    #expect(live.finish(closingInput: false).status == .exit(64))
  }

  @Test func `a call without a store gets an error result, and the server continues`() throws {
    let f = try ToolFixture()
    let live = try server(f)
    let none = try ask(live, "tools/call", #"{"name":"wait_for_message"}"#)
    #expect(none["result"]?["isError"] == .bool(true))
    #expect(none["result"]?["content"]?.array.first?["text"]?.string?.contains(#""code":"no_store""#) == true)
    try f.addUsers("alice", "bot")
    #expect(try ask(live, "tools/call", #"{"name":"list_conversations"}"#)["result"]?["isError"] == .bool(false))
    #expect(live.finish().status == .exit(0))
  }
}
