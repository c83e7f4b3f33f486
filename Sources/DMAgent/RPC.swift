internal import DMJSON
internal import DMKit

/// A request or a notification of JSON-RPC 2.0.
struct RPCRequest {
  enum ID: Equatable {
    case text(String)
    case number(Int)

    /// Nil for a value that can be neither an id nor a token.
    init?(_ value: JSONValue?) {
      switch value {
      case .string(let text): self = .text(text)
      case .integer(let number): self = .number(number)
      default: return nil
      }
    }

    func write(to json: inout JSONWriter) {
      switch self {
      case .text(let text): json.value(text)
      case .number(let number): json.value(number)
      }
    }
  }

  /// Nil for a notification, which is not answered.
  let id: ID?
  let method: String
  let params: JSONObject

  /// The id of a value that may be a request; nil if the value has no valid id.
  static func id(of value: JSONValue) -> ID? {
    guard case .object(let object) = value else { return nil }
    return ID(object["id"])
  }

  /// Whether a value names a method and has no id.
  static func isNotification(_ value: JSONValue) -> Bool {
    if case .object(let object) = value { object["method"] != nil && object["id"] == nil } else { false }
  }

  /// - Returns: nil for a response: the server sends no requests, so it expects no responses.
  /// - Throws: `RPCError`.
  init?(_ value: JSONValue) throws(RPCError) {
    guard case .object(let object) = value else { throw .invalidRequest("a message is \(value.kind); write an object") }
    guard object["jsonrpc"] == .string("2.0") else { throw .invalidRequest("'jsonrpc' is not \"2.0\"") }
    guard let method = object["method"] else {
      if object["result"] != nil || object["error"] != nil { return nil }
      throw .invalidRequest("'method' is missing")
    }
    guard case .string(let name) = method else { throw .invalidRequest("'method' is \(method.kind); write a string") }
    id = Self.id(of: value)
    if id == nil, object["id"] != nil { throw .invalidRequest("'id' is neither a string nor a whole number") }
    switch object["params"] {
    case nil: params = JSONObject()
    case .object(let members): params = members
    case let other?: throw .invalidParams("'params' is \(other.kind); write an object")
    }
    self.method = name
  }

  private var meta: JSONObject? { if case .object(let meta)? = params["_meta"] { meta } else { nil } }

  /// The revision of the protocol that the request names (see "Per-request protocol fields"); nil if it names none.
  ///
  /// - Throws: `RPCError`.
  func protocolVersion() throws(RPCError) -> String? {
    switch meta?[Self.versionKey] {
    case nil: return nil
    case .string(let version): return version
    case let other?: throw .invalidParams("'\(Self.versionKey)' in '_meta' is \(other.kind); write a string")
    }
  }

  /// Whether the request has the capabilities of the client, as each request that names its revision must.
  var hasCapabilities: Bool { if case .object? = meta?[Self.capabilitiesKey] { true } else { false } }

  private static let versionKey = "io.modelcontextprotocol/protocolVersion"
  static let capabilitiesKey = "io.modelcontextprotocol/clientCapabilities"

  /// The token that names the call in progress notifications (see "Progress" in the protocol); nil if the client wants
  /// no such notifications.
  var progressToken: ID? { ID(meta?["progressToken"]) }

  /// A parameter that is a text.
  ///
  /// - Throws: `RPCError`.
  func text(_ name: String) throws(RPCError) -> String {
    guard case .string(let text)? = params[name] else { throw .invalidParams("'\(name)' is missing or not a string") }
    return text
  }
}

/// An error of JSON-RPC 2.0, section 5.1, or of the protocol ("Error Codes").
struct RPCError: Error {
  let code: Int
  let message: String
  /// The error of the messenger that caused this error; nil if there is none.
  var reason: DMError?
  /// The revision that the request names and the server does not support; nil for another error.
  var version: String?

  /// Whether clients cause this error only to find out what the server supports.
  var isProbe: Bool { code == -32601 || version != nil }

  static func parseError(_ message: String) -> RPCError { RPCError(code: -32700, message: message) }
  static func invalidRequest(_ message: String) -> RPCError { RPCError(code: -32600, message: message) }
  static func unknownMethod(_ name: String) -> RPCError {
    RPCError(code: -32601, message: "unknown method '\(Outgoing.cut(name, to: 64))'")
  }
  static func invalidParams(_ message: String) -> RPCError { RPCError(code: -32602, message: message) }
  static func failed(_ reason: DMError) -> RPCError {
    RPCError(code: -32603, message: reason.message, reason: reason)
  }
  /// The error that the protocol defines in "Resources", "Error Handling".
  static func unknownResource(_ uri: String, _ revision: Revision) -> RPCError {
    RPCError(
      code: revision.isStateless ? -32602 : -32002, message: "there is no resource '\(Outgoing.cut(uri, to: 256))'")
  }
  /// The error that the protocol defines in "Protocol Version Negotiation".
  static func unsupportedVersion(_ version: String) -> RPCError {
    let version = Outgoing.cut(version, to: 64)
    return RPCError(code: -32022, message: "unsupported protocol version '\(version)'", version: version)
  }
}

/// The answer to a request, without its line feed.
func response(to id: RPCRequest.ID?, _ body: (inout JSONWriter) throws -> Void) rethrows -> [UInt8] {
  var json = JSONWriter()
  try json.object { json in
    json.member("jsonrpc", "2.0")
    json.key("id")
    if let id { id.write(to: &json) } else { json.null() }
    try body(&json)
  }
  return json.bytes
}

/// The answer to a request that failed.
func response(to id: RPCRequest.ID?, _ error: RPCError) -> [UInt8] {
  response(to: id) { json in
    json.key("error")
    json.object { json in
      json.member("code", error.code)
      json.member("message", error.message)
      if let reason = error.reason {
        json.key("data")
        ErrorRecord(line: nil, reason, message: reason.message).write(to: &json)
      } else if let version = error.version {
        json.key("data")
        json.object { json in
          json.member("supported", texts: Revision.stateless)
          json.member("requested", version)
        }
      }
    }
  }
}
