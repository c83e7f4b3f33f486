import Foundation
import Glibc

/// A JSON value whose members keep their order.
///
/// Tests do not use the programs' own reader to check the output of the programs.
package indirect enum JSON: Equatable, Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([(name: String, value: JSON)])

  package static func == (one: JSON, other: JSON) -> Bool {
    switch (one, other) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.number(let a), .number(let b)): a == b
    // Compares bytes, because == on strings ignores how characters are composed.
    case (.string(let a), .string(let b)): Array(a.utf8) == Array(b.utf8)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)):
      a.count == b.count && zip(a, b).allSatisfy { $0.name == $1.name && $0.value == $1.value }
    default: false
    }
  }

  package subscript(_ name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  package var string: String? { if case .string(let text) = self { text } else { nil } }
  package var int: Int? { if case .number(let number) = self { Int(exactly: number) } else { nil } }
  package var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }
  package var array: [JSON] { if case .array(let elements) = self { elements } else { [] } }
  package var names: [String] { if case .object(let members) = self { members.map(\.name) } else { [] } }

  package init(_ line: [UInt8]) throws {
    var parser = Parser(bytes: line)
    self = try parser.document()
  }

  package struct Fault: Error, CustomStringConvertible {
    package let description: String
  }

  /// A text as a JSON string, for lines that tests send.
  package static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      if scalar.value < 0x20 || scalar == "\"" || scalar == "\\" {
        result += "\\u" + String(repeating: "0", count: scalar.value < 16 ? 3 : 2) + String(scalar.value, radix: 16)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  package static func line(_ members: KeyValuePairs<String, String>) -> String {
    "{" + members.map { "\(quoted($0.key)):\(quoted($0.value))" }.joined(separator: ",") + "}"
  }
}

private struct Parser {
  let bytes: [UInt8]
  var offset = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func document() throws -> JSON {
    let value = try value()
    guard offset == bytes.count else { throw fault("more after the value") }
    return value
  }

  private func fault(_ what: String) -> JSON.Fault {
    JSON.Fault(description: "\(what) at byte \(offset) of \(String(decoding: bytes.prefix(400), as: UTF8.self))")
  }

  private func peek() -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard peek() == byte else { return false }
    offset += 1
    return true
  }

  /// Parses a value without white space between tokens, because the programs, their schemas and `jq -c` write none.
  private mutating func value() throws -> JSON {
    switch peek() {
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "{"):
      offset += 1
      var members: [(name: String, value: JSON)] = []
      if take(UInt8(ascii: "}")) { return .object(members) }
      repeat {
        let name = try string()
        guard !members.contains(where: { $0.name == name }) else { throw fault("'\(name)' twice") }
        guard take(UInt8(ascii: ":")) else { throw fault("no colon") }
        members.append((name, try value()))
      } while take(UInt8(ascii: ","))
      guard take(UInt8(ascii: "}")) else { throw fault("an open object") }
      return .object(members)
    case UInt8(ascii: "["):
      offset += 1
      var elements: [JSON] = []
      if take(UInt8(ascii: "]")) { return .array(elements) }
      repeat { elements.append(try value()) } while take(UInt8(ascii: ","))
      guard take(UInt8(ascii: "]")) else { throw fault("an open array") }
      return .array(elements)
    default:
      let word = bytes[offset...].prefix { $0 != 0x2C && $0 != 0x7D && $0 != 0x5D }
      offset = word.endIndex
      switch String(decoding: word, as: UTF8.self) {
      case "true": return .bool(true)
      case "false": return .bool(false)
      case "null": return .null
      case let text:
        guard let number = Double(text), text.last?.isNumber == true else { throw fault("the odd word '\(text)'") }
        return .number(number)
      }
    }
  }

  private mutating func string() throws -> String {
    guard take(UInt8(ascii: "\"")) else { throw fault("no string") }
    let start = offset
    let plain: (end: Int, text: String?)? = bytes.withUnsafeBufferPointer { buffer in
      guard let end = nextOffset(of: 0x22, in: buffer, from: start) else { return nil }
      let content = UnsafeBufferPointer(rebasing: buffer[start..<end])
      if nextOffset(of: 0x5C, in: content, from: 0) != nil { return nil }
      return (end, exactText(content))
    }
    if let plain {
      offset = plain.end + 1
      guard let text = plain.text else { throw fault("bytes that are not UTF-8") }
      return text
    }
    return try escapedString()
  }

  private mutating func escapedString() throws -> String {
    var units: [UInt8] = []
    while let byte = peek(), byte != UInt8(ascii: "\"") {
      offset += 1
      guard byte == UInt8(ascii: "\\") else {
        units.append(byte)
        continue
      }
      let letter = peek() ?? 0
      offset += 1
      switch letter {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): units.append(letter)
      case UInt8(ascii: "b"): units.append(0x08)
      case UInt8(ascii: "f"): units.append(0x0C)
      case UInt8(ascii: "n"): units.append(0x0A)
      case UInt8(ascii: "r"): units.append(0x0D)
      case UInt8(ascii: "t"): units.append(0x09)
      case UInt8(ascii: "u"):
        var code = try hex()
        if (0xD800..<0xDC00).contains(code), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) {
          code = 0x10000 + (code - 0xD800) << 10 + (try hex() - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw fault("half a surrogate pair") }
        units += Array(String(scalar).utf8)
      default: throw fault("an odd escape")
      }
    }
    guard take(UInt8(ascii: "\"")) else { throw fault("an open string") }
    guard let text = String(validating: units, as: UTF8.self) else { throw fault("bytes that are not UTF-8") }
    return text
  }

  private mutating func hex() throws -> UInt32 {
    let digits = bytes[offset...].prefix(4)
    guard digits.count == 4, let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16) else {
      throw fault("a bad \\u")
    }
    offset += 4
    return code
  }
}
