package import DMKit

/// The details that dm prints about a message besides its text.
extension TextFormat {
  /// The details of a message: the message that it answers, whether it was forwarded or edited, when it expires, and
  /// its attachments and reactions.
  ///
  /// For the user's own messages, the status is the last detail.
  static func marks(of message: Message, _ people: People, _ address: (Attachment) -> String?) -> [String] {
    var marks: [String] = []
    if let reply = message.replyTo {
      let sender = reply.sender.map { " " + people.handle($0) } ?? ""
      marks.append(
        reply.seq.map { "to \($0)\(sender)\(reply.text.map { " " + Mark.body(quoted($0)) } ?? "")" }
          ?? (reply.isDeleted ? "to a deleted message" : "to a message that is not here"))
    }
    if let sender = message.forwardedFrom { marks.append("forwarded from \(people.handle(sender))") }
    if message.editedAt != nil { marks.append("edited") }
    if let pin = message.pin { marks.append("pinned by \(people.handle(pin.user))") }
    if let end = message.expiresAt { marks.append("expires \(short(end))") }
    marks += message.attachments.map { attachment in
      address(attachment).map { Mark.link(mark(attachment), to: $0) } ?? mark(attachment)
    }
    marks += message.reactions.map { mark($0, people) }
    if message.sender == people.me { marks.append(status(of: message)) }
    return marks
  }

  /// An attachment as a detail of a message: `image 'photo.jpg' 12 KiB`.
  static func mark(_ attachment: Attachment) -> String {
    "\(attachment.kind.rawValue) \(Mark.body(quoted(attachment.name))) \(size(attachment.sizeBytes))"
  }

  /// A reaction as a detail of a message: `👍 bob mei`, or `👍12` if there are more than three users.
  private static func mark(_ reaction: Message.Reactions, _ people: People) -> String {
    let users = reaction.users
    let shown = users.count > 3 ? "\(users.count)" : users.map { " " + people.handle($0) }.joined()
    return visible(reaction.emoji) + shown
  }

  /// The status of a message: `✓` when sent, `✓✓` when delivered, `✓✓ read` when read.
  ///
  /// In a group, the handles of the readers follow. If there are more than three, or if their handles are not given,
  /// only their number follows.
  private static func status(of message: Message) -> String {
    switch message.status {
    case .sending: return Mark.end + Mark.strong("sending") + Mark.faint
    case .sent: return "✓"
    case .delivered: return "✓✓"
    case .failed:
      return Mark.end + Mark.alert("✗ failed\(message.failure.map { ": \(visible($0))" } ?? ""); dm-sync retry")
        + Mark.faint
    case .read: return "✓✓ read\(readers(of: message))"
    }
  }

  private static func readers(of message: Message) -> String {
    guard message.conversation.isGroup else { return "" }
    guard let readers = message.readBy, readers.count <= 3 else { return " by \(message.readByCount)" }
    return " by " + readers.map { handle($0) }.joined(separator: " ")
  }
}

/// Text for screen readers and logs: a sentence for each message, without columns.
extension TextFormat {
  /// A message as a sentence: `Alice A. (alice), 2026-11-23 10:42, in reply to Bob B. (bob) 'lunch?', read: yes`.
  ///
  /// - Parameter name: the display name and the handle of a user, escaped.
  static func sentence(
    _ message: Message, for me: Handle, in conversation: String?, _ name: (Handle) -> String
  ) -> String {
    var parts = [dateAndTime(message.createdAt)]
    if let conversation { parts.append("in \(Mark.body(conversation))") }
    if let announcement = announcement(message, People(me)) {
      return "\(parts.joined(separator: ", ")): \(announcement)"
    }
    parts.insert(name(message.sender), at: 0)
    if let reply = message.replyTo {
      parts.append(
        "in reply to \(reply.sender.map(name) ?? "a message") \(reply.text.map { Mark.body(quoted($0)) } ?? "")")
    }
    if let sender = message.forwardedFrom { parts.append("forwarded from \(name(sender))") }
    if message.editedAt != nil { parts.append("edited") }
    if let pin = message.pin { parts.append("pinned by \(name(pin.user))") }
    if let end = message.expiresAt { parts.append("expires \(dateAndTime(end))") }
    parts += message.attachments.map(mark)
    if let preview = message.linkPreview { parts.append("preview \(Mark.body(quoted(preview.title)))") }
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

  /// A conversation as a sentence: `Bob B. (bob), 3 unread, draft, 2026-11-23 10:42: bob: lunch?`.
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
    parts.append(dateAndTime(conversation.lastActivityAt))
    guard let last = conversation.lastMessage else { return parts.joined(separator: ", ") }
    return "\(parts.joined(separator: ", ")): \(preview(of: last, for: me, oneLine(last.text)))"
  }
}

