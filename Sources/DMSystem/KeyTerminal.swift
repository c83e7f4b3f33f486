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
  private let bracketsPastes: Bool
  package private(set) var isTaken = false

  /// - Parameter bracketsPastes: whether to ask the terminal to send ESC [ 200 ~ before a pasted text, and ESC [ 201 ~
  ///   after it: the bracketed paste mode of xterm.
  /// - Throws: `io_error` if standard input is not a terminal that this process may use.
  package init(bracketsPastes: Bool) throws(DMError) {
    tcgetattr(STDIN_FILENO, &before)
    // The terminal is opened again, because standard input may be open for reading only.
    guard let name = ttyname(STDIN_FILENO), case let screen = open(name, O_WRONLY | O_NOCTTY | O_CLOEXEC), screen >= 0,
      tcsetattr(STDIN_FILENO, TCSADRAIN, &before) == 0
    else {
      throw DMError(.inputOutput, "cannot take keys from the terminal: \(SystemFailure.current.text)")
    }
    self.screen = screen
    self.bracketsPastes = bracketsPastes
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
    if bracketsPastes { show("\u{1B}[?2004h") }
  }

  package func restore() {
    guard isTaken else { return }
    isTaken = false
    if bracketsPastes { show("\u{1B}[?2004l") }
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before)
  }

  /// Writes to the screen; ignores errors, because the caller keeps the text.
  package func show(_ bytes: [UInt8]) { writeOnce(bytes, to: screen) }

  package func show(_ text: String) { show(Array(text.utf8)) }

  /// The size of the terminal; 80 by 24 if it is unknown.
  package var size: (columns: Int, rows: Int) { sizeOfTerminal(descriptor: screen) ?? (80, 24) }
}
