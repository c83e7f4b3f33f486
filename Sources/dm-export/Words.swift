internal import DMCLI
internal import DMKit
internal import DMModel

/// What the formats for people say about a message.
///
/// All names and texts are escaped with `visible`, so that they have no control characters.
enum Words {
  /// The display name of the sender and the handle: `Bob Smith (bob)`, or only `bob`.
  static func sender(of message: Message) -> String {
    let handle = visible(message.sender.description)
    guard let name = message.senderName.map({ visible($0) }), ExactString(name) != ExactString(handle) else {
      return handle
    }
    return "\(name) (\(handle))"
  }

  /// What an announcement says; nil for a message that its sender has written.
  static func announcement(_ message: Message) -> String? {
    let subject = visible(message.subject ?? "")
    let act = message.act(title: subject, user: subject)
    return act ?? (message.systemKind == .unreadable ? "sent a message that this version of dm cannot read" : nil)
  }

  /// The text of a message or of an announcement; empty for a message that has only attachments.
  static func text(of message: Message) -> String {
    announcement(message) ?? visible(message.text ?? "", indent: "")
  }

  /// `40 (bob: lunch?)`, for the message that is answered.
  static func answered(_ reply: Message.Reply) -> String {
    guard let seq = reply.seq else { return "a message that is not there" }
    let sender = reply.sender.map { visible($0.description) } ?? ""
    return "\(seq) (\(sender)\(reply.text.map { ": " + TextFormat.oneLine($0) } ?? ""))"
  }

  /// Who pinned a message, and whether and when it was edited, forwarded, or expires.
  static func notes(on message: Message) -> [String] {
    var notes: [String] = []
    if let sender = message.forwardedFrom { notes.append("forwarded from \(visible(sender.description))") }
    if let pin = message.pin { notes.append("pinned by \(visible(pin.user.description))") }
    if let time = message.editedAt { notes.append("edited \(TextFormat.dateAndTime(time))") }
    if let time = message.expiresAt { notes.append("expires \(TextFormat.dateAndTime(time))") }
    if message.seq == nil { notes.append("not sent yet") }
    return notes
  }

  /// `👍 bob, carol  🎉 dave`; nil for no reactions.
  static func reactions(_ message: Message) -> String? {
    if message.reactions.isEmpty { return nil }
    return message.reactions.map { reaction in
      let users = reaction.users.map { visible($0.description) }.joined(separator: ", ")
      return "\(visible(reaction.emoji)) \(users)"
    }.joined(separator: "  ")
  }

  /// `image, 12 KiB`.
  static func kind(of attachment: Attachment) -> String {
    "\(attachment.kind.rawValue), \(TextFormat.size(attachment.sizeBytes))"
  }

  /// The title of a conversation, at most 200 columns wide.
  static func title(of conversation: Conversation) -> String {
    cut((conversation.isGroup ? "+" : "") + visible(conversation.name), 200)
  }
}
