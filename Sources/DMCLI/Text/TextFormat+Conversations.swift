package import DMKit
internal import DMModel

/// The lines of a list of conversations.
extension TextFormat {
  /// Who is online or typing in a conversation now.
  package struct Present {
    /// Whether the other user of a direct conversation is online.
    let isOnline: Bool
    /// `Bob is typing`; nil if nobody is.
    let typing: String?

    package init(isOnline: Bool = false, typing: String? = nil) {
      (self.isOnline, self.typing) = (isOnline, typing)
    }
  }

  /// A conversation in a list, formatted for a screen.
  package static func row(
    _ conversation: Conversation, for me: Handle, on screen: Screen, _ present: Present = Present()
  ) -> String {
    screen.isPlain ? sentence(conversation, for: me) : line(conversation, for: me, columns: screen.columns, present)
  }

  /// The last message of a conversation in a list: `you: lunch?`, in a group `bob: lunch?`, and in a direct conversation
  /// the text alone for a message of the other user, unless the text could be taken for a line of somebody else.
  ///
  /// - Parameter isNamed: whether the sender is named in any case.
  package static func preview(
    of message: Message, for me: Handle, _ text: String, isNamed: Bool = false
  ) -> String {
    let people = People(me)
    if let announcement = announcement(message, people) { return announcement }
    let isTheirs = message.sender != me && !message.conversation.isGroup
    var start = !isNamed && isTheirs && !resemblesLine(text) ? "" : people.handle(message.sender)
    if !message.attachments.isEmpty {
      let attachments = "(\(message.attachments.map(mark).joined(separator: ", ")))"
      start += start.isEmpty ? attachments : " " + attachments
    }
    if !message.attachments.isEmpty, text.isEmpty { return start }
    return (start.isEmpty ? "" : "\(start): ") + Mark.body(text)
  }

  /// Whether a text begins like a preview that has a name, attachments or an announcement before the text.
  private static func resemblesLine(_ text: String) -> Bool {
    let start = text.prefix(40)
    let words = ["deleted", "expired"]
    return start.first.map { !$0.isLetter && !$0.isNumber } ?? false
      || endsName(start)
      || words.contains { People.compared(String(start)).hasPrefix($0) }
  }

  /// Whether a text has a character that ends a name, other than the colon of a time.
  private static func endsName(_ text: Substring) -> Bool {
    let scalars = Array(text.unicodeScalars)
    return scalars.indices.contains { index in
      guard isEnd(scalars[index]), !scalars[index].properties.isWhitespace else { return false }
      let around = [index - 1, index + 1].filter(scalars.indices.contains).map { scalars[$0] }
      return around.count < 2 || around.contains { $0.properties.numericType == nil }
    }
  }

  /// A line of the list: unread count, name, time, marks, and the last message.
  ///
  /// - Parameter columns: the width of the terminal, to which the line is cut; nil if output is not a terminal.
  package static func line(
    _ conversation: Conversation, for me: Handle, columns: Int? = nil, _ present: Present = Present()
  ) -> String {
    let isUnread = conversation.unreadCount > 0
    let isNarrow = columns.map { $0 < 60 } ?? false
    let count = right(isUnread ? String(conversation.unreadCount) : "", isNarrow ? 3 : 5)
    let width = isNarrow ? 12 : 24
    let name = Mark.body(
      left(
        isNarrow && !conversation.isGroup ? name(conversation, for: me) : label(conversation, for: me, width: width),
        width))
    let sign = present.isOnline ? " •" : "  "
    let at = conversation.lastActivityAt
    let time = columns == nil ? left(short(at), 10) : left(brief(at), 6)
    var line = (isUnread ? Mark.strong(count + sign + name) : count + sign + name) + "  " + Mark.faint(time)
    if conversation.unreadMentionsCount > 0 { line += "  " + Mark.alert("[@\(conversation.unreadMentionsCount)]") }
    let states = [
      (conversation.draftText != nil, "draft"), (conversation.isPinned, "pinned"),
      (conversation.mutedUntil != nil, "muted"), (conversation.isArchived, "archived"),
    ]
    for case (true, let word) in states { line += "  [\(word)]" }
    if let typing = present.typing {
      return "\(line)  " + Mark.faint(cut(typing, max(1, (columns ?? .max) - mostColumns(of: line) - 2)))
    }
    guard let last = conversation.lastMessage else { return line }
    let text = visible(last.text ?? "", indent: "").split(separator: "\n").first.map(String.init)
    let said = text.map { last.isTruncated ? $0 + "…" : $0 } ?? ""
    let preview = preview(of: last, for: me, columns == nil ? cut(said, 60) : said)
    guard let columns else { return "\(line)  \(preview)" }
    return "\(line)  " + Mark.body(cut(unpadded(preview), max(1, columns - mostColumns(of: line) - 2)))
  }
}

