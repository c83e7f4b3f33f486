internal import DMCLI
internal import DMDigest
internal import DMKit

/// A digest as a page for people: the points below the name of their conversation and of their kind.
struct Page {
  private var parts: [ExactString: (messages: Int, people: Set<ExactString>, first: Timestamp, last: Timestamp)] = [:]
  private var conversation: String?
  private var kind: DigestPoint.Kind?

  /// - Parameter messages: the messages that were read.
  init(_ messages: [DigestMessage]) {
    for message in messages {
      var part = parts[ExactString(message.conversation)] ?? (0, [], message.time, message.time)
      part.messages += 1
      part.people.insert(ExactString(message.sender))
      part.last = message.time
      parts[ExactString(message.conversation)] = part
    }
  }

  /// A point, below the headings that it needs.
  mutating func text(of point: DigestPoint) -> String {
    var lines: [String] = []
    if conversation.map(ExactString.init) != ExactString(point.conversation) {
      if conversation != nil { lines.append("") }
      lines.append(heading(point.conversation))
      (conversation, kind) = (point.conversation, nil)
    }
    if point.kind != kind { lines += ["", "  " + Mark.strong(point.kind.title)] }
    kind = point.kind
    return (lines + ["    " + TextFormat.line(point)]).joined(separator: "\n")
  }

  private func heading(_ conversation: String) -> String {
    guard let part = parts[ExactString(conversation)] else { return Mark.strong(visible(conversation)) }
    let (messages, people) = (part.messages, part.people.count)
    return Mark.strong(visible(conversation))
      + Mark.faint(
        "  \(counted(messages, "message")), \(people) \(people == 1 ? "person" : "people"), "
          + "\(TextFormat.dateAndTime(part.first)) to \(TextFormat.dateAndTime(part.last))")
  }

  /// A translated message.
  static func line(_ translated: Translated) -> String {
    let message = translated.message
    return Mark.faint(visible(message.reference)) + " \(Mark.body(visible(message.sender))): "
      + Mark.body(visible(translated.text, indent: "  "))
  }
}
