import Foundation

/// The part of JSON Schema that `--schema` uses; a keyword that it does not know is a fault, so that
/// nothing in a schema passes unchecked.
struct SchemaValidator: Sendable {
  let root: JSON

  init(_ document: JSON) { root = document }

  /// What is wrong with a line that the program printed; empty when nothing is.
  func faults(in value: JSON) -> [String] { faults(in: value, root, at: "") }

  /// What is wrong with a line that the program is to read.
  func faults(inInput value: JSON) -> [String] {
    guard let input = root["$defs"]?["input"] else { return ["the schema has no input"] }
    return faults(in: value, input, at: "")
  }

  private func faults(in value: JSON, _ schema: JSON, at path: String) -> [String] {
    guard case .object(let keywords) = schema else { return ["\(path): the schema is no object"] }
    var found: [String] = []
    for (keyword, rule) in keywords {
      switch keyword {
      case "$schema", "title", "description", "$defs": break
      case "$ref": found += reference(value, rule, at: path)
      case "oneOf": found += oneOf(value, rule, at: path)
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
        if rule == .bool(false) {
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
    let results = rule.array.map { faults(in: value, $0, at: path) }
    let matching = results.filter(\.isEmpty).count
    if matching == 1 { return [] }
    let nearest = results.min { $0.count < $1.count } ?? []
    return ["\(path): matches \(matching) of the records: \(nearest.joined(separator: "; "))"]
  }

  /// Members stand in the order in which the schema lists them.
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
    default: false
    }
  }

  private func hasFormat(_ value: JSON, _ format: String) -> Bool {
    guard let text = value.string else { return true }
    switch format {
    // RFC 9562, and version 7 of it.
    case "uuid": return text.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/) != nil
    case "date-time":
      return text.wholeMatch(of: /\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d\.\d{6}Z/) != nil
    default: return false
    }
  }
}

/// Where bytes stand that could act on a terminal or split a line: C0 (but LF at the end of a line), DEL,
/// C1, U+2028/9, the bidi controls and U+FEFF.
func hiddenBytes(in bytes: some Collection<UInt8>, allowing allowed: Set<UInt8> = []) -> [String] {
  var found: [String] = []
  let text = String(decoding: bytes, as: UTF8.self)
  for scalar in text.unicodeScalars {
    switch scalar.value {
    case 0...0x1F: if !allowed.contains(UInt8(scalar.value)) { fallthrough }
    case 0x7F...0x9F, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF, 0xFFFD:
      // U+FFFD also stands for what is no UTF-8 at all; no test sends one.
      found.append("U+" + String(scalar.value, radix: 16, uppercase: true))
    default: break
    }
  }
  return found
}
