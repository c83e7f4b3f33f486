internal import DMModel
package import DMSystem

// Reads: store.
// Writes: change.

/// The last commit as recorded in `store.lock`, so that commits lost with the WAL are noticed.
///
/// The mark is written before and after each commit and never synced. After a power loss the file has either an older
/// mark, with a lower `rev`, or a mark that is not synced: then the next writer writes the WAL again.
package struct CommitMark: Equatable {
  /// Whether all commits are certainly on the disk.
  ///
  /// A commit sets it to false before it starts, and to true after it has returned. It stays false if the writer is
  /// killed or its sync fails.
  var isSynced: Bool
  /// The store's id: another database may have been put into the folder.
  var store: Identifier
  /// The last committed change.
  var rev: Rev

  /// The length of a mark in bytes.
  static let length = 64
  private static let (synced, unsynced) = ("synced", "commit")

  init(isSynced: Bool = true, store: Identifier, rev: Rev) {
    (self.isSynced, self.store, self.rev) = (isSynced, store, rev)
  }

  /// Parses a mark; nil for other bytes, such as the empty file that older versions leave.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.length, bytes.last == UInt8(ascii: "\n") else { return nil }
    let words = bytes.dropLast().split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
    guard words.count == 3, [Self.synced, Self.unsynced].contains(words[0]), let store = Identifier(words[1]),
      let number = Int64(words[2]), number >= 0
    else { return nil }
    self.init(isSynced: words[0] == Self.synced, store: store, rev: Rev(number: number))
  }

  /// One line: `synced` or `commit` (not synced), the store's id, and the number of the change in 19 digits.
  var bytes: [UInt8] {
    let digits = String(rev.number)
    let zeros = String(repeating: "0", count: 19 - digits.utf8.count)
    return Array("\(isSynced ? Self.synced : Self.unsynced) \(store) \(zeros)\(digits)\n".utf8)
  }
}

extension StoreLocation {
  /// Reads the mark without waiting for a writer; nil if there is none or the file cannot be read.
  func commitMark() -> CommitMark? { readFile(lock, limit: CommitMark.length).flatMap(CommitMark.init) }

  /// Whether the store was used: its mark has a change, or it has the file `bell`, which only a store with tables gets.
  private var wasUsed: Bool { commitMark().map { $0.rev > .zero } ?? false || fileExists(bell) }

  /// Refuses a store that was used before and is now empty.
  ///
  /// - Parameter isEmpty: checks again, because another process may have created the tables since.
  /// - Throws: `store_damaged` if the store was used and no longer has its tables or its database.
  func refuseEmptied(_ isEmpty: () throws -> Bool) throws {
    guard wasUsed, try isEmpty() else { return }
    throw DMError(
      .storeDamaged,
      "the store '\(directory)' was used and is empty: its database or its log was lost; restore a backup to another folder",
      subject: directory)
  }
}

extension Store {
  /// The store's id and its last change, as the current transaction sees them.
  private func currentMark() throws -> CommitMark {
    // AUTOINCREMENT stores the largest number it ever assigned (sqlite.org/autoinc.html).
    var statement = try connection.prepare(
      "SELECT uuid, (SELECT seq FROM sqlite_sequence WHERE name = 'change') FROM store")
    guard try statement.step() else { return CommitMark(store: Identifier(high: 0, low: 0), rev: .zero) }
    return CommitMark(store: statement.identifier(0), rev: statement.rev(1))
  }

  /// Compares the mark with the change log.
  ///
  /// - Returns: the last change according to the mark, and the last one in the store; nil if none is missing.
  func missingChanges(_ mark: CommitMark? = nil) throws -> (committed: Rev, present: Rev)? {
    guard let mark = mark ?? location.commitMark() else { return nil }
    let current = try currentMark()
    return mark.store == current.store && mark.rev > current.rev ? (mark.rev, current.rev) : nil
  }

  /// Refuses a store whose change log ends before the mark.
  ///
  /// - Throws: `store_damaged` if commits are missing.
  package func refuseMissingChanges(_ mark: CommitMark? = nil) throws {
    guard let missing = try missingChanges(mark) else { return }
    throw DMError(
      .storeDamaged,
      "the changes \(missing.present + 1) to \(missing.committed) of the store '\(location.directory)' were lost with its log; "
        + "restore a backup",
      subject: location.directory, remedy: .acceptLoss)
  }

  /// Restarts the change log after the last committed change, so that no number is assigned twice; followers and
  /// consumers get a gap.
  ///
  /// - Returns: the number of lost changes.
  package func acceptLoss() throws -> Int {
    guard let missing = try missingChanges() else { return 0 }
    try connection.execute("DELETE FROM change")
    var insert = try connection.prepare("INSERT INTO change (rev, at, kind) VALUES (?, ?, ?)")
    insert.bind(missing.committed + 1)
    insert.bind(Timestamp.now)
    insert.bind(Changes.Kind.conversation.rawValue)
    try insert.run()
    try writeDigest(of: missing.committed + 1, in: .change)
    return Int(missing.committed.number - missing.present.number)
  }

  /// Makes sure that all earlier commits are on the disk.
  ///
  /// Call it within a write transaction.
  ///
  /// A writer that was killed before its sync, or whose sync failed, leaves commits that SQLite reads from the WAL,
  /// although they may be in the page cache only. Another sync is not enough: after a failed sync Linux treats the
  /// pages as written (wiki.postgresql.org/wiki/Fsync_Errors). Therefore the contents of the WAL are read and written
  /// again.
  ///
  /// - Returns: the mark that was in the file.
  func syncCommits(under lock: borrowing FileLock) throws -> CommitMark? {
    var mark = CommitMark(try lock.read(CommitMark.length))
    if mark?.isSynced == true { return mark }
    try connection.rewriteLog()
    // Syncs the WAL's directory entry, too: a process that was killed may have created the file.
    try syncToDisk(location.directory)
    mark?.isSynced = true
    if let mark { try lock.write(mark.bytes) }
    return mark
  }

  /// Commits, and records the commit in the mark.
  ///
  /// - Parameter mark: the mark in the file now; nil if it has none.
  package func commit(_ transaction: consuming Transaction, _ mark: CommitMark?, under lock: borrowing FileLock) throws
  {
    let new = try currentMark()
    var before = mark ?? CommitMark(store: new.store, rev: .zero)
    before.isSynced = false
    try lock.write(before.bytes)
    try transaction.commit()
    // If this fails, the next writer syncs again.
    _ = try attempt { try lock.write(new.bytes) }
  }

  /// Makes sure that the state that was read is on the disk, before a program answers that there is nothing to do.
  package func confirm() throws {
    if location.commitMark()?.isSynced == false { try write {} }
  }
}
