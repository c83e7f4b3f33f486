package import DMModel

/// A JSON value.
///
/// A number that has no fraction and no exponent is an exact `Int` if it fits; any other number is a `Double`.
package enum JSONValue: Equatable, Sendable {
  case null
  case bool(Bool)
  case integer(Int)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  /// The kind of the value, as error messages name it.
  package var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .integer, .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// The members of an object, in order, with unique names.
package struct JSONObject: Equatable, Sendable {
  package struct Member: Equatable, Sendable {
    package let name: String
    package let value: JSONValue

    fileprivate func isNamed(_ text: String) -> Bool { ExactString(name) == ExactString(text) }
  }

  package fileprivate(set) var members: [Member] = []

  package init() {}

  /// The value of a member; nil if there is none.
  ///
  /// Linear in the number of members, which is small in the input of this suite.
  package subscript(_ name: String) -> JSONValue? {
    // Searches by index, so that no member is copied for the comparison.
    let offset = members.indices.first { members[$0].name.utf8.count == name.utf8.count && members[$0].isNamed(name) }
    return offset.map { members[$0].value }
  }
}

extension JSONObject {
  /// A member that is a string; nil if there is none.
  package func text(_ name: String) -> String? { if case .string(let text)? = self[name] { text } else { nil } }

  /// A member that is an integer; nil if there is none.
  package func integer(_ name: String) -> Int? { if case .integer(let number)? = self[name] { number } else { nil } }

  /// A member that is true or false; nil if there is none.
  package func flag(_ name: String) -> Bool? { if case .bool(let flag)? = self[name] { flag } else { nil } }
}

/// A strict parser of JSON (RFC 8259).
///
/// It accepts only valid UTF-8 and paired surrogates, unique names, numbers within the range of a Double, and at most
/// 64 levels of nesting. It refuses NUL characters and a byte order mark.
///
/// The decoder of FoundationEssentials would accept duplicate names and a byte order mark.
package struct JSONReader: ~Copyable {
  package let bytes: UnsafeBufferPointer<UInt8>
  package var offset = 0
  private var depth = 0
  /// Whether to accept all JSON (RFC 8259); see `lenientValue`.
  package private(set) var isLenient = false

  static let nesting = 64

  /// Reads a line that is one object.
  ///
  /// - Throws: `invalid_utf8` or `malformed_line`; the message says at which byte, counted from 1.
  package static func object(_ line: ArraySlice<UInt8>) throws(DMError) -> JSONObject {
    guard case .object(let object) = try value(line, mustBeObject: true) else {
      throw DMError(.internal, "a line that is an object is none")
    }
    return object
  }

  /// Reads a line that is one value.
  ///
  /// - Throws: like `object`.
  package static func value(
    _ line: ArraySlice<UInt8>, mustBeObject: Bool = false
  ) throws(DMError) -> JSONValue {
    try value(line, mustBeObject: mustBeObject, isLenient: false)
  }

  /// Reads any valid JSON (RFC 8259), to find the JSON-RPC id of a line that `value` refuses.
  ///
  /// NULs and unpaired surrogates become U+FFFD; numbers that are too large and values that are nested too deeply
  /// become null; if several members have the same name, only the first is kept.
  ///
  /// - Throws: like `object`, if the line is not JSON.
  package static func lenientValue(_ line: ArraySlice<UInt8>) throws(DMError) -> JSONValue {
    try value(line, mustBeObject: false, isLenient: true)
  }

  private static func value(
    _ line: ArraySlice<UInt8>, mustBeObject: Bool, isLenient: Bool
  ) throws(DMError) -> JSONValue {
    try reading(line) { (reader) throws(DMError) in
      reader.isLenient = isLenient
      return try reader.line(mustBeObject)
    }
  }

  /// Calls `body` with a reader of the bytes of a line.
  static func reading<Value>(
    _ line: ArraySlice<UInt8>, _ body: (inout JSONReader) throws(DMError) -> Value
  ) throws(DMError) -> Value {
    let result: Result<Value, DMError>? = line.withContiguousStorageIfAvailable { bytes in
      var reader = JSONReader(bytes)
      do throws(DMError) { return .success(try body(&reader)) } catch { return .failure(error) }
    }
    guard let result else { throw DMError(.internal, "a line is not contiguous") }
    return try result.get()
  }

  private init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  package func fault(_ what: String, advice: String = "write one object a line") -> DMError {
    DMError(.malformedLine, "not JSON: \(what) at byte \(offset + 1); \(advice)")
  }

  private mutating func line(_ mustBeObject: Bool) throws(DMError) -> JSONValue {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { throw fault("a byte order mark", advice: "remove it") }
    skipSpace()
    guard let first = peek() else { throw fault("nothing") }
    if mustBeObject, first != UInt8(ascii: "{") { throw fault("something that is not an object") }
    let value = try value()
    skipSpace()
    guard peek() == nil else { throw fault("more after the object") }
    return value
  }

  package func peek() -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

  mutating func skipSpace() {
    while let byte = peek(), byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A { offset += 1 }
  }

  package mutating func take(_ byte: UInt8) -> Bool {
    guard peek() == byte else { return false }
    offset += 1
    return true
  }

  private mutating func value() throws(DMError) -> JSONValue {
    skipSpace()
    switch peek() {
    case UInt8(ascii: "{") where isLenient && depth == Self.nesting,
      UInt8(ascii: "[") where isLenient && depth == Self.nesting:
      try skipNested()
      return .null
    case UInt8(ascii: "{"): return .object(try members())
    case UInt8(ascii: "["): return .array(try elements())
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    case nil: throw fault("an end that comes too soon")
    default: return try number()
    }
  }

  private mutating func literal(_ word: StaticString, _ value: JSONValue) throws(DMError) -> JSONValue {
    let expected = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
    guard bytes[offset...].starts(with: expected) else { throw fault("an unknown word") }
    offset += expected.count
    return value
  }

  private mutating func enter() throws(DMError) {
    depth += 1
    if depth > Self.nesting { throw fault("nesting over \(Self.nesting)", advice: "flatten it") }
    offset += 1
    skipSpace()
  }

  private mutating func members() throws(DMError) -> JSONObject {
    try enter()
    defer { depth -= 1 }
    var object = JSONObject()
    // The first 16 names are compared one by one. After that, names are looked up in a set, so that a hostile line does
    // not cost quadratic time.
    var names: Set<ExactString> = []
    if take(UInt8(ascii: "}")) { return object }
    repeat {
      skipSpace()
      guard peek() == UInt8(ascii: "\"") else { throw fault("a name that is not a string") }
      let name = ExactString(try string())
      if object.members.count == 16 { names = Set(object.members.map { ExactString($0.name) }) }
      let isDuplicate =
        object.members.count < 16
        ? object.members.contains { ExactString($0.name) == name } : !names.insert(name).inserted
      if isDuplicate, !isLenient { throw fault("the second '\(name.text)', which ends", advice: "keep one of them") }
      skipSpace()
      guard take(UInt8(ascii: ":")) else { throw fault("a missing ':'") }
      let value = try value()
      if !isDuplicate { object.members.append(JSONObject.Member(name: name.text, value: value)) }
      skipSpace()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw fault("a missing ',' or '}'") }
    return object
  }

  private mutating func elements() throws(DMError) -> [JSONValue] {
    try enter()
    defer { depth -= 1 }
    var array: [JSONValue] = []
    if take(UInt8(ascii: "]")) { return array }
    repeat {
      array.append(try value())
      skipSpace()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { throw fault("a missing ',' or ']'") }
    return array
  }

  /// Skips an object or an array, and parses nothing in it but its strings.
  private mutating func skipNested() throws(DMError) {
    var open = 0
    repeat {
      switch peek() {
      case UInt8(ascii: "{"), UInt8(ascii: "["): open += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): open -= 1
      case UInt8(ascii: "\""):
        _ = try string()
        continue
      case nil: throw fault("an end that comes too soon")
      default: break
      }
      offset += 1
    } while open > 0
  }

  private mutating func digits() -> Int {
    let start = offset
    while let byte = peek(), byte >= 48, byte <= 57 { offset += 1 }
    return offset - start
  }

  private mutating func number() throws(DMError) -> JSONValue {
    let start = offset
    var isInteger = true
    _ = take(UInt8(ascii: "-"))
    let leading = peek()
    let count = digits()
    guard count > 0, count == 1 || leading != UInt8(ascii: "0") else { throw fault("something that is not a value") }
    if take(UInt8(ascii: ".")) {
      isInteger = false
      guard digits() > 0 else { throw fault("a number without decimals") }
    }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      isInteger = false
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      guard digits() > 0 else { throw fault("a number without an exponent") }
    }
    let text = String(decoding: bytes[start..<offset], as: UTF8.self)
    if isInteger, let integer = Int(text) { return .integer(integer) }
    guard let number = Double(text), number.isFinite else {
      if isLenient { return .null }
      throw fault("a number that is too large, ending", advice: "write it as a string")
    }
    return .number(number)
  }
}
