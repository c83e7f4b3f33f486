internal import CSQLite
internal import DMModel

extension Connection {
  /// Copies all pages of one snapshot of the database to an empty file (sqlite.org/c3ref/backup_finish.html).
  ///
  /// Unlike `vacuum(into:)`, this computes nothing, so it is faster, and also copies a damaged database. The copy is not
  /// synced to the disk.
  func copyPages(to path: String) throws(DMError) {
    let other = try Connection(path: path)
    // The caller removes the file if the copy fails, so it needs no journal.
    try other.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY")
    guard let backup = sqlite3_backup_init(other.handle, "main", handle, "main") else {
      throw DMError(sqlite: sqlite3_extended_errcode(other.handle), detail: "cannot copy the store")
    }
    let code = sqlite3_backup_step(backup, -1)
    sqlite3_backup_finish(backup)
    _ = consume other
    guard code == SQLITE_DONE else { throw DMError(sqlite: code, detail: "cannot copy the store") }
  }
}
