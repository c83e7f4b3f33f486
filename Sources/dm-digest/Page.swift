internal import DMCLI
internal import DMDigest
internal import DMKit

/// A digest as a page for people: the points below the name of their conversation and of their kind.
struct Page {
  private var parts: [String: (messages: Int, people: Set<String>, first: Timestamp, last: Timestamp)] = [:]
  private var conversation: String?
  private var kind: Point.Kind?

  /// - Parameter messages: the messages that were read.
  init(_ messages: [DigestMessage]) {
    for message in messages {
      var part = parts[message.conversation] ?? (0, [], message.time, message.time)
      part.messages += 1
      part.people.insert(message.sender)
      part.last = message.time
      parts[message.conversation] = part
    }
  }

  /// A point, below the headings that it needs.
  mutating func text(of point: Point) -> String {
    var lines: [String] = []
    if point.conversation != conversation {
      if conversation != nil { lines.append("") }
      lines.append(heading(point.conversation))
      (conversation, kind) = (point.conversation, nil)
    }
    if point.kind != kind { lines += ["", "  " + Mark.strong(Self.name(point.kind))] }
    kind = point.kind
    return (lines + [Self.line(point)]).joined(separator: "\n")
  }

  private func heading(_ conversation: String) -> String {
    guard let part = parts[conversation] else { return Mark.strong(conversation) }
    let (messages, people) = (part.messages, part.people.count)
    return Mark.strong(conversation)
      + Mark.faint(
        "  \(messages) message\(messages == 1 ? "" : "s"), \(people) \(people == 1 ? "person" : "people"), "
          + "\(TextFormat.dateAndTime(part.first)) to \(TextFormat.dateAndTime(part.last))")
  }

  private static func name(_ kind: Point.Kind) -> String {
    switch kind {
    case .priority: "Needs you"
    case .actionItem: "To do"
    case .decision: "Decided"
    case .question: "Not answered"
    case .summary: "In short"
    }
  }

  /// What dm adds is before the text, because its writer could imitate anything after it.
  private static func line(_ point: Point) -> String {
    var head = "    " + Mark.faint(point.references.joined(separator: " ")) + " "
    if let who = point.who { head += Mark.body(visible(who)) }
    if let reason = point.reason { head += " (\(reason.rawValue))" }
    if let until = point.until { head += ", " + visible(until) }
    return head + ": " + Mark.body(TextFormat.oneLine(point.text))
  }

  /// A translated message.
  static func line(_ translated: Translated) -> String {
    let message = translated.message
    return Mark.faint(message.reference) + " \(Mark.body(visible(message.sender))): "
      + Mark.body(visible(translated.text, indent: "  "))
  }
}
