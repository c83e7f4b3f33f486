package import DMKit

extension TextFormat {
  /// An attachment: kind, name, size and the like, and the id for `dm-attach --get`.
  package static func line(_ attachment: Attachment) -> String {
    "\(left(attachment.kind.rawValue, 5))  \(details(attachment))  \(attachment.id)"
  }

  /// The same with the time, the message and its sender.
  package static func line(_ sent: SentAttachment, in place: String) -> String {
    let message = sent.message
    return
      "\(left(sent.attachment.kind.rawValue, 5))  \(moment(message.createdAt))  \(Mark.body(visible(place))):\(message.number) \(handle(message.sender))  \(details(sent.attachment))  \(sent.attachment.id)"
  }

  package static func line(_ saved: SavedAttachment) -> String { visible(saved.path) }

  private static func details(_ attachment: Attachment) -> String {
    var parts = [Mark.body(visible(attachment.name)), size(attachment.sizeBytes)]
    if let width = attachment.width, let height = attachment.height { parts.append("\(width)×\(height)") }
    if let duration = attachment.duration { parts.append(length(duration)) }
    return parts.joined(separator: "  ")
  }

  /// A size with a unit that fits it.
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
