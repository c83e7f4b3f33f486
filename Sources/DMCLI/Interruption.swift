internal import Glibc

/// The signals that end a program, held back until it has put away what it was making.
public final class Interruption {
  /// That one of them has come.
  public struct Ended: Error {}

  private static let numbers = [SIGINT, SIGTERM, SIGHUP]

  private var held = sigset_t()
  private var before = sigset_t()

  /// Those that are ignored stay so: who was started by nohup(1) goes on.
  public init() {
    sigemptyset(&held)
    // Held back, one that is ignored would come as well.
    for number in Self.numbers where !isIgnored(number) { sigaddset(&held, number) }
    sigprocmask(SIG_BLOCK, &held, &before)
  }

  /// - Throws: `Ended` when the program is to end.
  public func check() throws {
    var pending = sigset_t()
    sigpending(&pending)
    for number in Self.numbers where sigismember(&pending, number) == 1 { throw Ended() }
  }

  /// Lets them through; the program dies of one that has come.
  public func end() { sigprocmask(SIG_SETMASK, &before, nil) }
}

/// Whether a signal does nothing to this process.
func isIgnored(_ number: Int32) -> Bool {
  var action = sigaction()
  sigaction(number, nil, &action)
  return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
}
