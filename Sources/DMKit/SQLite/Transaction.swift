internal import CSQLite

/// An open transaction; it is rolled back unless it is committed.
struct Transaction: ~Copyable {
  enum Kind {
    /// Sees one state of the store, and locks nobody out.
    case read
    /// Takes the right to write at once: an upgrade later can fail in a way that waiting does not
    /// cure (sqlite.org/rescode.html#busy_snapshot).
    case write
  }

  private let handle: OpaquePointer

  init(_ kind: Kind, on handle: OpaquePointer) throws(DMError) {
    self.handle = handle
    try run(kind == .write ? "BEGIN IMMEDIATE" : "BEGIN")
  }

  deinit {
    // SQLITE_FULL, IOERR and BUSY may have rolled back by themselves (sqlite.org/lang_transaction.html).
    if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
  }

  /// Makes its changes durable and visible; when that fails, none of them is.
  consuming func commit() throws(DMError) { try run("COMMIT") }

  private borrowing func run(_ sql: String) throws(DMError) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else {
      throw DMError(sqlite: code, detail: String(cString: sqlite3_errmsg(handle)))
    }
  }
}
