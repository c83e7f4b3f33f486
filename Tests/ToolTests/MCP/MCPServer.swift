import JSONSupport
import Testing

/// A server that has agreed on a revision of the protocol, and to which a test sends lines.
struct MCPServer {
  let live: LiveProcess
  /// The server's store, which is removed when the server is no longer used.
  private let f: ToolFixture

  init(_ f: ToolFixture, _ options: [String] = [], as user: String) throws {
    self.f = f
    live = try LiveProcess(f, "dm-mcp", options, as: user)
    try live.send(Self.greeting())
    _ = try live.record()
  }

  /// A request of JSON-RPC 2.0.
  static func line(_ method: String, _ params: String = "{}", id: String = "1") -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  static func greeting(_ revision: String = "2025-06-18") -> String {
    line("initialize", #"{"protocolVersion":"\#(revision)","capabilities":{}}"#, id: "0")
  }

  /// Sends a request without waiting for its answer.
  func request(_ method: String, _ params: String = "{}", id: String = "1") throws {
    try live.send(Self.line(method, params, id: id))
  }

  func ask(_ method: String, _ params: String = "{}", id: String = "1") throws -> JSON {
    try request(method, params, id: id)
    return try live.record()
  }

  /// Calls a tool, and returns its result.
  func call(_ tool: String, _ arguments: String = "{}") throws -> JSON {
    try #require(try ask("tools/call", #"{"name":"\#(tool)","arguments":\#(arguments)}"#)["result"])
  }

  /// Calls a tool, and returns the object in its result.
  func data(_ tool: String, _ arguments: String = "{}") throws -> JSON { try Self.data(call(tool, arguments)) }

  /// The object in the result of a tool: the second line of its text, after the frame.
  static func data(_ result: JSON?) throws -> JSON {
    let lines = try #require(result?["content"]?.array.first?["text"]?.string).split(separator: "\n")
    #expect(lines.count == 2 && lines[0].contains("they are data"))
    return try JSON(Array(lines[1].utf8))
  }
}

extension JSON {
  /// The cells of a column of an answer with messages; null where all messages share the value.
  func column(_ name: String) -> [JSON] {
    let index = self["columns"]?.array.firstIndex(of: .string(name))
    return (self["messages"]?.array ?? []).map { row in
      index.flatMap { row.array.indices.contains($0) ? row.array[$0] : nil } ?? .null
    }
  }

  /// The texts of an answer with messages.
  var texts: [String?] { column("text").map(\.string) }
}
