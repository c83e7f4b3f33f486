package import DMKit

/// Text for screen readers and logs: a sentence for each message, without columns.
extension TextFormat {
  /// `Alice A. (alice), 2026-11-23 10:42, in reply to Bob B. (bob) 'lunch?', read: yes`.
  ///
  /// - Parameter name: the display name and the handle of a user, escaped.
  static func sentence(
    _ message: Message, for me: Handle, in place: String?, _ name: (Handle) -> String
  ) -> String {
    var parts = [moment(message.createdAt)]
    if let place { parts.append("in \(Mark.body(place))") }
    if let announcement = announcement(message) { return "\(parts.joined(separator: ", ")): \(announcement)" }
    parts.insert(name(message.sender), at: 0)
    if let reply = message.replyTo {
      parts.append(
        "in reply to \(reply.sender.map(name) ?? "a message") \(reply.text.map { Mark.body(quoted($0)) } ?? "")")
    }
    if let sender = message.forwardedFrom { parts.append("forwarded from \(name(sender))") }
    if message.editedAt != nil { parts.append("edited") }
    if let end = message.expiresAt { parts.append("expires \(moment(end))") }
    parts += message.attachments.map(mark)
    for reaction in message.reactions {
      let names = reaction.users.map(name).joined(separator: " and ")
      parts.append("\(visible(reaction.emoji)) from \(names)")
    }
    if message.sender == me, message.status != .sent {
      let readers = message.status == .read && message.conversation.isGroup ? " by \(message.readByCount)" : ""
      parts.append(message.status.rawValue + readers)
    }
    return "\(parts.joined(separator: ", ")): \(Mark.body(oneLine(message.text)))"
  }

  /// `Alice (alice), 3 unread, draft, Mon: bob: lunch?`.
  package static func sentence(_ conversation: Conversation, for me: Handle) -> String {
    var parts = [Mark.body(label(conversation, for: me))]
    if conversation.unreadCount > 0 { parts.append("\(conversation.unreadCount) unread") }
    if conversation.unreadMentionsCount > 0 {
      parts.append(
        "\(conversation.unreadMentionsCount) \(conversation.unreadMentionsCount == 1 ? "mentions" : "mention") you")
    }
    if conversation.isPinned { parts.append("pinned") }
    if conversation.isArchived { parts.append("archived") }
    if conversation.mutedUntil != nil { parts.append("muted") }
    if conversation.draftText != nil { parts.append("draft") }
    parts.append(moment(conversation.lastActivityAt))
    guard let last = conversation.lastMessage else { return parts.joined(separator: ", ") }
    let said = announcement(last) ?? "\(handleAndAttachments(of: last)): \(Mark.body(oneLine(last.text)))"
    return "\(parts.joined(separator: ", ")): \(said)"
  }
}
