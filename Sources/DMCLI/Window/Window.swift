internal import DMModel
package import DMSystem

/// The terminal of standard input and output as a window: rows that are drawn in place, and keys.
///
/// The window is drawn on the alternate screen, which has no scrollback, so that a change of size leaves no copies of
/// rows. When the window closes, the rows of the last page are printed on the normal screen.
package final class Window {
  package enum Event {
    case key(Key)
    /// The size may have changed; the next `draw` draws all rows.
    case resized
    /// The user has pressed Ctrl-C.
    case interrupted
    /// A signal ends the program, or the terminal was closed.
    case ended
  }

  private let terminal: KeyTerminal
  private let interrupts: Interrupts
  private var reader = KeyReader()
  /// The time at which a pending ESC becomes the Escape key, if no byte follows.
  private var escapeDue: Int64?
  /// Events for the next call of `events`: those that were put back, and those that signals caused during long work.
  private var waiting: [Event] = []
  /// Whether Ctrl-Z was pressed during long work.
  private var mustPause = false
  /// The rows that are on the terminal.
  private var drawn: [[UInt8]] = []
  /// The picture that is on the terminal.
  private var picture: TerminalPicture?
  /// The index of the first row that is not printed when the window closes.
  private var end = 0
  /// The title that the terminal has; nil if it is unknown.
  private var title: String?
  /// Whether the terminal may get titles and notifications: the console of Linux prints parts of them.
  private let hasTitle: Bool
  /// Called before Ctrl-Z stops the process.
  package var beforePause: () -> Void = {}
  /// Whether the terminal was asked for its attributes.
  private var hasAsked = false
  /// The signal that ends the program.
  package private(set) var ending: Signal?

  private static let clearingLine = Array("\u{1B}[K".utf8)

  /// The time in microseconds in which all bytes of a key arrive.
  private static let escapeTime: Int64 = 50_000

  /// - Throws: `io_error`.
  package init() throws {
    interrupts = try Interrupts()
    hasTitle = try environment("TERM") != "linux"
    // The alternate screen is mode 1049 of xterm; 22 and 23 of XTWINOPS push and pop the title (Xterm Control Sequences).
    terminal = try KeyTerminal(
      bracketsPastes: true, entering: "\u{1B}[?1049h" + (hasTitle ? "\u{1B}[22;2t" : ""),
      leaving: (hasTitle ? "\u{1B}[23;2t" : "") + "\u{1B}[0m\u{1B}[H\u{1B}[J\u{1B}[?1049l")
  }

  /// Descriptors that become readable when there is an event.
  package var descriptors: [Int32] { [Stream.input.rawValue, interrupts.descriptor] }

  /// The time on the monotonic clock at which `events` returns an event even without new input; nil for never.
  package var due: Int64? { waiting.isEmpty && !mustPause ? escapeDue : 0 }

  /// The events since the last call.
  ///
  /// The method does not wait for events, but if the user has pressed Ctrl-Z, it returns only when the process is
  /// continued.
  ///
  /// - Throws: `io_error`.
  package func events() throws -> [Event] {
    var events = waiting
    waiting = []
    if ending != nil { return events + [.ended] }
    if mustPause {
      mustPause = false
      events += pause()
    }
    while let signal = interrupts.next()?.signal {
      switch signal {
      case .childEnded: break
      case .suspend: events += pause()
      case .interrupt: return events + lastKeys() + [.interrupted]
      case .resize:
        drawn = []
        events.append(.resized)
      default:
        ending = signal
        return events + lastKeys() + [.ended]
      }
    }
    guard let keys = keys() else { return events + [.ended] }
    events += keys
    escapeDue = reader.isWaiting ? monotonicMicroseconds() + Self.escapeTime : nil
    return events
  }

  /// Makes Ctrl-C the signal that ends the program.
  package func interrupt() { ending = .interrupt }

  /// Keeps events for the next call of `events`.
  package func putBack(_ events: some Sequence<Event>) { waiting = events + waiting }

  /// The keys typed since the last call; nil if the terminal was closed.
  private func keys() -> [Event]? {
    if waitUntilReadable(Stream.input.rawValue, milliseconds: 0) {
      return readInput().map { reader.keys($0).map(Event.key) }
    }
    guard let due = escapeDue, monotonicMicroseconds() >= due else { return [] }
    return reader.finish().map(Event.key)
  }

  /// The keys typed since the last call; a pending ESC becomes the Escape key, because no further byte is read.
  private func lastKeys() -> [Event] { (keys() ?? []) + reader.finish().map(Event.key) }

  /// The next bytes of input; nil at the end or after an error, which mean that the terminal was closed.
  private func readInput() -> ArraySlice<UInt8>? {
    var bytes = [UInt8](repeating: 0, count: 64 * 1024)
    do {
      let count = try readSome(Stream.input.rawValue, into: &bytes)
      return count == 0 ? nil : bytes[..<count]
    } catch {
      return error.isTemporary ? [] : nil
    }
  }

  /// Whether long work must stop: the user has pressed Ctrl-C, which ends only this work, or a signal that ends the
  /// program has arrived.
  package var isInterrupted: Bool {
    while let signal = interrupts.next()?.signal {
      switch signal {
      case .interrupt: return true
      case .resize: waiting.append(.resized)
      case .suspend: mustPause = true
      case .childEnded: break
      default: ending = signal
      }
    }
    return ending != nil
  }

  // MARK: Drawing

  /// Draws rows from the top of the screen, printing only changed ones, and places the cursor.
  ///
  /// The sequences are CUP, EL, ED and SGR (ECMA-48, section 8.3).
  ///
  /// - Parameters:
  ///   - rows: the rows, each at most as wide as the screen; older rows below them are cleared.
  ///   - cursor: the row of the cursor, counted from 0, and the text before the cursor in that row. This text is
  ///     printed again to move the cursor, because terminals differ in the width of emoji.
  ///   - end: the index of the first row that is not printed when the program ends.
  ///   - picture: a picture in the first rows, which are empty.
  package func draw(
    _ rows: [[UInt8]], cursor: (row: Int, beforeCursor: String), endingAt end: Int, picture: TerminalPicture? = nil
  ) {
    let removal = self.picture.map { $0 == picture ? [] : $0.removal } ?? []
    if self.picture != picture { drawn = [] }
    let showing = drawn.isEmpty ? picture.map { movingCursor(to: 0) + $0.bytes } ?? [] : []
    self.picture = picture
    // Rows that do not fit are cut at the top.
    let above = max(0, rows.count - (terminalSize?.rows ?? 24))
    let rows = Array(rows.dropFirst(above))
    self.end = max(0, end - above)
    var bytes = removal + (drawn.isEmpty ? Array("\u{1B}[H\u{1B}[0m\u{1B}[J".utf8) : [])
    for (index, row) in rows.enumerated() where index >= drawn.count || drawn[index] != row {
      // Clears the line before the row is printed: after a full row, the cursor is still on the last column, and
      // clearing would erase the last character.
      bytes += movingCursor(to: index) + Self.clearingLine + row + Array("\u{1B}[0m".utf8)
    }
    for index in drawn.indices.dropFirst(rows.count) { bytes += movingCursor(to: index) + Self.clearingLine }
    drawn = rows
    terminal.show(bytes + showing + movingCursor(to: cursor.row - above) + Array(cursor.beforeCursor.utf8))
  }

  private func movingCursor(to row: Int) -> [UInt8] { Array("\u{1B}[\(row + 1)H".utf8) }

  /// Makes the next `draw` draw all rows, because something else may have been printed.
  package func forget() { drawn = [] }

  /// Restores the terminal, and prints the rows of the last page above `end`; a second call does nothing.
  package func leave() {
    guard terminal.isTaken else { return }
    restore()
    terminal.show([0x0D] + drawn.prefix(end).flatMap { $0 + Array("\u{1B}[0m\r\n".utf8) })
  }

  private func restore() {
    title = nil
    terminal.restore()
  }

  /// Stops the process until it is continued.
  ///
  /// The last page is not printed, because the window comes back.
  ///
  /// - Returns: the keys that were typed before the stop, which are for the window and not for the shell, and then
  ///   `resized`.
  private func pause() -> [Event] {
    let before = lastKeys()
    beforePause()
    restore()
    Signal.stop.raise()
    terminal.take()
    drawn = []
    return before + [.resized]
  }
}

