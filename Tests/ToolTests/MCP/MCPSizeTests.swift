import JSONSupport
import Testing

/// How many bytes the answers of dm-mcp have, compared with answers that had a record for each message and conversation.
@Suite struct MCPSizeTests {
  /// The bytes of the texts of the answers, and of the list of tools, when each had whole records and whole schemas.
  private static let earlier = (history: 9948, list: 36_320, tools: 25_400)

  private static let template = Result {
    let f = try ToolFixture()
    try f.addUsers("alice", "bot")
    for number in 1...15 {
      // 60 bytes each, from both.
      let text = "message \(10 + number) with exactly as many bytes as were measured here."
      try f.done("dm-send", ["bot", text], as: "alice")
      try f.done("dm-send", ["alice", text], as: "bot")
    }
    for number in 1...49 {
      let user = "user\(10 + number)"
      try f.done("dm-user", ["add", user], as: "alice")
      try f.done("dm-send", ["bot", "a message of the user number \(number)"], as: user)
    }
    return f
  }

  private func server() throws -> MCPServer {
    try MCPServer(ToolFixture(copyOf: Self.template.get()), as: "bot")
  }

  /// The bytes of the line with the answer to a request.
  private func size(_ server: MCPServer, _ method: String, _ params: String) throws -> Int {
    try server.request(method, params)
    return try #require(try server.live.line()).utf8.count
  }

  @Test func `30 messages take a third of the bytes that their records took`() throws {
    let server = try server()
    let size = try size(server, "tools/call", #"{"name":"read_history","arguments":{"conversation":"alice"}}"#)
    #expect(size * 3 <= Self.earlier.history, "\(size) bytes")
    let history = try server.data("read_history", #"{"conversation":"alice"}"#)
    #expect(history.texts.count == 30 && history.texts.allSatisfy { $0?.utf8.count == 60 })
    #expect(history["conversation"]?.string == "alice" && history["you"]?.string == "bot")
  }

  @Test func `a list of 50 conversations takes a third of the bytes that their records took`() throws {
    let server = try server()
    let size = try size(server, "tools/call", #"{"name":"list_conversations"}"#)
    #expect(size * 3 <= Self.earlier.list, "\(size) bytes")
    #expect(try server.data("list_conversations")["conversations"]?.array.count == 50)
  }

  @Test(arguments: [[], ["--files-from", "/"]])
  func `the list of tools takes a third of the bytes that it took with the schemas of results`(options: [String]) throws
  {
    let server = try MCPServer(ToolFixture(copyOf: Self.template.get()), options, as: "bot")
    let size = try size(server, "tools/list", "{}")
    #expect(size * 3 <= Self.earlier.tools, "\(size) bytes")
  }
}
