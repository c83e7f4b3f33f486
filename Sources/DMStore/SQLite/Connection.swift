internal import CSQLite
package import DMModel
internal import DMSystem

/// One connection to one database file.
///
/// Only one thread at a time may use it.
///
/// Prepared statements are cached, so that SQL is not parsed again for each line of a batch.
package struct Connection: ~Copyable {
  package let handle: OpaquePointer
  private let statements: StatementCache
  /// The number of pages in the WAL after the last commit, as SQLite's hook reports it.
  private let walPages = Counter()
  /// The busy timeout in milliseconds.
  let busyTimeout: Int32

  /// Opens an existing database.
  ///
  /// If the file system does not allow writes, opens it read-only.
  ///
  /// Uses NOMUTEX, because only one thread at a time uses a connection (sqlite.org/threadsafe.html).
  ///
  /// - Parameter busyTimeout: how long a statement waits for SQLite's own locks. Programs of dm hold these locks only
  ///   briefly; other tools may hold them for longer.
  package init(path: String, busyTimeout: Duration = StoreLocation.standardBusyTimeout) throws(DMError) {
    _ = Self.configured
    self.busyTimeout = Int32(clamping: busyTimeout.microseconds / 1000)
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code = sqlite3_open_v2(path, &handle, flags, LogFiles.name)
    guard code == SQLITE_OK, let handle else {
      sqlite3_close_v2(handle)
      throw DMError(sqlite: code, detail: "cannot open the store '\(path)'")
    }
    self.handle = handle
    statements = StatementCache(handle)
    sqlite3_busy_timeout(handle, self.busyTimeout)
    // Without this flag, the connection that closes last would checkpoint without the write lock
    // (sqlite.org/c3ref/c_dbconfig_defensive.html).
    dm_sqlite3_set_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    dm_sqlite3_set_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    dm_sqlite3_set_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
    // A store of dm has no triggers or views. Triggers and views that another program adds must not change results.
    dm_sqlite3_set_flag(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    dm_sqlite3_set_flag(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    sqlite3_wal_hook(
      handle,
      { counter, _, _, pages in
        if let counter { Unmanaged<Counter>.fromOpaque(counter).takeUnretainedValue().value = Int(pages) }
        return SQLITE_OK
      }, Unmanaged.passUnretained(walPages).toOpaque())
  }

  deinit {
    // At the end of a process, closing would only free memory: `NO_CKPT_ON_CLOSE` keeps it from changing files, and the
    // kernel releases the locks.
    if ProcessEnd.isNear { return }
    statements.finalizeAll()
    sqlite3_close_v2(handle)
  }

  /// Runs `body`, and meanwhile allows writes to the tables of the full-text index
  /// (sqlite.org/c3ref/c_dbconfig_defensive.html).
  func withShadowTables(_ body: () throws -> Void) rethrows {
    dm_sqlite3_set_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 0)
    defer { dm_sqlite3_set_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 1) }
    try body()
  }

  /// A cached statement.
  ///
  /// The key in the cache is the address of the literal.
  package func prepare(_ sql: StaticString) throws(DMError) -> Statement { try statements.prepare(sql) }

  /// A cached statement whose SQL is made at run time and is the same each time.
  ///
  /// The key in the cache is the address of the literal `name`.
  package func prepare(as name: StaticString, _ sql: @autoclosure () -> String) throws(DMError) -> Statement {
    try statements.prepare(.literal(name), sql)
  }

  /// A cached statement whose SQL is made at run time.
  ///
  /// The key in the cache is the text of the SQL.
  package func prepare(text sql: String) throws(DMError) -> Statement { try statements.prepare(.text(sql)) { sql } }

  /// Runs statements that return no rows.
  package func execute(_ sql: String) throws(DMError) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else {
      throw DMError(sqlite: code, detail: String(cString: sqlite3_errmsg(handle)))
    }
  }

  /// The number of rows that the last statement changed.
  package var changes: Int { Int(sqlite3_changes(handle)) }

  /// The number of rows that all statements of this connection have changed so far.
  package var totalChanges: Int64 { sqlite3_total_changes64(handle) }

  /// The key of the last inserted row.
  package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

  /// Adds the SQL function `frequency`, which ranks rows of a full-text table.
  func addRanking() throws(DMError) { try Ranking.register(on: handle) }

  /// Adds the SQL function `fold`, which folds case and accents in a text.
  func addFolding() throws(DMError) { try Folding.register(on: handle) }

  package func begin(_ kind: Transaction.Kind) throws(DMError) -> Transaction {
    try Transaction(kind, on: handle, statements)
  }

  /// Whether the WAL had more than `limit` pages after the last commit of this connection.
  func hasWAL(over limit: Int) -> Bool { walPages.value > limit }

  /// Checkpoints the WAL if it has more than `limit` pages.
  ///
  /// Call this only under the write lock.
  ///
  /// A reader may prevent part of the checkpoint. The checkpoint does not wait for the reader; the next writer tries
  /// again. If no reader prevents it and `emptying` is true, the WAL is empty afterwards, so the next process that
  /// opens the store need not read it. Without `emptying`, the next process reads the pages of the WAL again.
  func checkpoint(ifOver limit: Int, emptying: Bool) {
    guard hasWAL(over: limit) else { return }
    sqlite3_busy_timeout(handle, 0)
    let mode = emptying ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
    if sqlite3_wal_checkpoint_v2(handle, nil, mode, nil, nil) == SQLITE_OK, emptying { walPages.value = 0 }
    sqlite3_busy_timeout(handle, self.busyTimeout)
  }

  /// Configures SQLite once in each process.
  private static let configured = dm_sqlite3_keep_no_statistics()
}

/// A number that a C callback can write.
private final class Counter {
  var value = 0
}

extension Connection {
  /// The version of the linked SQLite library, such as `3.40.1`.
  package static var libraryVersion: String { String(cString: sqlite3_libversion()) }

  /// Whether a version of SQLite can lose commits if several processes write and checkpoint at the same time.
  ///
  /// All versions from 3.7.0 to 3.51.2 have this fault, except 3.44.6 and 3.50.7, in which it is fixed
  /// (sqlite.org/wal.html, section 11).
  package static func hasLogResetFault(_ version: Int = Int(sqlite3_libversion_number())) -> Bool {
    switch version {
    case 3_044_006..<3_045_000, 3_050_007..<3_051_000: false
    default: (3_007_000..<3_051_003).contains(version)
    }
  }

  /// Writes a compact copy of the database, made from one snapshot, to another file.
  ///
  /// That file must be absent or empty.
  package func vacuum(into path: String) throws(DMError) {
    var vacuum = try prepare("VACUUM INTO ?")
    vacuum.bind(path)
    try vacuum.run()
  }

  /// Checkpoints the whole WAL and truncates it.
  ///
  /// Call this only under the write lock.
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

  /// Writes the contents of the WAL to the WAL again, and syncs the WAL.
  ///
  /// Call this only under the write lock, in a write transaction that has not written anything yet. If there is no WAL,
  /// nothing happens. The function uses SQLite's own file handle (sqlite.org/c3ref/c_fcntl_begin_atomic_write.html,
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

  /// Runs `body`, and calls `look` regularly meanwhile.
  ///
  /// If `look` throws, the running statement stops, and this function throws the error of `look`.
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

/// Calls `look` from SQLite's progress handler, and keeps the error that `look` throws.
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
