import JSONSupport
import Testing

/// A server that has agreed on a revision, and is asked by the line.
struct MCPServer {
  let live: LiveProcess
  /// Its store, which is removed with this.
  private let f: ToolFixture

  init(_ f: ToolFixture, _ options: [String] = [], as user: String) throws {
    self.f = f
    live = try LiveProcess(f, "dm-mcp", options, as: user)
    _ = try ask("initialize", #"{"protocolVersion":"2025-06-18","capabilities":{}}"#)
  }

  /// Sends a request without waiting for its answer.
  func request(_ method: String, _ params: String = "{}", id: String = "1") throws {
    try live.send(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#)
  }

  func ask(_ method: String, _ params: String = "{}", id: String = "1") throws -> JSON {
    try request(method, params, id: id)
    return try live.record()
  }

  /// What a tool returns.
  func call(_ tool: String, _ arguments: String = "{}") throws -> JSON {
    try #require(try ask("tools/call", #"{"name":"\#(tool)","arguments":\#(arguments)}"#)["result"])
  }
}
