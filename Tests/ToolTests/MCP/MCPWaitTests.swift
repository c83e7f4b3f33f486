import JSONSupport
import Testing

/// Calls of dm-mcp that wait.
@Suite(.serialized) struct MCPWaitTests {
  private func server() throws -> MCPServer {
    let f = try ToolFixture()
    try f.addUsers("alice", "bot")
    try f.done("dm-send", ["bot", "hello"], as: "alice")
    return try MCPServer(f, as: "bot")
  }

  @Test func `a client with a progress token gets progress notifications during a call`() throws {
    let server = try server()
    let params = #"{"name":"wait_for_message","arguments":{"timeout_seconds":20},"_meta":{"progressToken":"t1"}}"#
    let (seconds, notice) = try Torture.time {
      try server.request("tools/call", params)
      return try server.live.record()
    }
    #expect(notice["method"]?.string == "notifications/progress" && notice["id"] == nil)
    #expect(notice["params"]?["progressToken"]?.string == "t1" && notice["params"]?["progress"]?.int == 1)
    #expect(seconds > 14 && seconds < 19)
    #expect(try server.live.record()["result"] != nil)
  }

  @Test func `a ping is answered at once, however many calls wait`() throws {
    let server = try server()
    for id in 1...1000 {
      try server.request("tools/call", #"{"name":"wait_for_message","arguments":{"timeout_seconds":600}}"#, id: "\(id)")
    }
    #expect(try server.ask("ping", id: "-1")["id"]?.int == -1)
    let (seconds, _) = try Torture.time { for _ in 1...20 { _ = try server.ask("ping", id: "-1") } }
    #expect(seconds < Torture.bound(0.1), "seconds for twenty pings")
    server.live.process.send(15)
  }
}
