package import DMKit

/// The lines at the end of a terminal that newer ones replace: how far somebody has read, and who is typing.
///
/// They are cut to the width, so that each takes one line of the terminal.
package struct RenewedLines {
  private let call: Invocation
  /// How far somebody has read, if that is the last line that was printed.
  private var status: MessageStatus?
  private var typing: [Identifier: String] = [:]
  /// Whether the line of those who are typing stands below it.
  private var isTypingShown = false
  /// What was printed last, to break its lines anew for another width.
  private var recent: [String] = []

  /// - Returns: nil if standard output is no terminal whose lines can be replaced.
  /// - Throws: `usage` for a wrong environment.
  package init?(_ call: Invocation) throws {
    guard try !call.isJSON && !call.isQuiet && call.screen().canRenew else { return nil }
    self.call = call
  }

  /// Prints an event instead of what it replaces.
  ///
  /// - Parameter text: makes its text; nil for an event that only programs need.
  package mutating func print(_ event: MessagingEvent, _ text: () throws -> String?) throws {
    guard let words = try text() else { return }
    var erased = isTypingShown ? 1 : 0
    if case .typing(let event) = event {
      typing[event.conversationID] = event.users.isEmpty ? nil : words
      try call.output.write(Screen.erasing(erased))
    } else {
      var next: MessageStatus?
      if case .messageStatus(let event, _) = event { next = event }
      if let next, let status, next.replaces(status) {
        erased += 1
        if !recent.isEmpty { recent.removeLast() }
      }
      status = next
      try call.output.write(Screen.erasing(erased))
      let text = next == nil ? words : try fitted(words)
      remember(text)
      try call.print(text)
    }
    try printTyping()
  }

  private mutating func printTyping() throws {
    isTypingShown = !typing.isEmpty
    guard isTypingShown else { return }
    let line = typing.sorted { $0.value < $1.value }.map(\.value).joined(separator: "; ")
    try call.print(Mark.faint(fitted("-- \(line) --")))
  }

  /// A text was printed.
  package mutating func remember(_ text: String) {
    recent.append(text)
    if recent.count > 2 * Self.recentLimit { recent.removeFirst(Self.recentLimit) }
  }

  private static let recentLimit = 100

  /// Draws the screen anew, because it has another width.
  package mutating func redraw() throws {
    let screen = try call.screen()
    // The cursor stands below the last line.
    let room = (screen.rows ?? 24) - 1 - (typing.isEmpty ? 0 : 1)
    var rows: [[UInt8]] = []
    for text in recent.reversed() where rows.count < room { rows = screen.rows(of: text) + rows }
    try call.output.write(Screen.clearing)
    try call.output.write(lines: Array(rows.suffix(max(0, room)).map { $0 + Array("\u{1B}[0m\n".utf8) }.joined()))
    try printTyping()
    try call.output.flush()
  }

  private func fitted(_ line: String) throws -> String { cut(line, try call.screen().columns ?? 80) }
}

extension MessageStatus {
  /// Whether this status makes an older one of the same user superfluous.
  fileprivate func replaces(_ older: MessageStatus) -> Bool {
    conversationID == older.conversationID && user == older.user && (status == .read || older.status == .delivered)
  }
}
