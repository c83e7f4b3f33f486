package import DMKit

extension TextFormat {
  /// A message that was found: time, conversation, number, the sender's display name and handle, and the text around the hits.
  package static func line(_ message: Message, _ snippet: Snippet?, in place: String) -> String {
    let sender = person(message.senderName, message.sender, width: 32)
    let head = "\(moment(message.createdAt))  \(Mark.body(place)):\(number(message)) \(Mark.body(sender)): "
    guard let snippet else { return head + Mark.body(words(of: message)) }
    let text = snippet.parts.map { part in
      let text = visible(part.text, indent: nil)
      return part.isHit ? Mark.hitStart + text + Mark.hitEnd : text
    }
    return head + Mark.body(text.joined())
  }

  /// The text and the attachments of a message, on one line.
  static func words(of message: Message) -> String {
    let words = visible(message.text ?? "", indent: "").split(separator: "\n").map(String.init)
    return (words + message.attachments.map(brief)).joined(separator: " ")
  }
}