extension TextFormat {
  /// A line about an attachment: its kind, name, size and other details, and its id, for `dm-attach --get`.
  package static func line(_ attachment: Attachment) -> String {
    "\(left(attachment.kind.rawValue, 5))  \(details(attachment))  \(attachment.id)"
  }

  /// A line about a pin: `-- bob pinned 57 --`.
  package static func line(_ pin: MessagePin, in prefix: String = "") -> String {
    "-- \(handle(pin.user)) \(pin.isPinned ? "pinned" : "unpinned") \(Mark.body(prefix))\(pin.seq) --"
  }

  /// A line about a sent attachment, also with the time, the message and the sender.
  package static func line(_ sent: SentAttachment, _ people: People, in conversation: String) -> String {
    let message = sent.message
    let sender = people.colored(message.sender, people.name(of: message.sender, message.senderName))
    return
      "\(left(sent.attachment.kind.rawValue, 5))  \(dateAndTime(message.createdAt))  \(Mark.body(visible(conversation))):\(message.number) \(sender)  \(details(sent.attachment))  \(sent.attachment.id)"
  }

  package static func line(_ saved: SavedAttachment) -> String { visible(saved.path) }

  /// A line about a file that is uploaded or fetched: the direction, the name, the transferred bytes, and the reason
  /// why the file waits.
  package static func line(_ transfer: Transfer) -> String {
    let name = transfer.name.map { Mark.body(visible($0)) } ?? "\(transfer.sha256)"
    var parts = [
      left(transfer.direction.rawValue, 6), name, "\(size(transfer.doneBytes)) of \(size(transfer.sizeBytes))",
      transfer.state.rawValue,
    ]
    if let time = transfer.notBefore { parts.append("until \(dateAndTime(time))") }
    if let fault = transfer.fault { parts.append(visible(fault)) }
    return parts.joined(separator: "  ")
  }

  /// A point of a digest: its messages, the person, the reason, until when, and the text.
  ///
  /// What dm adds is before the text, because its writer could imitate anything after it.
  ///
  /// - Parameter messages: the names of the messages; nil for their references.
  package static func line(_ point: DigestPoint, messages: [String]? = nil) -> String {
    let names = visible((messages ?? point.references).joined(separator: " "))
    return "\(Mark.faint(names)) \(Mark.body(visible(point.introduction))): \(Mark.body(oneLine(point.text)))"
  }

  private static func details(_ attachment: Attachment) -> String {
    var parts = [Mark.body(visible(attachment.name)), size(attachment.sizeBytes)]
    if let width = attachment.width, let height = attachment.height { parts.append("\(width)×\(height)") }
    if let duration = attachment.duration { parts.append(length(duration)) }
    return parts.joined(separator: "  ")
  }

  /// A number of bytes as text, with a suitable unit.
  package static func size(_ bytes: Int) -> String {
    bytes < 10_240 ? "\(bytes) bytes" : bytes < 10 << 20 ? "\(bytes >> 10) KiB" : "\(bytes >> 20) MiB"
  }

  /// `1:05`, or `1:01:05`.
  private static func length(_ duration: Duration) -> String {
    let seconds = Int((duration / .seconds(1)).rounded())
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    return (hours > 0 ? "\(hours):\(padded(minutes))" : "\(minutes)") + ":\(padded(seconds % 60))"
  }
}
