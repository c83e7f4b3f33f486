internal import CSystem
internal import Glibc

/// A signal to a process: signal(7).
package struct Signal: Hashable, Sendable {
  let number: Int32

  package static var interrupt: Signal { Signal(number: SIGINT) }
  package static var terminate: Signal { Signal(number: SIGTERM) }
  package static var hangUp: Signal { Signal(number: SIGHUP) }
  package static var quit: Signal { Signal(number: SIGQUIT) }
  /// The process has written to a pipe that has no reader.
  package static var brokenPipe: Signal { Signal(number: SIGPIPE) }
  /// The process has written to a file beyond the size that setrlimit(2) allows.
  package static var fileTooLarge: Signal { Signal(number: SIGXFSZ) }
  package static var childEnded: Signal { Signal(number: SIGCHLD) }
  /// The terminal has another size now.
  package static var resize: Signal { Signal(number: SIGWINCH) }
  /// The user has pressed Ctrl-Z on the terminal.
  package static var suspend: Signal { Signal(number: SIGTSTP) }
  /// Stops a process; no process can catch it.
  package static var stop: Signal { Signal(number: SIGSTOP) }

  /// Whether this process ignores the signal.
  package var isIgnored: Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  package func ignore() { signal(number, SIG_IGN) }

  package func restoreDefault() { signal(number, SIG_DFL) }

  /// Sends the signal to this process.
  package func raise() { _ = Glibc.raise(number) }

  /// Ends this process by the signal, so that its parent sees which signal it was.
  package func end() -> Never {
    restoreDefault()
    var one = Self.set([self])
    sigprocmask(SIG_UNBLOCK, &one, nil)
    raise()
    _exit(128 + number)
  }

  static func set(_ signals: [Signal]) -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal.number) }
    return set
  }
}

/// Signals that stay pending until this process unblocks them: sigprocmask(2).
package final class BlockedSignals {
  private let held: [Signal]
  private var before = sigset_t()

  /// Signals that are already ignored or blocked stay so; for example, a program that nohup(1) started continues.
  package init(_ signals: [Signal]) {
    var before = sigset_t()
    sigprocmask(SIG_BLOCK, nil, &before)
    // A blocked signal becomes pending even if it is ignored.
    held = signals.filter { !$0.isIgnored && sigismember(&before, $0.number) == 0 }
    var set = Signal.set(held)
    sigprocmask(SIG_BLOCK, &set, nil)
    self.before = before
  }

  /// One of the signals that have arrived; nil if none has.
  package var arrived: Signal? {
    var pending = sigset_t()
    sigpending(&pending)
    return held.first { sigismember(&pending, $0.number) == 1 }
  }

  /// Unblocks the signals; a signal that has arrived ends the process.
  package func unblock() { sigprocmask(SIG_SETMASK, &before, nil) }
}
