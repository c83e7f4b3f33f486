package import DMKit

extension TextFormat {
  /// A message that was found: time, conversation, number, the sender, attachments, and the text around the hits.
  package static func line(_ message: Message, _ snippet: Snippet?, in place: String) -> String {
    let sender = sender(of: message, message.attachments.map(mark))
    let head = "\(moment(message.createdAt))  \(Mark.body(place)):\(number(message)) \(sender): "
    guard let snippet else { return head + Mark.body(oneLine(message.text)) }
    let text = snippet.parts.map { part in
      let text = visible(part.text, indent: nil)
      return part.isHit ? Mark.hitStart + text + Mark.hitEnd : text
    }
    return head + Mark.body(text.joined())
  }
}
