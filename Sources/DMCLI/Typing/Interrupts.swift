internal import CSystem
internal import DMKit
internal import Glibc

/// The signals that end or stop a program, read one by one, for a program that must clean up first; and SIGCHLD.
///
/// The corresponding facility is signalfd(2).
struct Interrupts: ~Copyable {
  /// A signal that arrived, and whether the terminal sent it to the whole process group.
  typealias Signal = (number: Int32, isFromTerminal: Bool)

  let descriptor: Int32

  /// Ignored signals stay ignored: a program that nohup(1) started goes on.
  init() throws {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGCHLD)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP] where !isIgnored(number) { sigaddset(&set, number) }
    sigprocmask(SIG_BLOCK, &set, nil)
    // write(2) fails with EPIPE when the reader has gone.
    signal(SIGPIPE, SIG_IGN)
    descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
    guard descriptor >= 0 else {
      throw DMError(.inputOutput, "cannot wait for signals: \(String(cString: strerror(errno)))")
    }
  }

  deinit { close(descriptor) }

  func next() -> Signal? {
    var information = signalfd_siginfo()
    let size = MemoryLayout<signalfd_siginfo>.size
    guard read(descriptor, &information, size) == size else { return nil }
    return (Int32(information.ssi_signo), information.ssi_code == SI_KERNEL)
  }
}
