internal import CSystem
package import DMModel
internal import Glibc

/// The terminal of standard input, which is in non-canonical mode without echo until it is restored.
///
/// The Enter key is read as CR, so that it differs from the line feeds of a pasted text.
///
/// The corresponding C functions are `tcgetattr` and `tcsetattr`.
package final class KeyTerminal {
  private var before = termios()
  private let screen: Int32
  /// The bytes that are written when the terminal is taken, and when it is restored.
  private let entering: String
  private let leaving: String
  package private(set) var isTaken = false

  /// - Parameters:
  ///   - bracketsPastes: whether to ask the terminal to send ESC [ 200 ~ before a pasted text, and ESC [ 201 ~ after it:
  ///     the bracketed paste mode of xterm.
  ///   - entering: written each time the terminal is taken.
  ///   - leaving: written when the terminal is restored, also if a crash ends the process; at most 56 bytes.
  /// - Throws: `io_error` if standard input is not a terminal that this process may use.
  package init(bracketsPastes: Bool, entering: String = "", leaving: String = "") throws(DMError) {
    tcgetattr(STDIN_FILENO, &before)
    // The terminal is opened again, because standard input may be open for reading only.
    guard let name = ttyname(STDIN_FILENO), case let screen = open(name, O_WRONLY | O_NOCTTY | O_CLOEXEC), screen >= 0,
      tcsetattr(STDIN_FILENO, TCSADRAIN, &before) == 0
    else {
      throw DMError(.inputOutput, "cannot take keys from the terminal: \(SystemFailure.current.text)")
    }
    self.screen = screen
    self.entering = entering + (bracketsPastes ? "\u{1B}[?2004h" : "")
    self.leaving = leaving + (bracketsPastes ? "\u{1B}[?2004l" : "")
    take()
  }

  deinit {
    restore()
    close(screen)
  }

  package func take() {
    var keyed = before
    keyed.c_lflag &= ~tcflag_t(ICANON | ECHO)
    // Ctrl-C and Ctrl-Z do not discard what was typed before them.
    keyed.c_lflag |= tcflag_t(NOFLSH)
    keyed.c_iflag &= ~tcflag_t(ICRNL | INLCR | IGNCR)
    tcsetattr(STDIN_FILENO, TCSADRAIN, &keyed)
    isTaken = true
    if !leaving.isEmpty { dm_rescue_terminal(screen, &before, leaving, leaving.utf8.count) }
    show(entering)
  }

  package func restore() {
    guard isTaken else { return }
    isTaken = false
    dm_leave_terminal()
    show(leaving)
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before)
  }

  /// Writes to the screen; ignores errors, because the caller keeps the text.
  package func show(_ bytes: [UInt8]) { writeOnce(bytes, to: screen) }

  package func show(_ text: String) { show(Array(text.utf8)) }

  /// The size of the terminal; 80 by 24 if it is unknown.
  package var size: (columns: Int, rows: Int) { sizeOfTerminal(descriptor: screen) ?? (80, 24) }
}