/// What the window tells the terminal besides its rows.
extension Window {
  /// Sets the title of the terminal's window: OSC 2 (Xterm Control Sequences).
  ///
  /// - Parameter title: may have any characters, because control characters are left out.
  package func show(title: String) {
    guard hasTitle, terminal.isTaken, title != self.title else { return }
    self.title = title
    terminal.show("\u{1B}]2;\(Self.harmless(title))\u{7}")
  }

  /// Shows a notification of the desktop, if the terminal can: OSC 777 of rxvt, which foot, Konsole and terminals with VTE
  /// also have, or else OSC 9 of iTerm2.
  ///
  /// Other terminals ignore the sequence. Only one of the two is written, because some terminals have both.
  package func notify(_ text: String) throws {
    guard hasTitle, terminal.isTaken else { return }
    let term = try environment("TERM") ?? ""
    let hasVTE = try ["VTE_VERSION", "KONSOLE_VERSION"].contains { try environment($0) != nil }
    // A text of OSC 9 that begins with a number and a semicolon would be another command in some terminals.
    let text = "dm: " + Self.harmless(text).replacing(text: ";", with: ",")
    let isRxvt = hasVTE || term.hasPrefix("rxvt") || term.hasPrefix("foot")
    terminal.show(isRxvt ? "\u{1B}]777;notify;dm;\(text)\u{7}" : "\u{1B}]9;\(text)\u{7}")
  }

  /// Whether the terminal reports that it shows sixels, by attribute 4 of DA1 (Xterm Control Sequences).
  ///
  /// The first call asks the terminal, and waits at most 300 ms for its answer.
  package func showsSixels() -> Bool {
    let end = monotonicMicroseconds() + 300_000
    if !hasAsked { terminal.show("\u{1B}[c") }
    while !hasAsked, reader.attributes == nil, case let rest = end - monotonicMicroseconds(), rest > 0,
      waitUntilReadable(Stream.input.rawValue, milliseconds: Int32(rest / 1000)), let bytes = readInput()
    {
      waiting += reader.keys(bytes).map(Event.key)
    }
    hasAsked = true
    return reader.attributes?.contains(4) == true
  }

  /// At most 80 characters of a text, without the control characters that could end a sequence or begin another one.
  private static func harmless(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.prefix(80).filter { !isHidden($0) }))
  }
}
