import JSONSupport
import Testing

/// dm-mcp with a client of the revision 2026-07-28, which names the revision in each request.
@Suite struct MCPStatelessTests {
  private static let template = Result {
    let f = try ToolFixture()
    try f.addUsers("alice", "bot")
    try f.done("dm-send", ["bot", "hello"], as: "alice")
    return f
  }

  /// A server and its store, which is removed with this value.
  private struct Server {
    let f: ToolFixture
    let live: LiveProcess

    init() throws {
      f = try ToolFixture(copyOf: MCPStatelessTests.template.get())
      live = try LiveProcess(f, "dm-mcp", as: "bot")
    }
  }

  /// The answer to a request that names a revision in `_meta`.
  private func ask(
    _ live: LiveProcess, _ method: String, _ members: String = "", revision: String = "2026-07-28",
    capabilities: String = #","io.modelcontextprotocol/clientCapabilities":{}"#
  ) throws -> JSON {
    let meta = #""_meta":{"io.modelcontextprotocol/protocolVersion":"\#(revision)"\#(capabilities)}"#
    try live.send(MCPServer.line(method, "{\(members.isEmpty ? "" : members + ",")\(meta)}"))
    return try live.record()
  }

  @Test func `server discover gives the revisions, the abilities and the name of the server`() throws {
    let server = try Server()
    let live = server.live
    let result = try ask(live, "server/discover")["result"]
    #expect(result?["supportedVersions"] == .array([.string("2026-07-28")]))
    #expect(result?["capabilities"]?["tools"] != nil && result?["capabilities"]?["resources"] != nil)
    #expect(result?["instructions"]?.string?.contains("'bot'") == true)
    #expect(result?["_meta"]?["io.modelcontextprotocol/serverInfo"]?["name"]?.string == "dm-mcp")
    #expect(result?["protocolVersion"] == nil && result?["serverInfo"] == nil)
    #expect(live.finish().status == .exit(0))
  }

  @Test func `requests need no handshake, and each result has its type and says how long it stays fresh`() throws {
    let server = try Server()
    let live = server.live
    for (method, members, isFresh) in [
      ("server/discover", "", true), ("tools/list", "", true), ("resources/templates/list", "", true),
      ("resources/list", "", false),
    ] {
      let result = try #require(try ask(live, method, members)["result"])
      #expect(result["resultType"]?.string == "complete", "\(method)")
      #expect(result["cacheScope"]?.string == "private", "\(method)")
      #expect(result["ttlMs"]?.int.map { ($0 > 0) == isFresh } == true, "\(method)")
    }
    let uri = try #require(
      try ask(live, "resources/list")["result"]?["resources"]?.array.first?["uri"]?.string)
    #expect(try ask(live, "resources/read", #""uri":"\#(uri)""#)["result"]?["ttlMs"]?.int == 0)
    let called = try ask(live, "tools/call", #""name":"read_history","arguments":{"conversation":"alice"}"#)["result"]
    #expect(called?["resultType"]?.string == "complete" && called?["isError"]?.bool == false)
    #expect(called?["ttlMs"] == nil && called?["cacheScope"] == nil)
    let failed = try ask(live, "tools/call", #""name":"read_history","arguments":{"conversation":"nobody"}"#)["result"]
    #expect(failed?["resultType"]?.string == "complete" && failed?["isError"]?.bool == true)
    #expect(live.finish().status == .exit(0))
  }

  @Test func `a call that waits is answered with the members of the revision`() throws {
    let server = try Server()
    let live = server.live
    let result = try ask(
      live, "tools/call", #""name":"wait_for_message","arguments":{"timeout_seconds":0}"#)["result"]
    #expect(try result?["resultType"]?.string == "complete" && MCPServer.data(result)["cursor"] != nil)
    #expect(live.finish().status == .exit(0))
  }

  @Test(arguments: ["1900-01-01", "2025-11-25", "", "2026-07-29"])
  func `an unsupported revision gives the error that lists the supported ones, and no line on standard error`(
    revision: String
  ) throws {
    let server = try Server()
    let live = server.live
    for method in ["server/discover", "tools/list"] {
      let error = try ask(live, method, revision: revision)["error"]
      #expect(error?["code"]?.int == -32022)
      #expect(error?["data"]?["supported"] == .array([.string("2026-07-28")]))
      #expect(error?["data"]?["requested"]?.string == revision)
    }
    let outcome = live.finish()
    #expect(outcome.status == .exit(0))
    #expect(outcome.stderr.isEmpty, "\(outcome.stderr)")
  }

  @Test func `a method that the revision does not have is unknown, and leaves no line on standard error`() throws {
    let server = try Server()
    let live = server.live
    for method in ["ping", "prompts/list", "subscriptions/listen", "logging/setLevel"] {
      #expect(try ask(live, method)["error"]?["code"]?.int == -32601, "\(method)")
    }
    let outcome = live.finish()
    #expect(outcome.stderr.isEmpty, "\(outcome.stderr)")
  }

  @Test func `a request without the required members of _meta is malformed`() throws {
    let server = try Server()
    let live = server.live
    for method in ["server/discover", "tools/list", "resources/list"] {
      #expect(try ask(live, method, capabilities: "")["error"]?["code"]?.int == -32602)
      try live.send(MCPServer.line(method))
      #expect(try live.record()["error"]?["code"]?.int == -32602)
      try live.send(MCPServer.line(method, #"{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}"#))
      #expect(try live.record()["error"]?["code"]?.int == -32602)
    }
    let gone = #""uri":"dm://conversation/01938a00-0000-7000-8000-000000000000""#
    #expect(try ask(live, "resources/read", gone)["error"]?["code"]?.int == -32602)
    #expect(live.finish().status == .exit(0))
  }

  @Test func `one process serves a handshake and requests that name their revision`() throws {
    let server = try Server()
    let live = server.live
    #expect(try ask(live, "tools/list")["result"]?["resultType"] != nil)
    try live.send(MCPServer.greeting("2025-11-25"))
    #expect(try live.record()["result"]?["protocolVersion"]?.string == "2025-11-25")
    try live.send(MCPServer.line("tools/list"))
    #expect(try live.record()["result"]?["resultType"] == nil)
    #expect(try ask(live, "tools/list")["result"]?["resultType"] != nil)
    // A client that writes the agreed revision into each request is answered by it.
    #expect(try ask(live, "tools/list", revision: "2025-11-25")["result"]?["resultType"] == nil)
    #expect(live.finish().status == .exit(0))
  }
}