/// The printed names of conversations and users.
///
/// Names are printed without colons, parentheses and runs of spaces, because these end a name in the lines that dm
/// prints.
extension TextFormat {
  /// A reference to a conversation: `+` and the user's own name for the conversation, or else its title.
  ///
  /// If the conversation has neither, the UUID of the group, or the handle of the other user.
  package static func name(_ conversation: Conversation, for me: Handle) -> String {
    if let name = conversation.ownName ?? conversation.title { return "+" + plain(name) }
    if conversation.isGroup { return conversation.id.description }
    return visible(other(conversation, than: me).description)
  }

  /// The name of a conversation in at most `width` columns: `+ops`, or for a direct conversation `Bob B. (bob)`, in which
  /// `bob` is the handle that a command accepts.
  package static func label(_ conversation: Conversation, for me: Handle, width: Int = .max) -> String {
    if conversation.ownName != nil || conversation.title != nil { return cut(name(conversation, for: me), width) }
    if conversation.isGroup { return cut(plain(conversation.name), width) }
    return person(conversation.name, other(conversation, than: me), width: width)
  }

  /// The printed handle of a user.
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

  /// A display name; nil if there is none, or if it equals the handle.
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

  /// Whether a character is a space, a colon or a parenthesis, or looks like one of them.
  private static func isEnd(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case " ", ":", "(", ")", "\u{A0}", "\u{5C3}", "\u{2236}", "\u{A789}", "\u{FE13}", "\u{FE55}", "\u{FF1A}": true
    case "\u{207D}", "\u{207E}", "\u{2768}"..."\u{276B}", "\u{FE59}", "\u{FE5A}", "\u{FF08}", "\u{FF09}": true
    case ..."\u{1680}": false
    default: scalar.properties.isWhitespace
    }
  }
}

extension TextFormat {
  /// A change of a conversation, as in `+ops: carol added`.
  package static func line(_ conversation: Conversation, _ change: String, for me: Handle) -> String {
    "\(Mark.body(label(conversation, for: me))): \(change)"
  }
}

// Text about a hub and the outbox.

extension TextFormat {
  package static func line(_ status: HubStatus) -> String {
    var parts = ["\(status.state.rawValue) (\(status.color.rawValue))"]
    if ![.normal, .offline].contains(status.network) { parts.append("simulated network: \(status.network.word)") }
    if status.queuedCount > 0 {
      parts.append("\(status.queuedCount) queued\(status.oldestQueuedAt.map { " since \(dateAndTime($0))" } ?? "")")
    }
    if status.failedCount > 0 { parts.append("\(status.failedCount) failed, see dm-sync pending") }
    if let last = status.lastSyncAt { parts.append("last compared \(dateAndTime(last))") }
    if let next = status.nextAttemptAt { parts.append("next attempt \(dateAndTime(next))") }
    if let retry = status.retryAt { parts.append("the rest goes at \(dateAndTime(retry))") }
    if abs(status.clockOffset) > 5_000_000 {
      let isBehind = status.clockOffset > 0
      let seconds = abs(status.clockOffset) / 1_000_000
      parts.append("this clock is \(seconds) seconds \(isBehind ? "behind" : "ahead of") the hub's")
    }
    if let fault = status.fault { parts.append(visible(fault)) }
    for conversation in status.setAside {
      parts.append("nothing comes of \(visible(conversation.name)) (\(conversation.code))")
    }
    return parts.joined(separator: "; ")
  }

  /// The line that a follower prints when the connection to the hub was lost or works again.
  package static func notice(_ status: HubStatus) -> String {
    if status.isConnected { return Mark.faint("-- the hub can be reached again --") }
    let reason = status.fault.map { ": " + visible($0) } ?? ""
    let words = status.state == .refused ? "the hub does not let this store in" : "the hub cannot be reached"
    return Mark.faint("-- \(words)\(reason) --")
  }

  package static func line(_ item: OutboxItem) -> String {
    var parts = ["\(item.id)", item.state.rawValue, item.act == "say" ? "send" : item.act]
    if let conversation = item.conversation { parts.append(visible(conversation)) }
    if let failure = item.failure { parts.append("(\(failure))") }
    if let text = item.text { parts.append(visible(text, indent: "  ")) }
    return parts.joined(separator: " ")
  }
}
