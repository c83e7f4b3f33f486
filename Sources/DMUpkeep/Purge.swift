package import DMModel
internal import DMStore
internal import DMSystem

/// The result of a purge.
package struct Purged: Equatable, Sendable {
  /// The number of expired messages that became tombstones.
  package let expiredCount: Int
  /// The number of changes removed from the change log because of their age.
  package let changesCount: Int
  /// The number of removed attachments, which were prepared more than a day ago and never sent.
  package let attachmentsCount: Int
  /// The number of removed content files, to which no row refers.
  package let contentsCount: Int
  /// The number of removed copies, of conversations and of the database, which were more than 30 days old.
  package let copiesCount: Int
  /// By how many bytes the store became smaller.
  package let freedBytes: Int
  /// Why something could not be removed, and what to do; nil if all was removed.
  package let obstacle: String?
  /// Whether everything was done.
  package var isComplete: Bool { obstacle == nil }
  /// The time of the previous purge; nil if there was none.
  package let lastUsedAt: Timestamp?
}

extension Upkeep {
  /// Removes expired messages, all remains of deleted messages, old changes, and files that are not used.
  ///
  /// Other processes cannot write during a step that writes. Reports keep their copies of the text.
  ///
  /// The last step rewrites the store, and needs as much free space as the store takes. With less space, this step fails
  /// after the other steps are done; with less than 256 KiB, the purge does not start.
  ///
  /// - Parameter timeout: the time to wait for processes that read from the WAL.
  /// - Throws: `no_store`, `busy`, `io_error` with the space that is needed, or an error of the store.
  package func purge(timeout: Duration = .seconds(5)) throws -> Purged {
    let store = try store()
    if !hasRoom(for: Self.leastRoom) { throw try lackOfRoom(neededBytes(store)) }
    let lastUsedAt = try lastUse(of: .purge)
    let before = location.databaseBytes + location.logBytes
    try progress("forgetting what is old")
    let due = try store.dueMessages()
    let changes = try store.pragma("SELECT count(*) FROM change")
    try deleteExpired(in: store)
    let limit = Self.time(ago: Self.minimumContentAge)
    let unsent = try store.write(isBulk: true) {
      try note(.purge, in: store)
      // Each call removes a limited number of changes.
      var left = Int64.max
      while case let count = try store.pragma("SELECT count(*) FROM change"), count < left {
        left = count
        try store.changes.prune(now: .now)
      }
      let count = try store.removeUnsentAttachments(before: limit)
      try store.pictures.deleteUnused()
      if store.isLinked { try store.hubFiles.deleteUnused() }
      return count
    }
    try removeAbandoned()
    let vectors = try store.vectors.removeAll(before: Self.time(ago: Self.vectorAge))
    let (contents, copies) = (try removeContents(of: store, before: limit), try removeOldCopies())
    let expired = try due - store.dueMessages()
    let forgotten = try changes - store.pragma("SELECT count(*) FROM change")
    let isCleared = try clear(store, timeout)
    let after = location.databaseBytes + location.logBytes
    return Purged(
      expiredCount: max(0, Int(expired)), changesCount: max(0, Int(forgotten)), attachmentsCount: unsent,
      contentsCount: contents.count, copiesCount: copies.count,
      freedBytes: max(0, before - after) + contents.bytes + copies.bytes + vectors,
      obstacle: isCleared
        ? contents.isComplete ? nil : "contents of attachments are being read, and some are left; try again"
        : "the write-ahead log may still have deleted texts, because another process reads the store; "
          + "try again when that process has ended",
      lastUsedAt: lastUsedAt)
  }

  /// Microseconds after which an unsent attachment, or a content without a row, is removed.
  private static let minimumContentAge: Int64 = 86_400_000_000

  private static func time(ago age: Int64) -> Timestamp { Timestamp(microseconds: Timestamp.now.microseconds - age) }

  /// With fewer free bytes, a purge does not start.
  private static let leastRoom = 256 * 1024

  private func hasRoom(for count: Int) -> Bool { freeBytes(location.directory).map { $0 >= count } ?? true }

  /// The bytes of the database without its unused pages.
  private func neededBytes(_ store: Store) throws -> Int {
    Int(
      try store.pragma("PRAGMA page_size") * (store.pragma("PRAGMA page_count") - store.pragma("PRAGMA freelist_count"))
    )
  }

  private func lackOfRoom(_ needed: Int) -> DMError {
    func kibibytes(_ count: Int) -> Int { (count + 1023) / 1024 }
    return DMError(
      .inputOutput,
      "the store is written anew, which takes \(kibibytes(needed)) KiB of free space beside it and as much "
        + "for temporary files, and \(kibibytes(freeBytes(location.directory) ?? 0)) KiB are free; free some, or back the store "
        + "up to another disk and restore it there", subject: location.directory)
  }

