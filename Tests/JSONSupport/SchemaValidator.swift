import Foundation

/// Implements the part of JSON Schema that `--schema` uses.
///
/// An unknown keyword is a fault, so that no part of a schema is ignored.
package struct SchemaValidator: Sendable {
  package let root: JSON

  package init(_ document: JSON) { root = document }

  /// The faults of a line that a program printed; empty if there are none.
  package func faults(in value: JSON) -> [String] { faults(in: value, root, at: "") }

  /// The faults of an input line for a program.
  package func faults(inInput value: JSON) -> [String] {
    guard let input = root["$defs"]?["input"] else { return ["the schema has no input"] }
    return faults(in: value, input, at: "")
  }

  private func faults(in value: JSON, _ schema: JSON, at path: String) -> [String] {
    guard case .object(let keywords) = schema else { return ["\(path): the schema is not an object"] }
    var found: [String] = []
    for (keyword, rule) in keywords {
      switch keyword {
      case "$schema", "title", "description", "$defs": break
      case "$ref": found += reference(value, rule, at: path)
      case "oneOf": found += oneOf(value, rule, at: path)
      case "anyOf":
        if rule.array.allSatisfy({ !faults(in: value, $0, at: path).isEmpty }) {
          found.append("\(path): is nothing of what it may be: \(value)")
        }
      case "type":
        if !isType(value, rule.string ?? "") { found.append("\(path): is not of the type \(rule.string ?? "?")") }
      case "const": if value != rule { found.append("\(path): is not \(rule)") }
      case "enum": if !rule.array.contains(value) { found.append("\(path): is none of its words: \(value)") }
      case "minLength":
        if let text = value.string, text.unicodeScalars.count < rule.int ?? 0 { found.append("\(path): is too short") }
      case "format": if !hasFormat(value, rule.string ?? "") { found.append("\(path): is no \(rule): \(value)") }
      case "items":
        for (index, element) in value.array.enumerated() { found += faults(in: element, rule, at: "\(path)/\(index)") }
      case "required":
        for name in rule.array.compactMap(\.string) where value[name] == nil {
          found.append("\(path): lacks '\(name)'")
        }
      case "properties": found += properties(value, rule, at: path)
      case "additionalProperties":
        // Only schemas of output have this rule, with which later versions may add members. This version must print
        // only the listed members.
        if rule == .bool(true) {
          for name in value.names where schema["properties"]?[name] == nil {
            found.append("\(path): has '\(name)', which is not in the schema")
          }
        }
      default: found.append("\(path): the schema has the unknown keyword '\(keyword)'")
      }
    }
    return found
  }

  private func reference(_ value: JSON, _ rule: JSON, at path: String) -> [String] {
    let prefix = "#/$defs/"
    guard let text = rule.string, text.hasPrefix(prefix),
      let target = root["$defs"]?[String(text.dropFirst(prefix.count))]
    else { return ["\(path): the schema refers to \(rule), which is not there"] }
    return faults(in: value, target, at: path)
  }

  private func oneOf(_ value: JSON, _ rule: JSON, at path: String) -> [String] {
    // Leaves out the records whose type is not that of the line.
    let candidates = rule.array.filter { candidate in
      let name = candidate["$ref"]?.string?.split(separator: "/").last.map(String.init) ?? ""
      let type = (candidate["properties"] ?? root["$defs"]?[name]?["properties"])?["type"]?["const"]
      return type == nil || type == value["type"]
    }
    let results = candidates.map { faults(in: value, $0, at: path) }
    let matching = results.filter(\.isEmpty).count
    if matching == 1 { return [] }
    let nearest = results.min { $0.count < $1.count } ?? []
    return ["\(path): matches \(matching) of the records: \(nearest.joined(separator: "; "))"]
  }

  /// Checks the members, which must be in the order of the schema.
  private func properties(_ value: JSON, _ rule: JSON, at path: String) -> [String] {
    var found: [String] = []
    for (name, schema) in rule.names.compactMap({ name in rule[name].map { (name, $0) } }) {
      guard let member = value[name] else { continue }
      found += faults(in: member, schema, at: "\(path)/\(name)")
    }
    let expected = rule.names.filter { value[$0] != nil }
    let actual = value.names.filter { rule[$0] != nil }
    if expected != actual { found.append("\(path): its members stand as \(actual)") }
    return found
  }

  private func isType(_ value: JSON, _ type: String) -> Bool {
    switch (type, value) {
    case ("string", .string), ("boolean", .bool), ("array", .array), ("object", .object): true
    case ("integer", .number): value.int != nil
    case ("number", .number): true
    default: false
    }
  }

  private func hasFormat(_ value: JSON, _ format: String) -> Bool {
    guard let text = value.string else { return true }
    switch format {
    // RFC 9562 in lower case, and RFC 3339 in UTC with microseconds.
    case "uuid": return Self.fits(text, "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh")
    case "date-time": return Self.fits(text, "9999-99-99T99:99:99.999999Z")
    default: return false
    }
  }

  /// Whether a text matches a pattern: 9 matches a digit, h a hexadecimal digit, and any other character itself.
  private static func fits(_ text: String, _ pattern: String) -> Bool {
    let (bytes, expected) = (Array(text.utf8), Array(pattern.utf8))
    guard bytes.count == expected.count else { return false }
    for index in 0..<bytes.count {
      let (byte, wanted) = (bytes[index], expected[index])
      let isDigit = byte >= 0x30 && byte <= 0x39
      switch wanted {
      case UInt8(ascii: "9"): if !isDigit { return false }
      case UInt8(ascii: "h"): if !isDigit, byte < 0x61 || byte > 0x66 { return false }
      default: if byte != wanted { return false }
      }
    }
    return true
  }
}
