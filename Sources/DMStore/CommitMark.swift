internal import DMModel
package import DMSystem

// Reads: store.
// Writes: change.

/// The last commit, recorded in the file `store.lock`.
///
/// If the WAL is lost, the mark shows that commits are missing.
///
/// The mark is written before and after each commit, and is never synced. After a power loss, the file may have an
/// older mark, with a lower `rev`, or a mark with `isSynced` false. In the second case the next writer writes the WAL
/// again.
package struct CommitMark: Equatable {
  /// Whether all commits are certainly on the disk.
  ///
  /// A writer sets the value to false before a commit, and to true after the commit has returned. The value stays false
  /// if the writer is killed or its sync fails.
  var isSynced: Bool
  /// The id of the store, to notice that another database was moved into the folder.
  var store: Identifier
  /// The number of the last committed change.
  var rev: Rev

  /// The length of a mark in bytes.
  static let length = 64
  private static let (synced, unsynced) = ("synced", "commit")

  init(isSynced: Bool = true, store: Identifier, rev: Rev) {
    (self.isSynced, self.store, self.rev) = (isSynced, store, rev)
  }

  /// Parses a mark; nil if the bytes are not a mark, as in the empty file of older versions.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.length, bytes.last == UInt8(ascii: "\n") else { return nil }
    let words = bytes.dropLast().split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
    guard words.count == 3, [Self.synced, Self.unsynced].contains(words[0]), let store = Identifier(words[1]),
      let number = Int64(words[2]), number >= 0
    else { return nil }
    self.init(isSynced: words[0] == Self.synced, store: store, rev: Rev(number: number))
  }

  /// The mark as one line: `synced`, or `commit` if it is not synced; the store's id; and the number of the change in
  /// 19 digits.
  var bytes: [UInt8] {
    let digits = String(rev.number)
    let zeros = String(repeating: "0", count: 19 - digits.utf8.count)
    return Array("\(isSynced ? Self.synced : Self.unsynced) \(store) \(zeros)\(digits)\n".utf8)
  }
}

extension StoreLocation {
  /// Reads the mark.
  ///
  /// Does not wait for a writer. Returns nil if there is no mark, or if the file cannot be read.
  func commitMark() -> CommitMark? { readFile(lock, limit: CommitMark.length).flatMap(CommitMark.init) }

  /// Whether the store has ever had tables: true if its mark has a change, or if the file `bell` exists, because this
  /// file is created after the tables.
  private var wasUsed: Bool { commitMark().map { $0.rev > .zero } ?? false || fileExists(bell) }

  /// Refuses a store that had tables before and now has none.
  ///
  /// - Parameter isEmpty: checks again whether the store has no tables, because another process may have created them
  ///   in the meantime.
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
  /// The store's id and the number of the last change, in the current transaction.
  private func currentMark() throws -> CommitMark {
    // For a table with AUTOINCREMENT, SQLite stores the largest number that it ever assigned (sqlite.org/autoinc.html).
    var statement = try connection.prepare(
      "SELECT uuid, (SELECT seq FROM sqlite_sequence WHERE name = 'change') FROM store")
    guard try statement.step() else { return CommitMark(store: Identifier(high: 0, low: 0), rev: .zero) }
    return CommitMark(store: statement.identifier(0), rev: statement.rev(1))
  }

  /// Compares the mark with the change log.
  ///
  /// - Returns: the numbers of the last change in the mark and of the last change in the store, if the first number is
  ///   higher; nil if no change is missing.
  func missingChanges(_ mark: CommitMark? = nil) throws -> (committed: Rev, present: Rev)? {
    guard let mark = mark ?? location.commitMark() else { return nil }
    let current = try currentMark()
    return mark.store == current.store && mark.rev > current.rev ? (mark.rev, current.rev) : nil
  }

  /// Refuses a store whose last change is earlier than the last change in the mark.
  ///
  /// Without `mark`, reads the mark first and the changes after it. Call this only before a transaction begins, or under
  /// the write lock: in a snapshot that is older than the mark, the last commits would seem to be lost.
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

  /// Deletes the changes in the log, and continues the log after the last change in the mark, so that no change number is
  /// assigned twice.
  ///
  /// Followers and consumers see a gap in the change numbers.
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

  /// Makes sure that all earlier commits and the directory entry of the WAL are on the disk.
  ///
  /// Call this within a write transaction.
  ///
  /// If a writer was killed before its sync, or if its sync failed, its commits may be only in the page cache. SQLite
  /// still reads such commits from the WAL. Another sync is not enough: after a failed sync, Linux treats the pages as
  /// written (wiki.postgresql.org/wiki/Fsync_Errors). Therefore this function reads the contents of the WAL and writes
  /// them again.
  ///
  /// - Returns: the mark in the file, now with `isSynced` true; nil if the file has no mark.
  func syncCommits(under lock: borrowing FileLock) throws -> CommitMark? {
    // Before the first frame of the WAL, its folder is synced, because the file may be new (`LogFiles`).
    if location.logBytes == 0 { try syncToDisk(location.directory) }
    var mark = CommitMark(try lock.read(CommitMark.length))
    if mark?.isSynced == true { return mark }
    try connection.rewriteLog()
    // Syncs the WAL's directory entry, too, because a process that was killed may have created the WAL.
    try syncToDisk(location.directory)
    mark?.isSynced = true
    if let mark { try lock.write(mark.bytes) }
    return mark
  }

  /// Commits, and records the commit in the mark.
  ///
  /// - Parameter mark: the mark that the file has now; nil if the file has none.
  package func commit(_ transaction: consuming Transaction, _ mark: CommitMark?, under lock: borrowing FileLock) throws
  {
    var new = try currentMark()
    // An upgrade also commits to a store that has lost changes. The mark must still say so afterwards.
    if let mark, mark.store == new.store { new.rev = max(new.rev, mark.rev) }
    var before = mark ?? CommitMark(store: new.store, rev: .zero)
    before.isSynced = false
    try lock.write(before.bytes)
    try transaction.commit()
    // If this write fails, the mark is not synced, and the next writer syncs the commits again.
    _ = try attempt { try lock.write(new.bytes) }
  }

  /// Makes sure that the commits that a program has read are on the disk, before the program answers that nothing needs
  /// to change.
  package func confirm() throws {
    if location.commitMark()?.isSynced == false { try write {} }
  }
}
