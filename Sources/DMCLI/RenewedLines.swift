package import DMKit

/// The last lines on a terminal, which are replaced when they change.
///
/// One line says up to which message a user has got or read the messages, and another line says who is typing.
///
/// Both lines are cut to the width of the terminal, so that each has only one row.
package struct RenewedLines {
  private let call: Invocation
  /// The status that the last printed line has shown; nil if that line was no status.
  private var status: MessageStatus?
  private var typing: [Identifier: String] = [:]
  /// Whether the line that names typing users is the last on the terminal.
  private var isTypingShown = false
  /// The texts printed last, to wrap them again when the width changes.
  private var recent: [String] = []

  /// - Returns: nil if standard output is not a terminal whose lines can be replaced.
  /// - Throws: `usage` for an environment variable that is not valid.
  package init?(_ call: Invocation) throws {
    guard try !call.isJSON && !call.isQuiet && call.screen().canRenew else { return nil }
    self.call = call
  }

  /// Prints an event in place of the lines that it replaces.
  ///
  /// - Parameter text: makes the text of the event; returns nil for an event that only programs need.
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

  /// Remembers a printed text for `redraw`.
  package mutating func remember(_ text: String) {
    recent.append(text)
    if recent.count > 2 * Self.recentLimit { recent.removeFirst(Self.recentLimit) }
  }

  private static let recentLimit = 100

  /// Redraws the screen after its width has changed.
  package mutating func redraw() throws {
    let screen = try call.screen()
    // One row stays free for the cursor, which is below the last line.
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
  /// Whether this status replaces an older one of the same user.
  fileprivate func replaces(_ older: MessageStatus) -> Bool {
    conversationID == older.conversationID && user == older.user && (status == .read || older.status == .delivered)
  }
}
