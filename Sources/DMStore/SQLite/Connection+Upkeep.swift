internal import CSQLite
package import DMModel

extension Connection {
  /// The version of the linked SQLite library, such as `3.40.1`.
  package static var libraryVersion: String { String(cString: sqlite3_libversion()) }

  /// Whether a version of SQLite can lose commits when several processes write and checkpoint at once: all from 3.7.0
  /// to 3.51.2, except 3.44.6 and 3.50.7, where it is fixed (sqlite.org/wal.html, section 11).
  package static func hasLogResetFault(_ version: Int = Int(sqlite3_libversion_number())) -> Bool {
    switch version {
    case 3_044_006..<3_045_000, 3_050_007..<3_051_000: false
    default: (3_007_000..<3_051_003).contains(version)
    }
  }

  /// Writes a compact copy of one snapshot to another file, which must be absent or empty.
  package func vacuum(into path: String) throws(DMError) {
    var vacuum = try prepare("VACUUM INTO ?")
    vacuum.bind(path)
    try vacuum.run()
  }

  /// Checkpoints the whole WAL and truncates it.
  ///
  /// Call it only under the write lock.
  ///
  /// - Returns: false if another connection still reads from the WAL.
  package func truncateWAL(within milliseconds: Int32) throws(DMError) -> Bool {
    sqlite3_busy_timeout(handle, milliseconds)
    let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    let reason = String(cString: sqlite3_errmsg(handle))
    sqlite3_busy_timeout(handle, busyTimeout)
    switch code {
    case SQLITE_OK: return true
    case SQLITE_BUSY: return false
    default: throw DMError(sqlite: code, detail: reason)
    }
  }

  /// Writes the contents of the WAL to it again, and syncs it.
  ///
  /// Call it only under the write lock, in a write transaction that has written nothing yet. It does nothing if there
  /// is no WAL. The file handle is SQLite's own (sqlite.org/c3ref/c_fcntl_begin_atomic_write.html,
  /// SQLITE_FCNTL_JOURNAL_POINTER).
  func rewriteLog() throws(DMError) {
    var pointer: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &pointer) == SQLITE_OK,
      let file = pointer, let methods = file.pointee.pMethods?.pointee
    else { return }
    func check(_ code: Int32?) throws(DMError) {
      guard code != SQLITE_OK else { return }
      throw DMError(sqlite: code ?? SQLITE_IOERR, detail: "the log cannot be written again")
    }
    var size: sqlite3_int64 = 0
    try check(methods.xFileSize?(file, &size))
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    var offset: sqlite3_int64 = 0
    while offset < size {
      let count = Int32(min(size - offset, sqlite3_int64(bytes.count)))
      try check(bytes.withUnsafeMutableBytes { methods.xRead?(file, $0.baseAddress, count, offset) })
      try check(bytes.withUnsafeBytes { methods.xWrite?(file, $0.baseAddress, count, offset) })
      offset += sqlite3_int64(count)
    }
    try check(methods.xSync?(file, SQLITE_SYNC_NORMAL))
  }

  /// Calls `look` regularly while `body` runs; if `look` throws, the running statement stops and its error is rethrown.
  package func watched<T>(by look: @escaping () throws -> Void, _ body: () throws -> T) throws -> T {
    let watch = ProgressWatch(look)
    sqlite3_progress_handler(
      handle, 20_000,
      { watch in
        guard let watch else { return 0 }
        return Unmanaged<ProgressWatch>.fromOpaque(watch).takeUnretainedValue().isOver() ? 1 : 0
      }, Unmanaged.passUnretained(watch).toOpaque())
    defer { sqlite3_progress_handler(handle, 0, nil, nil) }
    do {
      let result = try withExtendedLifetime(watch) { try body() }
      if let reason = watch.reason { throw reason }
      return result
    } catch {
      throw watch.reason ?? error
    }
  }
}

/// Calls `look` from SQLite's progress handler, and stores its error.
private final class ProgressWatch {
  private let look: () throws -> Void
  private(set) var reason: (any Error)?

  init(_ look: @escaping () throws -> Void) { self.look = look }

  func isOver() -> Bool {
    do {
      try look()
    } catch {
      reason = error
    }
    return reason != nil
  }
}
