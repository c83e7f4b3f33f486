internal import DMSystem

/// How a sync process has files carried: by itself when all else is done, or by another process meanwhile.
package final class FileWork {
  private let carrier: FileCarrier?
  private let start: () throws -> Void
  /// When a process may be started again, as a time of `monotonicMicroseconds`.
  private var startAt: Int64 = 0

  /// Microseconds.
  private static let pause: Int64 = 2_000_000

  /// - Parameters:
  ///   - carrier: carries files in this process; nil for a process that keeps synchronizing.
  ///   - start: starts a process that carries files, unless one runs.
  package init(_ carrier: FileCarrier?, start: @escaping () throws -> Void = {}) {
    self.carrier = carrier
    self.start = start
  }

  /// Carries files, and then the messages that waited for them.
  func carryHere(_ engine: SyncEngine) throws {
    guard let carrier, try engine.hasFilesDue(), try carrier.lead() else { return }
    while try engine.hasFilesDue() {
      try carrier.carry()
      try engine.drain()
    }
  }

  /// Has another process carry files.
  func carryApart(_ engine: SyncEngine) throws {
    guard monotonicMicroseconds() >= startAt, engine.hello?.hasFiles == true, try engine.hasFilesDue() else { return }
    startAt = monotonicMicroseconds() + Self.pause
    try start()
  }
}
