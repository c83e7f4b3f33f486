internal import CSystem
package import DMModel
internal import Glibc

/// Signals that a program reads one by one, so that it can clean up before it ends or stops.
///
/// These are the signals that end or suspend the program, `Signal.childEnded` and `Signal.resize`.
///
/// Uses signalfd(2).
package struct Interrupts: ~Copyable {
  package let descriptor: Int32

  /// Signals that are ignored stay ignored, so that a program that nohup(1) started continues.
  ///
  /// - Throws: `io_error`.
  package init() throws(DMError) {
    let endings: [Signal] = [.interrupt, .terminate, .hangUp, .quit, .suspend]
    // Without SIGPIPE, write(2) fails with EPIPE after the reader has gone.
    Signal.brokenPipe.ignore()
    try self.init(of: [.childEnded, .resize] + endings.filter { !$0.isIgnored })
  }

  /// Reads these signals only.
  ///
  /// - Throws: `io_error`.
  package init(of signals: [Signal]) throws(DMError) {
    var set = Signal.set(signals)
    sigprocmask(SIG_BLOCK, &set, nil)
    descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
    guard descriptor >= 0 else {
      throw DMError(.inputOutput, "cannot wait for signals: \(SystemFailure.current.text)")
    }
  }

  deinit { close(descriptor) }

  /// The next signal that has arrived, and whether the terminal sent it to the whole process group; nil if there is none.
  package func next() -> (signal: Signal, isFromTerminal: Bool)? {
    var information = signalfd_siginfo()
    let size = MemoryLayout<signalfd_siginfo>.size
    guard read(descriptor, &information, size) == size else { return nil }
    return (Signal(number: Int32(information.ssi_signo)), information.ssi_code == SI_KERNEL)
  }
}
