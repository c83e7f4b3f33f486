package import DMKit
internal import DMModel
internal import DMSystem

/// Starts another process that uploads and fetches files, so that files do not delay messages.
package final class FileWork {
  private let messenger: Messenger
  private let start: () throws -> Void
  /// When a process may be started again, as a time of `monotonicMicroseconds`.
  private var startAt: Int64 = 0
  /// When to check again whether the stored contents of attachments exceed the user's limit in bytes, as a time of
  /// `monotonicMicroseconds`.
  private var trimAt: Int64 = 0

  /// `pause`, `trimPause` and `tick` are in microseconds.
  private static let pause: Int64 = 2_000_000
  private static let trimPause: Int64 = 660_000_000
  private static let tick: Int64 = 200_000
  /// The maximum number of processes that `finish` starts.
  private static let mostStarts = 20

  /// - Parameter start: starts a process that uploads and fetches files, unless one runs already.
  package init(_ messenger: Messenger, start: @escaping () throws -> Void) {
    self.messenger = messenger
    self.start = start
  }

  /// Starts the process if a file can be transferred now.
  ///
  /// - Returns: when to look again, as a time of `monotonicMicroseconds`; `.max` if no file waits.
  @discardableResult func carry(_ engine: SyncEngine) throws -> Int64 {
    try trim(engine)
    guard let dueAt = try engine.filesDueAt() else { return .max }
    let now = monotonicMicroseconds()
    let rest = max(0, dueAt.microseconds - Timestamp.now.microseconds)
    if rest > 0 { return now + rest }
    if now >= startAt {
      startAt = now + Self.pause
      try start()
    }
    return startAt
  }

  /// Waits until all files that are due were transferred, and pushes the messages whose files were uploaded.
  func finish(_ engine: SyncEngine) throws {
    var starts = 0
    while let dueAt = try engine.filesDueAt(), dueAt <= .now, starts < Self.mostStarts {
      if try !messenger.areFilesCarried() {
        starts += 1
        try start()
      }
      try engine.wait(for: .seconds(30), until: monotonicMicroseconds() + Self.tick)
      try engine.drain()
    }
    try engine.drain()
    try trim(engine)
  }

  /// Starts the process if the contents exceed their limit.
  private func trim(_ engine: SyncEngine) throws {
    let now = monotonicMicroseconds()
    guard engine.hello?.hasFiles == true, now >= trimAt else { return }
    trimAt = now + Self.trimPause
    if try messenger.exceedsContentsLimit() { try start() }
  }
}
