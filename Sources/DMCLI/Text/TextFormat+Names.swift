package import DMKit

/// What conversations and users are called.
extension TextFormat {
  /// A reference to a conversation: the user's own name for it or its title after `+`, a handle, or a UUID.
  package static func name(_ conversation: Conversation, for me: Handle) -> String {
    if let name = conversation.ownName ?? conversation.title { return visible("+\(name)") }
    if conversation.isGroup { return conversation.id.description }
    return visible(other(conversation, than: me).description)
  }

  /// The name of a conversation in at most `width` columns: `+ops`, or `Bob B. (bob)` with the handle to type.
  package static func label(_ conversation: Conversation, for me: Handle, width: Int = .max) -> String {
    if conversation.ownName != nil || conversation.title != nil { return cut(name(conversation, for: me), width) }
    if conversation.isGroup { return cut(plainName(conversation.name, besides: "") ?? "", width) }
    return person(conversation.name, other(conversation, than: me), width: width)
  }

  private static func other(_ conversation: Conversation, than me: Handle) -> Handle {
    conversation.participants.first { $0 != me } ?? me
  }

  /// The display name of a user and the handle: `Bob B. (bob)`; the name is cut first.
  static func person(_ displayName: String?, _ user: Handle, width: Int = .max) -> String {
    let handle = visible(user.description)
    let space = width - mostColumns(of: handle) - 3
    guard space > 0, let name = plainName(displayName, besides: handle) else { return cut(handle, width) }
    return "\(cut(name, space)) (\(handle))"
  }

  /// A display name alone, in at most 24 columns; the handle if there is none.
  static func shown(_ displayName: String?, of user: Handle) -> String {
    let handle = visible(user.description)
    return plainName(displayName, besides: handle).map { cut($0, 24) } ?? handle
  }

  /// A display name without what would end it in a line of ours, colons and parentheses, and without padding; nil if
  /// that leaves nothing, or the handle.
  static func plainName(_ displayName: String?, besides handle: String) -> String? {
    guard let displayName, displayName != handle else { return nil }
    var name = visible(displayName)
    if !isPlain(name) {
      name = name.utf8.split { isEnd($0) || $0 == space }.map { String(Substring($0)) }.joined(separator: " ")
    }
    return name == handle || name.isEmpty ? nil : name
  }

  private static let space = UInt8(ascii: " ")

  private static func isPlain(_ name: String) -> Bool {
    var last = space
    for byte in name.utf8 {
      if isEnd(byte) || byte == space && last == space { return false }
      last = byte
    }
    return last != space
  }

  private static func isEnd(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ":") || byte == UInt8(ascii: "(") || byte == UInt8(ascii: ")")
  }
}
