internal import Glibc

/// Blocks the signals that end a program, until it has removed its unfinished files.
package final class Interruption {
  /// Thrown when one of the signals has arrived.
  package struct Ended: Error {
    fileprivate let number: Int32
  }

  private static let numbers = [SIGINT, SIGTERM, SIGHUP]

  private var held: [Int32] = []
  private var before = sigset_t()

  /// Ignored and blocked signals stay so: a program that nohup(1) started goes on.
  package init() {
    sigprocmask(SIG_BLOCK, nil, &before)
    // A blocked signal becomes pending even when it is ignored.
    held = Self.numbers.filter { !isIgnored($0) && sigismember(&before, $0) == 0 }
    var set = sigset_t()
    sigemptyset(&set)
    for number in held { sigaddset(&set, number) }
    sigprocmask(SIG_BLOCK, &set, nil)
  }

  /// - Throws: `Ended` when the program is to end.
  package func check() throws {
    var pending = sigset_t()
    sigpending(&pending)
    for number in held where sigismember(&pending, number) == 1 { throw Ended(number: number) }
  }

  /// Unblocks the signals; the program dies of a pending one.
  package func end() { sigprocmask(SIG_SETMASK, &before, nil) }

  /// Runs `body`; when a signal ended it, the program dies of that signal, because its work is not done.
  package func heeded<T>(_ progress: Progress, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let ended as Ended {
      progress.clear()
      dieOf(ended.number)
    }
  }
}

/// Whether this process ignores a signal.
func isIgnored(_ number: Int32) -> Bool {
  var action = sigaction()
  sigaction(number, nil, &action)
  return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
}
