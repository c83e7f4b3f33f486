internal import Glibc

/// The signals that end a program, held back until it has put away what it was making.
public final class Interruption {
  /// That one of them has come.
  public struct Ended: Error {
    fileprivate let number: Int32
  }

  private static let numbers = [SIGINT, SIGTERM, SIGHUP]

  private var held: [Int32] = []
  private var before = sigset_t()

  /// Those that are ignored or blocked stay so: who was started by nohup(1) goes on.
  public init() {
    sigprocmask(SIG_BLOCK, nil, &before)
    // Held back, one that is ignored would come as well.
    held = Self.numbers.filter { !isIgnored($0) && sigismember(&before, $0) == 0 }
    var set = sigset_t()
    sigemptyset(&set)
    for number in held { sigaddset(&set, number) }
    sigprocmask(SIG_BLOCK, &set, nil)
  }

  /// - Throws: `Ended` when the program is to end.
  public func check() throws {
    var pending = sigset_t()
    sigpending(&pending)
    for number in held where sigismember(&pending, number) == 1 { throw Ended(number: number) }
  }

  /// Lets them through; the program dies of one that has come.
  public func end() { sigprocmask(SIG_SETMASK, &before, nil) }

  /// Runs `body`; when that was ended by a signal, so is the program: nothing must go on as if the work were done.
  public func heeded<T>(_ progress: Progress, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let ended as Ended {
      progress.clear()
      dieOf(ended.number)
    }
  }
}

/// Whether a signal does nothing to this process.
func isIgnored(_ number: Int32) -> Bool {
  var action = sigaction()
  sigaction(number, nil, &action)
  return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
}
