internal import DMSystem

/// Blocks the signals that end a program, until it has removed its unfinished files.
package final class Interruption {
  /// Thrown when one of the signals has arrived.
  package struct Ended: Error {
    fileprivate let signal: Signal
  }

  private let signals = BlockedSignals([.interrupt, .terminate, .hangUp])

  package init() {}

  /// - Throws: `Ended` when the program is to end.
  package func check() throws { if let signal = signals.arrived { throw Ended(signal: signal) } }

  /// Unblocks the signals; the program dies of one that has arrived.
  package func end() { signals.unblock() }

  /// Runs `body`; when a signal ended it, the program dies of that signal, because its work is not done.
  package func heeded<T>(_ progress: Progress, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let ended as Ended {
      progress.clear()
      ended.signal.end()
    }
  }
}
