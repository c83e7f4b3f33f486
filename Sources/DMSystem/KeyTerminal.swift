package import DMModel
internal import Glibc

/// The terminal of standard input in non-canonical mode without echo, until it is restored.
///
/// The corresponding C functions are `tcgetattr` and `tcsetattr`.
package final class KeyTerminal {
  private var before = termios()
  private let screen: Int32

  /// - Throws: `io_error` if standard input is not a terminal that this process may use.
  package init() throws(DMError) {
    tcgetattr(STDIN_FILENO, &before)
    // Standard input may be open for reading only.
    guard let name = ttyname(STDIN_FILENO), case let screen = open(name, O_WRONLY | O_NOCTTY | O_CLOEXEC), screen >= 0,
      tcsetattr(STDIN_FILENO, TCSADRAIN, &before) == 0
    else {
      throw DMError(.inputOutput, "cannot take keys from the terminal: \(SystemFailure.current.text)")
    }
    self.screen = screen
    take()
  }

  deinit { restore() }

  package func take() {
    var keyed = before
    keyed.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSADRAIN, &keyed)
  }

  package func restore() { tcsetattr(STDIN_FILENO, TCSADRAIN, &before) }

  /// Ignores errors: the text is kept even if the screen does not show it.
  package func show(_ bytes: [UInt8]) { writeOnce(bytes, to: screen) }
}
