internal import DMJSON
internal import DMKit
internal import DMSystem

/// The arguments of a tool, checked with its schema.
struct ToolArguments {
  private let object: JSONObject
  private let scope: Scope

  /// - Throws: `missing_field`, `bad_field` for an argument that the schema does not allow.
  init(_ object: JSONObject, _ fields: [RecordSchema.Field], _ scope: Scope) throws {
    self.object = object
    self.scope = scope
    for member in object.members where !fields.contains(where: { ExactString($0.name) == ExactString(member.name) }) {
      throw DMError(.badField, "unknown argument '\(member.name)'; leave it out", subject: member.name)
    }
    for field in fields {
      guard let value = object[field.name], value != .null else {
        if field.isOptional { continue }
        throw DMError(.missingField, "the argument '\(field.name)' is missing; add it", subject: field.name)
      }
      if let wanted = field.kind.fault(in: value) {
        throw DMError(.badField, "the argument '\(field.name)' is \(value.kind); \(wanted)", subject: field.name)
      }
    }
  }

  func text(_ name: String) -> String? { if case .string(let text)? = object[name] { text } else { nil } }

  /// A text that the schema requires.
  func required(_ name: String) -> String { text(name) ?? "" }

  func flag(_ name: String) -> Bool { object[name] == .bool(true) }

  func count(_ name: String) -> Int? { object[name].flatMap(\.count) }

  func texts(_ name: String) -> [String] {
    guard case .array(let values)? = object[name] else { return [] }
    return values.compactMap { if case .string(let text) = $0 { text } else { nil } }
  }

  // MARK: References

  /// The conversation that the arguments name; nil if they name none.
  ///
  /// - Throws: `unknown_conversation`, `bad_reference`.
  func conversation() throws -> ConversationReference? {
    try text("conversation").map { try scope.conversation(ConversationReference($0)) }
  }

  /// The argument `conversation`, if the schema requires this argument.
  func requiredConversation() throws -> ConversationReference {
    try scope.conversation(ConversationReference(required("conversation")))
  }

  /// The conversations that the arguments name; if they name none, all that the agent may use.
  func conversations() throws -> [ConversationReference] {
    let named = try texts("conversations").map { try scope.conversation(ConversationReference($0)) }
    return named.isEmpty ? scope.only ?? [] : named
  }

  func message(_ name: String) throws -> MessageReference? {
    try text(name).map { try scope.message(MessageReference($0)) }
  }

  /// A message that the schema requires.
  func requiredMessage(_ name: String) throws -> MessageReference {
    try scope.message(MessageReference(required(name)))
  }

  /// A message, or a time as the programs take it, such as `2026-11-21`, `14:30`, `7d` or `yesterday`.
  func bound(_ name: String) throws -> HistoryQuery.Bound? {
    switch try text(name).map(messageOrTime) {
    case .message(let reference): .message(try scope.message(reference))
    case let other: other
    }
  }
}

extension RecordSchema.Kind {
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
