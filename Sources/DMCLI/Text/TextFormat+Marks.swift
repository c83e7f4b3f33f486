internal import DMKit

/// What dm says of a message besides its words.
extension TextFormat {
  /// The message that it answers, whether it was forwarded or edited and when it expires, its attachments, its reactions,
  /// and how far it has come when it is the user's own.
  static func marks(of message: Message, for me: Handle, _ address: (Attachment) -> String?) -> [String] {
    var marks: [String] = []
    if let reply = message.replyTo, let seq = reply.seq {
      let sender = reply.sender.map { " " + handle($0) } ?? ""
      marks.append("to \(seq)\(sender)\(reply.text.map { " " + Mark.body(quoted($0)) } ?? "")")
    }
    if let sender = message.forwardedFrom { marks.append("forwarded from \(handle(sender))") }
    if message.editedAt != nil { marks.append("edited") }
    if let end = message.expiresAt { marks.append("expires \(short(end))") }
    marks += message.attachments.map { attachment in
      address(attachment).map { Mark.link(mark(attachment), to: $0) } ?? mark(attachment)
    }
    marks += message.reactions.map(mark)
    if message.sender == me { marks.append(status(of: message)) }
    return marks
  }

  /// `image 'photo.jpg' 12 KiB`.
  static func mark(_ attachment: Attachment) -> String {
    "\(attachment.kind.rawValue) \(Mark.body(quoted(attachment.name))) \(size(attachment.sizeBytes))"
  }

  /// `👍 bob mei`, or `👍12` if there are more people than three.
  private static func mark(_ reaction: Message.Reactions) -> String {
    let users = reaction.users
    let people = users.count > 3 ? "\(users.count)" : users.map { " " + handle($0) }.joined()
    return visible(reaction.emoji) + people
  }

  /// `✓` when it is on its way, `✓✓` when somebody got it, `✓✓ read`; in a group with the number of readers, or their
  /// names if these are known.
  private static func status(of message: Message) -> String {
    switch message.status {
    case .sending: return "sending"
    case .sent: return "✓"
    case .delivered: return "✓✓"
    case .failed:
      return Mark.end + Mark.alert("✗ failed\(message.failure.map { ": \(visible($0))" } ?? "")") + Mark.faint
    case .read: return Mark.end + Mark.strong("✓✓ read\(readers(of: message))") + Mark.faint
    }
  }

  private static func readers(of message: Message) -> String {
    guard message.conversation.isGroup else { return "" }
    guard let readers = message.readBy, readers.count <= 3 else { return " by \(message.readByCount)" }
    return " by " + readers.map { handle($0) }.joined(separator: " ")
  }
}
