internal import DMModel
package import DMSystem

// Reads: store.
// Writes: change.

/// What `store.lock` says about the last commit, so that what the log lost is noticed.
///
/// It is written before and after each commit and never synced: a power loss leaves an older one, whose `rev` is lower
/// and so claims less, or one that is not synced, which costs the next writer one look at the log.
package struct CommitMark: Equatable {
  /// Whether all commits are known to be on the disk.
  ///
  /// False from before a commit until it has returned, and so after a writer that was killed or whose sync failed.
  var isSynced: Bool
  /// The store's id: another database may have been put into the folder.
  var store: Identifier
  /// The last change that was committed.
  var rev: Rev

  /// The bytes of one.
  static let length = 64
  private static let (synced, unsynced) = ("synced", "commit")

  init(isSynced: Bool = true, store: Identifier, rev: Rev) {
    (self.isSynced, self.store, self.rev) = (isSynced, store, rev)
  }

  /// Nil of anything else, such as the empty file that older versions leave.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.length, bytes.last == UInt8(ascii: "\n") else { return nil }
    let words = bytes.dropLast().split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
    guard words.count == 3, [Self.synced, Self.unsynced].contains(words[0]), let store = Identifier(words[1]),
      let number = Int64(words[2]), number >= 0
    else { return nil }
    self.init(isSynced: words[0] == Self.synced, store: store, rev: Rev(number: number))
  }

  /// A line: `synced`, or `commit` while it is not; the id; the change in 19 digits.
  var bytes: [UInt8] {
    let digits = String(rev.number)
    let zeros = String(repeating: "0", count: 19 - digits.utf8.count)
    return Array("\(isSynced ? Self.synced : Self.unsynced) \(store) \(zeros)\(digits)\n".utf8)
  }
}

extension StoreLocation {
  /// The mark as it is now, without waiting for a writer; nil when there is none, or it cannot be read.
  func commitMark() -> CommitMark? { readFile(lock, limit: CommitMark.length).flatMap(CommitMark.init) }

  /// Whether something was committed here: only then is there a mark with a change, or a bell.
  private var wasUsed: Bool { commitMark().map { $0.rev > .zero } ?? false || fileExists(bell) }

  /// - Parameter isEmpty: looks again, because another process may have made the tables meanwhile.
  /// - Throws: `store_damaged` for a store that was used and has no tables, or no database, any more.
  func refuseEmptied(_ isEmpty: () throws -> Bool) throws {
    guard wasUsed, try isEmpty() else { return }
    throw DMError(
      .storeDamaged,
      "the store '\(directory)' was used and is empty: its database or its log was lost; restore a backup to another folder",
      subject: directory)
  }
}

extension Store {
  /// The id of the store and its last change, as they are in the transaction under way.
  private func currentMark() throws -> CommitMark {
    // AUTOINCREMENT keeps the largest number that was ever given (sqlite.org/autoinc.html).
    var statement = try connection.prepare(
      "SELECT uuid, (SELECT seq FROM sqlite_sequence WHERE name = 'change') FROM store")
    guard try statement.step() else { return CommitMark(store: Identifier(high: 0, low: 0), rev: .zero) }
    return CommitMark(store: statement.identifier(0), rev: statement.rev(1))
  }

  /// What the mark says that the store does not have.
  ///
  /// - Returns: the last change that was committed and the last that is there; nil when none is missing.
  func missingChanges(_ mark: CommitMark? = nil) throws -> (committed: Rev, present: Rev)? {
    guard let mark = mark ?? location.commitMark() else { return nil }
    let current = try currentMark()
    return mark.store == current.store && mark.rev > current.rev ? (mark.rev, current.rev) : nil
  }

  /// - Throws: `store_damaged` when commits are missing.
  package func refuseMissingChanges(_ mark: CommitMark? = nil) throws {
    guard let missing = try missingChanges(mark) else { return }
    throw DMError(
      .storeDamaged,
      "the changes \(missing.present + 1) to \(missing.committed) of the store '\(location.directory)' were lost with its log; "
        + "restore a backup",
      subject: location.directory, remedy: .acceptLoss)
  }

  /// Starts the change log anew after the last change that was committed, so that no number is given twice and that followers
  /// and consumers get a gap.
  ///
  /// - Returns: how many changes were lost.
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

  /// Has everything that others committed on the disk, within a write transaction.
  ///
  /// A writer that was killed before its sync, or whose sync failed, leaves commits that SQLite takes from the log, and that
  /// only the page cache may have. Syncing is not enough then: after a failed sync Linux takes the pages for written
  /// (wiki.postgresql.org/wiki/Fsync_Errors), so the log is written again, as it reads.
  ///
  /// - Returns: the mark that was found.
  func syncCommits(under lock: borrowing FileLock) throws -> CommitMark? {
    var mark = CommitMark(try lock.read(CommitMark.length))
    if mark?.isSynced == true { return mark }
    try connection.rewriteLog()
    // The log's name, too: it may have been made by a process that was killed.
    try syncToDisk(location.directory)
    mark?.isSynced = true
    if let mark { try lock.write(mark.bytes) }
    return mark
  }

  /// Commits, and has the mark say so.
  ///
  /// - Parameter mark: what the file says now; nil when it holds none.
  package func commit(_ transaction: consuming Transaction, _ mark: CommitMark?, under lock: borrowing FileLock) throws
  {
    let new = try currentMark()
    var before = mark ?? CommitMark(store: new.store, rev: .zero)
    before.isSynced = false
    try lock.write(before.bytes)
    try transaction.commit()
    // Where this fails, the next writer syncs once more.
    _ = try attempt { try lock.write(new.bytes) }
  }

  /// Has what was read on the disk, before a program answers that nothing is left to do.
  package func confirm() throws {
    if location.commitMark()?.isSynced == false { try write {} }
  }
}
