internal import DMSystem

/// Blocks the signals that end the program, so that it can first remove its unfinished files.
package final class Interruption {
  /// Thrown when one of the signals has arrived.
  package struct Ended: Error {
    fileprivate let signal: Signal
  }

  private let signals = BlockedSignals([.interrupt, .terminate, .hangUp])

  package init() {}

  /// - Throws: `Ended` if a signal has arrived.
  package func check() throws { if let signal = signals.arrived { throw Ended(signal: signal) } }

  /// Unblocks the signals; a signal that arrived while they were blocked ends the program.
  package func end() { signals.unblock() }

  /// Runs `body` while the signals are blocked; if a signal arrives, it ends the program.
  ///
  /// - Parameter body: gets a function that it must call often with the current step: the function shows the step, and
  ///   throws if a signal has arrived.
  package static func heeded<T>(
    _ progress: Progress, _ body: (_ step: @escaping (String) throws -> Void) throws -> T
  ) throws -> T {
    let interruption = Interruption()
    defer {
      progress.clear()
      interruption.end()
    }
    return try interruption.heeded(progress) {
      try body { step in
        progress.show(step)
        try interruption.check()
      }
    }
  }

  /// Runs `body`; if `body` throws `Ended`, its signal ends the program, because the work of `body` is not done.
  package func heeded<T>(_ progress: Progress, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let ended as Ended {
      progress.clear()
      ended.signal.end()
    }
  }
}
