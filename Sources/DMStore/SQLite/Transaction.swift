internal import CSQLite
package import DMModel

/// An open transaction.
///
/// A transaction that is not committed is rolled back.
package struct Transaction: ~Copyable {
  package enum Kind {
    /// A transaction that reads one snapshot, and blocks no other connection.
    case read
    /// A transaction that acquires SQLite's write lock at its start. If a transaction tries to acquire the lock later,
    /// it can get an error that does not end by waiting (sqlite.org/rescode.html#busy_snapshot).
    case write
  }

  private let handle: OpaquePointer
  private let statements: StatementCache

  init(_ kind: Kind, on handle: OpaquePointer, _ statements: StatementCache) throws(DMError) {
    self.handle = handle
    self.statements = statements
    var begin = kind == .write ? try statements.prepare("BEGIN IMMEDIATE") : try statements.prepare("BEGIN")
    try begin.run()
  }

  deinit {
    // After the errors SQLITE_FULL, SQLITE_IOERR and SQLITE_BUSY, SQLite may have rolled back already
    // (sqlite.org/lang_transaction.html).
    if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
  }

  /// Makes the changes durable and visible; if this fails, none of the changes takes effect.
  package consuming func commit() throws(DMError) {
    var commit = try statements.prepare("COMMIT")
    try commit.run()
  }
}
