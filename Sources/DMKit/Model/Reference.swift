/// A conversation as a person or a line names it.
public enum ConversationReference: Hashable, Sendable, CustomStringConvertible {
  /// `bob` or `@bob`: the direct conversation with that user.
  case direct(String)
  /// `+ops` or `#ops`: the group of that title.
  case title(String)
  /// A full UUID, also as `dm:UUID`.
  case id(Identifier)

  /// - Throws: `bad_reference` when it names nothing.
  public init(_ text: String) throws {
    if let id = Identifier(text.hasPrefix("dm:") ? text.dropFirst(3) : text[...]) {
      self = .id(id)
    } else if text.hasPrefix("+") || text.hasPrefix("#") {
      self = .title(String(text.dropFirst()))
    } else {
      self = .direct(text.hasPrefix("@") ? String(text.dropFirst()) : text)
    }
    switch self {
    case .direct(""), .title(""):
      throw DMError(
        .badReference, "'\(text)' names no conversation; write a handle, +TITLE or a UUID", subject: text)
    default: break
    }
  }

  public static func == (a: ConversationReference, b: ConversationReference) -> Bool { a.exact == b.exact }
  public func hash(into hasher: inout Hasher) { hasher.combine(exact) }
  private var exact: ExactString {
    if case .direct(let handle) = self { return ExactString("@" + handle) }
    return ExactString(description)
  }

  public var description: String {
    switch self {
    case .direct(let handle): handle
    case .title(let title): "+\(title)"
    case .id(let id): id.description
    }
  }
}

/// A message as a person or a line names it.
public enum MessageReference: Hashable, Sendable {
  case id(Identifier)
  /// Its number, negative from the end; without a conversation where that is given otherwise.
  case number(Int, in: ConversationReference?)

  /// Reads a full UUID, `bob:57`, `bob:-1`, or `57`.
  ///
  /// - Throws: `bad_reference`.
  public init(_ text: String) throws {
    if let id = Identifier(text) {
      self = .id(id)
    } else if let range = RangeReference(text), let number = range.from, range.from == range.to {
      self = .number(number, in: nil)
    } else if let (conversation, range) = try splitReference(text), let number = range.from,
      range.from == range.to
    {
      self = .number(number, in: conversation)
    } else {
      throw DMError(
        .badReference, "'\(text)' names no message; write a number, bob:57 or a UUID", subject: text)
    }
  }
}

/// Divides `bob:40..57` at its last colon; nil when what follows it is no range.
public func splitReference(
  _ text: String
) throws -> (conversation: ConversationReference, range: RangeReference)? {
  guard let colon = text.lastIndex(of: ":"), let range = RangeReference(text[text.index(after: colon)...])
  else { return nil }
  return (try ConversationReference(String(text[..<colon])), range)
}
