package import DMKit

extension TextFormat {
  /// The marks before and after a hit: reverse video on a terminal, else asterisks.
  package struct HitMarks {
    let before: String
    let after: String

    /// NO_COLOR asks programs to print no colour (no-color.org).
    package init(isTerminal: Bool) throws {
      let isReversed = try isTerminal && environment("NO_COLOR") == nil
      before = isReversed ? "\u{1B}[7m" : "**"
      after = isReversed ? "\u{1B}[27m" : "**"
    }
  }

  /// A message that was found: time, conversation, number, sender, and the text around the hits.
  package static func line(_ message: Message, _ snippet: Snippet?, in place: String, _ marks: HitMarks) -> String {
    let head =
      "\(moment(message.createdAt))  \(place):\(number(message)) \(visible(message.sender.description)): "
    guard let snippet else {
      return head + words(of: message)
    }
    return snippet.parts.reduce(into: head) { line, part in
      line +=
        part.isHit ? marks.before + visible(part.text, indent: nil) + marks.after : visible(part.text, indent: nil)
    }
  }

  /// The text and the attachments of a message, on one line.
  private static func words(of message: Message) -> String {
    let words = visible(message.text ?? "", indent: "").split(separator: "\n").map(String.init)
    return (words + message.attachments.map(brief)).joined(separator: " ")
  }
}
