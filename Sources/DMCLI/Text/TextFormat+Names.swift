package import DMKit

/// What conversations and users are called.
///
/// Names are printed without what would end them in a line of ours: colons and parentheses, and runs of spaces.
extension TextFormat {
  /// A reference to a conversation: the user's own name for it or its title after `+`, a handle, or a UUID.
  package static func name(_ conversation: Conversation, for me: Handle) -> String {
    if let name = conversation.ownName ?? conversation.title { return "+" + plain(name) }
    if conversation.isGroup { return conversation.id.description }
    return visible(other(conversation, than: me).description)
  }

  /// The name of a conversation in at most `width` columns: `+ops`, or `Bob B. (bob)` with the handle to type.
  package static func label(_ conversation: Conversation, for me: Handle, width: Int = .max) -> String {
    if conversation.ownName != nil || conversation.title != nil { return cut(name(conversation, for: me), width) }
    if conversation.isGroup { return cut(plain(conversation.name), width) }
    return person(conversation.name, other(conversation, than: me), width: width)
  }

  /// The handle of a user, as it is printed.
  static func handle(_ user: Handle) -> String { Mark.body(visible(user.description)) }

  private static func other(_ conversation: Conversation, than me: Handle) -> Handle {
    conversation.participants.first { $0 != me } ?? me
  }

  /// The display name of a user, in at most 24 columns, and the handle: `Bob B. (bob)`.
  static func person(_ displayName: String?, _ user: Handle, width: Int = .max) -> String {
    let handle = visible(user.description)
    let space = min(24, width - mostColumns(of: handle) - 3)
    guard space > 0, let name = plainName(displayName, of: user) else { return cut(handle, width) }
    return "\(cut(name, space)) (\(handle))"
  }

  /// A display name; nil if there is none, or it is the handle.
  static func plainName(_ displayName: String?, of user: Handle) -> String? {
    guard let displayName, displayName != user.description else { return nil }
    let name = plain(displayName)
    return name.isEmpty || name == visible(user.description) ? nil : name
  }

  static func plain(_ name: String) -> String {
    let name = visible(name)
    if isPlain(name) { return name }
    let words = name.unicodeScalars.split(whereSeparator: isEnd)
    return words.map { String(Substring($0)) }.joined(separator: " ")
  }

  private static func isPlain(_ name: String) -> Bool {
    var last: Unicode.Scalar = " "
    for scalar in name.unicodeScalars {
      if isEnd(scalar) && scalar != " " || scalar == " " && last == " " { return false }
      last = scalar
    }
    return last != " "
  }

  /// A space, a colon or a parenthesis, or what looks like one.
  private static func isEnd(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case " ", ":", "(", ")", "\u{A0}", "\u{5C3}", "\u{2236}", "\u{A789}", "\u{FE13}", "\u{FE55}", "\u{FF1A}": true
    case "\u{207D}", "\u{207E}", "\u{2768}"..."\u{276B}", "\u{FE59}", "\u{FE5A}", "\u{FF08}", "\u{FF09}": true
    case ..."\u{1680}": false
    default: scalar.properties.isWhitespace
    }
  }
}
