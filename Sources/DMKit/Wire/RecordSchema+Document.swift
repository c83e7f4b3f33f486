package import DMJSON

// The JSON Schema (draft 2020-12) of records.

extension RecordSchema {
  /// The schema of a program.
  ///
  /// The document describes each line that the program prints; `#/$defs/input` describes a line that it reads.
  ///
  /// - Parameter hasAge: whether the lines have `as_of`, the time at which a store with a hub was last compared with
  ///   the hub.
  package static func document(
    for program: String, reads: String?, writes: [String], hasAge: Bool = false
  ) -> JSONWriter {
    var names = withContained(writes)
    if let reads, !names.contains(reads) { names.append(reads) }
    var json = JSONWriter()
    json.object { json in
      json.member("$schema", "https://json-schema.org/draft/2020-12/schema")
      json.member("title", program)
      // `oneOf` needs at least one schema (JSON Schema Core, section 10.2.1.3). For a program that prints no records,
      // `not` with an empty schema accepts no value.
      if writes.isEmpty {
        json.key("not")
        json.object { _ in }
      } else {
        json.key("oneOf")
        json.array { json in for name in writes { line(of: name, in: &json) } }
      }
      json.key("$defs")
      json.object { json in
        if let reads {
          json.key("input")
          reference(to: reads, in: &json)
        }
        for name in names { named(name)?.write(to: &json, hasAge ? [asOf] : []) }
      }
    }
    json.endLine()
    return json
  }

  /// The names of these records and of the records inside them.
  static func withContained(_ records: [String]) -> [String] {
    var names = records
    // A conversation record contains a message record.
    if names.contains(where: { $0.hasPrefix("conversation") }), !names.contains("message") { names.append("message") }
    // A message record contains attachment records.
    if names.contains(where: { $0.hasPrefix("message") || $0.hasPrefix("conversation") }), !names.contains("attachment")
    {
      names.append("attachment")
    }
    return names
  }

  private static func reference(to name: String, in json: inout JSONWriter) {
    json.object { $0.member("$ref", "#/$defs/\(name)") }
  }

  /// Writes the schema of a printed line.
  ///
  /// An input record has no `type`, but a printed line has one, so the `type` is added.
  private static func line(of name: String, in json: inout JSONWriter) {
    guard named(name)?.isInput == true else { return reference(to: name, in: &json) }
    json.object { json in
      json.member("$ref", "#/$defs/\(name)")
      write([Field("type", .constant(name))], isInput: true, to: &json)
    }
  }

  /// The member that each printed line has in a store with a hub, if the program has the option `--fresh`.
  package static let asOf = Field(
    "as_of", .time, optional: true, note: "when the store was last compared with its hub; only in a store with one")

  func write(to json: inout JSONWriter, _ more: [Field] = []) {
    json.key(name: name)
    json.object { json in
      Self.write(isInput ? fields : fields + more, isInput: isInput, to: &json)
      guard !needsOneOf.isEmpty else { return }
      json.key("anyOf")
      json.array { json in
        for name in needsOneOf {
          json.object { json in
            json.key("required")
            json.array { $0.value(name) }
          }
        }
      }
    }
  }

  static func write(_ fields: [Field], isInput: Bool, to json: inout JSONWriter) {
    json.member("type", "object")
    json.key("properties")
    json.object { json in
      for field in fields {
        json.key(name: field.name)
        write(field.kind, note: field.note, to: &json)
      }
    }
    json.key("required")
    json.array { json in for field in fields where !field.isOptional { json.value(field.name) } }
    // Later versions may add members. A reader that validates output must accept them.
    if !isInput { json.member("additionalProperties", true) }
  }

  private static func string(inFormat format: String, in json: inout JSONWriter) {
    json.member("type", "string")
    json.member("format", format)
  }

  private static func write(_ kind: Kind, note: String? = nil, to json: inout JSONWriter) {
    if case .record(let name) = kind { return reference(to: name, in: &json) }
    json.object { json in
      json.member("description", note)
      switch kind {
      case .string: json.member("type", "string")
      case .integer: json.member("type", "integer")
      case .count(let range):
        json.member("type", "integer")
        json.member("minimum", range.lowerBound)
        json.member("maximum", range.upperBound)
      case .number: json.member("type", "number")
      case .boolean: json.member("type", "boolean")
      case .time: string(inFormat: "date-time", in: &json)
      case .uuid: string(inFormat: "uuid", in: &json)
      case .handle:
        json.member("type", "string")
        json.member("minLength", 1)
      case .constant(let value): json.member("const", value)
      case .words(let words):
        json.key("enum")
        json.array { json in for word in words { json.value(word) } }
      case .list(let element):
        json.member("type", "array")
        json.key("items")
        write(element, to: &json)
      case .map(let element):
        json.member("type", "object")
        json.key("additionalProperties")
        write(element, to: &json)
      case .members(let fields): write(fields, isInput: false, to: &json)
      case .having(let fields): write(fields, isInput: true, to: &json)
      case .anyOf(let kinds):
        json.key("anyOf")
        json.array { json in for kind in kinds { write(kind, to: &json) } }
      case .named: json.member("type", "object")
      case .record: break
      }
    }
  }
}