  /// Microseconds for which a content that was fetched in part is kept: a week.
  private static let partialAge: Int64 = 7 * 86_400_000_000

  /// Microseconds for which a file of vectors is kept that nobody writes to: 30 days.
  private static let vectorAge: Int64 = 30 * 86_400_000_000

  /// Microseconds for which the write lock is held at a time.
  private static let turn: Int64 = 20_000

  /// Removes the temporary folders of killed processes, because these folders contain texts and contents.
  private func removeAbandoned() throws {
    try WorkFolder.removeAbandoned(.attachment, in: location.contents.path)
    try location.contents.removePartials(before: Self.time(ago: Self.partialAge))
    try WorkFolder.removeAbandoned(tracedIn: location.directory)
    // This user may be unable to list the folder around the store.
    _ = try attempt { try WorkFolder.removeAbandoned(.restore, in: folder(of: location.directory)) }
  }

  /// Removes contents that no row refers to.
  ///
  /// The contents are removed in short turns. Each turn takes the write lock, so that no process adds a row for a
  /// content that the turn removes. Each turn also takes the folder's lock exclusively, because dumps and backups share
  /// this lock while they read contents of an earlier snapshot.
  private func removeContents(of store: Store, before time: Timestamp) throws -> (
    count: Int, bytes: Int, isComplete: Bool
  ) {
    let contents = location.contents
    var (count, bytes) = (0, 0)
    // The version is read before the rows, so that a commit between the two is noticed below.
    var version = try store.dataVersion()
    var named = Set(try store.connection.namedContents().map(\.hash))
    var left = try contents.all(before: time).filter { !named.contains($0) }
    var remains = try contents.remains
    while !left.isEmpty || !remains.isEmpty {
      try progress("\(left.count) contents that nothing refers to")
      let lock = try store.writeLock()
      guard let sole = FileLock(ifFree: contents.path) else { return (count, bytes, false) }
      try store.refuseNewer(store.version())
      if case let now = try store.dataVersion(), now != version {
        (version, named) = (now, Set(try store.connection.namedContents().map(\.hash)))
      }
      // Only under the locks, because another purge may be about to give a newer file its name back.
      while let path = remains.popLast() { removeFile(path) }
      let end = monotonicMicroseconds() + Self.turn
      while let hash = left.popLast() {
        if !named.contains(hash), let size = try contents.remove(hash, before: time) {
          (count, bytes) = (count + 1, bytes + size)
        }
        if monotonicMicroseconds() >= end { break }
      }
      _ = consume sole
      _ = consume lock
    }
    return (count, bytes, true)
  }

  /// Makes tombstones of all expired messages with empty writes: each write begins by making a limited number of
  /// tombstones.
  private func deleteExpired(in store: Store) throws {
    var left = Int64.max
    while case let due = try store.dueMessages(), due > 0, due < left {
      left = due
      try progress("\(due) messages have expired")
      try store.write(isBulk: true) {}
    }
  }

  /// Optimizes the search index, rewrites the database and empties the WAL under one lock: a writer in between would
  /// put old pages into the WAL again.
  private func clear(_ store: Store, _ timeout: Duration) throws -> Bool {
    let needed = try neededBytes(store)
    if !hasRoom(for: needed) { throw lackOfRoom(needed) }
    let lock = try store.writeLock()
    try store.refuseNewer(store.version())
    try store.connection.watched(by: { [progress] in try progress("writing the store anew") }) {
      try store.searchIndex.optimize()
      try store.connection.execute("VACUUM")
    }
    try progress("clearing the log")
    let isEmpty = try store.connection.truncateWAL(within: Int32(clamping: timeout.microseconds / 1000))
    _ = consume lock
    return isEmpty
  }
}

extension Store {
  /// The number of messages that have expired and are not yet tombstones.
  fileprivate func dueMessages() throws -> Int64 {
    var due = try connection.prepare("SELECT count(*) FROM message WHERE expires_at <= ? AND deleted_at IS NULL")
    due.bind(clock)
    return try due.step() ? due.int64(0) : 0
  }

  /// Removes attachments that were prepared before a time and belong to no message.
  ///
  /// - Returns: their number.
  fileprivate func removeUnsentAttachments(before time: Timestamp) throws -> Int {
    if isLinked { try hubAttachments.removeUnsent(before: time) }
    let waiting = isLinked ? "AND id NOT IN (SELECT attachment FROM hub_attachment)" : ""
    var delete = try connection.prepare(
      text: "DELETE FROM attachment WHERE message IS NULL AND created_at < ? \(waiting)")
    delete.bind(time)
    try delete.run()
    return connection.changes
  }
}
