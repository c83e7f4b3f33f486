/// A reference to a conversation, as users and lines of input write it.
public enum ConversationReference: Hashable, Sendable, CustomStringConvertible {
  /// `bob` or `@bob`: the direct conversation with this user.
  case direct(Handle)
  /// `+ops` or `#ops`: the conversation to which the user gave this name, or else the group with this title.
  case title(String)
  /// A full UUID, which may be written as `dm:UUID`.
  case id(Identifier)

  /// - Throws: `bad_reference` if the handle or the title is empty or too long.
  public init(_ text: String) throws(DMError) {
    let title = text.without("+#")
    if let id = identifier(in: text) {
      self = .id(id)
    } else if title.utf8.count < text.utf8.count {
      self = .title(title)
    } else {
      self = .direct(Handle(typed: text.without("@")))
    }
    switch self {
    case .direct(let handle) where handle.description.utf8.count > Handle.limit:
      throw DMError(.badReference, "a handle has at most \(Handle.limit) bytes; shorten it", subject: text)
    case .title(let title) where title.utf8.count > titleLimit:
      throw DMError(.badReference, "a title has at most \(titleLimit) bytes; shorten it", subject: text)
    case .direct(Handle(typed: "")), .title(""):
      throw DMError(
        .badReference, "'\(text)' names no conversation; write a handle, +TITLE or a UUID", subject: text)
    default: break
    }
  }

  /// Compares handles and titles byte for byte.
  public static func == (a: ConversationReference, b: ConversationReference) -> Bool { a.exact == b.exact }
  /// Hashes handles and titles byte for byte.
  public func hash(into hasher: inout Hasher) { hasher.combine(exact) }
  private var exact: ExactString {
    if case .direct(let handle) = self { return ExactString("@\(handle)") }
    return ExactString(description)
  }

  /// `bob`, `+ops` or a UUID.
  public var description: String {
    switch self {
    case .direct(let handle): handle.description
    case .title(let title): "+\(title)"
    case .id(let id): id.description
    }
  }
}

/// A reference to a message, as users and lines of input write it.
public enum MessageReference: Hashable, Sendable, CustomStringConvertible {
  /// The message with this id.
  case id(Identifier)
  /// The number of a message in a conversation; the conversation is nil if it is given elsewhere. Negative numbers
  /// count from the end of the messages that the user sees.
  case number(Int, in: ConversationReference?)

  /// Reads `57`, `bob:57`, `bob:-1`, or a full UUID, which may be written as `dm:UUID`.
  ///
  /// - Throws: `bad_reference`.
  public init(_ text: String) throws(DMError) {
    try RangeReference.refuseZero(text)
    if let id = identifier(in: text) {
      self = .id(id)
    } else if let range = RangeReference(text), let number = range.from, range.from == range.to {
      self = .number(number, in: nil)
    } else if let (conversation, range) = try splitReference(text), let number = range.from,
      range.from == range.to
    {
      self = .number(number, in: conversation)
    } else {
      throw DMError(
        .badReference, "'\(text)' names no message; write a number, bob:57, bob:-1 for the last, or a UUID",
        subject: text)
    }
  }
}

extension MessageReference {
  /// A UUID, `bob:57` or `57`.
  public var description: String {
    switch self {
    case .id(let id): id.description
    case .number(let number, in: let conversation): (conversation.map { "\($0):" } ?? "") + String(number)
    }
  }
}

/// Reads an id that is written as `UUID` or `dm:UUID`.
private func identifier(in text: String) -> Identifier? {
  Identifier(text.utf8.starts(with: "dm:".utf8) ? Substring(text.utf8.dropFirst(3)) : text[...])
}

/// Splits `bob:40..57` at its last colon; nil if the text after the colon is not a range.
///
/// - Throws: `bad_reference`, also for the number 0.
package func splitReference(
  _ text: String
) throws(DMError) -> (conversation: ConversationReference, range: RangeReference)? {
  guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
  let numbers = Substring(text.utf8[text.utf8.index(after: colon)...])
  try RangeReference.refuseZero(numbers)
  guard let range = RangeReference(numbers) else { return nil }
  return (try ConversationReference(String(Substring(text.utf8[..<colon]))), range)
}
