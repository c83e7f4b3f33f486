package import DMKit

/// Conversations in a list.
extension TextFormat {
  /// People of a conversation who are there now.
  package struct Present {
    /// Whether the other user of a direct conversation is online.
    let isOnline: Bool
    /// `Bob is typing`; nil if nobody is.
    let typing: String?

    package init(isOnline: Bool = false, typing: String? = nil) {
      (self.isOnline, self.typing) = (isOnline, typing)
    }
  }

  /// A conversation in a list, as a screen has it.
  package static func row(
    _ conversation: Conversation, for me: Handle, on screen: Screen, _ present: Present = Present()
  ) -> String {
    screen.isPlain ? sentence(conversation, for: me) : line(conversation, for: me, columns: screen.columns, present)
  }

  /// The handle of the sender, and the attachments.
  static func handleAndAttachments(of message: Message) -> String {
    handle(message.sender) + noted(message.attachments.map(mark))
  }

  /// A line of the list: flag, unread messages, name, time, marks, and the last message.
  ///
  /// - Parameter columns: the width of a terminal, to which it is cut; nil for the same line everywhere.
  package static func line(
    _ conversation: Conversation, for me: Handle, columns: Int? = nil, _ present: Present = Present()
  ) -> String {
    let isUnread = conversation.unreadCount > 0
    let isNarrow = columns.map { $0 < 60 } ?? false
    let count = right(isUnread ? String(conversation.unreadCount) : "", isNarrow ? 3 : 5)
    let flag = conversation.isPinned ? "*" : conversation.isArchived ? "a" : conversation.mutedUntil != nil ? "m" : " "
    let width = isNarrow ? 12 : 24
    let name = Mark.body(
      left(
        isNarrow && !conversation.isGroup ? name(conversation, for: me) : label(conversation, for: me, width: width),
        width))
    let sign = present.isOnline ? " •" : "  "
    let at = conversation.lastActivityAt
    let time = columns == nil ? left(short(at), 10) : left(brief(at), 6)
    var line = flag + (isUnread ? Mark.strong(count + sign + name) : count + sign + name) + "  " + Mark.faint(time)
    if conversation.unreadMentionsCount > 0 { line += "  " + Mark.alert("[@\(conversation.unreadMentionsCount)]") }
    if conversation.draftText != nil { line += "  [draft]" }
    if let typing = present.typing {
      return "\(line)  " + Mark.faint(cut(typing, max(1, (columns ?? .max) - mostColumns(of: line) - 2)))
    }
    guard let last = conversation.lastMessage else { return line }
    let text = visible(last.text ?? "", indent: "").split(separator: "\n").first.map(String.init)
    let said = text.map { last.isTruncated ? $0 + "…" : $0 } ?? ""
    let preview =
      announcement(last) ?? "\(handleAndAttachments(of: last)): \(Mark.body(columns == nil ? cut(said, 60) : said))"
    guard let columns else { return "\(line)  \(preview)" }
    return "\(line)  " + Mark.body(cut(unpadded(preview), max(1, columns - mostColumns(of: line) - 2)))
  }
}
