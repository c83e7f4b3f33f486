internal import DMJSON
internal import DMKit
internal import DMSystem

/// The arguments of a tool, checked with its schema.
struct ToolArguments {
  private let values: [(name: String, value: JSONValue)]
  private let scope: Scope

  /// - Throws: `missing_field`, `bad_field` for an argument that the schema does not allow.
  init(_ object: JSONObject, _ fields: [RecordSchema.Field], _ scope: Scope) throws {
    self.scope = scope
    for member in object.members where !fields.contains(where: { ExactString($0.name) == ExactString(member.name) }) {
      throw DMError(.badField, "unknown argument '\(member.name)'; leave it out", subject: member.name)
    }
    var values: [(name: String, value: JSONValue)] = []
    for field in fields {
      guard let value = object[field.name], value != .null else {
        if field.isOptional { continue }
        throw DMError(.missingField, "the argument '\(field.name)' is missing; add it", subject: field.name)
      }
      let meant = field.kind.meant(by: value)
      if let wanted = field.kind.fault(in: meant) {
        throw DMError(.badField, "the argument '\(field.name)' is \(value.kind); \(wanted)", subject: field.name)
      }
      values.append((field.name, meant))
    }
    self.values = values
  }

  private subscript(_ name: String) -> JSONValue? { values.first { $0.name == name }?.value }

  func text(_ name: String) -> String? { if case .string(let text)? = self[name] { text } else { nil } }

  /// A text that the schema requires.
  func required(_ name: String) -> String { text(name) ?? "" }

  func flag(_ name: String) -> Bool { self[name] == .bool(true) }

  func count(_ name: String) -> Int? { self[name].flatMap(\.count) }

  func texts(_ name: String) -> [String] {
    guard case .array(let values)? = self[name] else { return [] }
    return values.compactMap { if case .string(let text) = $0 { text } else { nil } }
  }

  // MARK: References

  /// The conversation that the arguments name; nil if they name none.
  ///
  /// - Throws: `unknown_conversation`, `bad_reference`.
  func conversation() throws -> ConversationReference? {
    try text("conversation").map(scope.conversation(named:))
  }

  /// The argument `conversation`, if the schema requires this argument.
  func requiredConversation() throws -> ConversationReference {
    try scope.conversation(named: required("conversation"))
  }

  /// The conversations that the arguments name; if they name none, all that the agent may use.
  func conversations() throws -> [ConversationReference] {
    let named = try texts("conversations").map(scope.conversation(named:))
    return named.isEmpty ? scope.only ?? [] : named
  }

  func message(_ name: String) throws -> MessageReference? {
    try text(name).map(scope.message(named:))
  }

  /// A message that the schema requires.
  func requiredMessage(_ name: String) throws -> MessageReference {
    try scope.message(named: required(name))
  }

  /// A message, or a time as the programs take it, such as `2026-11-21`, `14:30`, `7d` or `yesterday`.
  func bound(_ name: String) throws -> HistoryQuery.Bound? {
    switch try text(name).map(messageOrTime) {
    case .message(let reference): .message(try scope.message(named: reference.description))
    case let other: other
    }
  }
}

extension RecordSchema.Kind {
  /// The value that a model means that writes "5" for 5, "true" for true, 57 for "57", or a value for a list of one.
  func meant(by value: JSONValue) -> JSONValue {
    switch (self, value) {
    case (.count, .string(let text)): Int(text).map(JSONValue.integer) ?? value
    case (.count, .number): value.count.map(JSONValue.integer) ?? value
    case (.boolean, .string(let text)):
      switch text.lowercased() {
      case "true": .bool(true)
      case "false": .bool(false)
      default: value
      }
    case (.string, .integer(let number)), (.handle, .integer(let number)): .string(String(number))
    case (.list(let kind), .array(let values)): .array(values.map(kind.meant))
    case (.list(let kind), _): .array([kind.meant(by: value)])
    default: value
    }
  }

  /// What the caller must write instead of this value; nil if the value is of this kind.
  fileprivate func fault(in value: JSONValue) -> String? {
    switch (self, value) {
    case (.string, .string), (.handle, .string), (.boolean, .bool): nil
    case (.string, _), (.handle, _): "write a string"
    case (.boolean, _): "write true or false"
    case (.words(let words), .string(let word)) where words.contains(word): nil
    case (.words(let words), _): "write one of: " + words.joined(separator: ", ")
    case (.count(let range), _):
      value.count.map(range.contains) == true
        ? nil : "write a whole number from \(range.lowerBound) to \(range.upperBound)"
    case (.list(let kind), .array(let values)): values.lazy.compactMap(kind.fault).first
    case (.list, _): "write an array"
    default: "leave it out"
    }
  }
}

extension JSONValue {
  /// The value as a whole number; accepts 30.0, because some JSON libraries write integers in this form.
  fileprivate var count: Int? {
    switch self {
    case .integer(let number): number
    case .number(let number): Int(exactly: number)
    default: nil
    }
  }
}
