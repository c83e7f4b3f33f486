internal import DMMedia
public import DMModel
internal import DMStore
internal import DMSystem

/// The result of a purge.
public struct Purged: Equatable, Sendable {
  /// The number of expired messages that became tombstones.
  public let expiredCount: Int
  /// The number of old changes that were removed from the log.
  public let changesCount: Int
  /// The number of attachments that were removed because they were not sent within a day.
  public let attachmentsCount: Int
  /// The number of contents of attachments that were removed.
  public let contentsCount: Int
  /// By how many bytes the store became smaller.
  public let freedBytes: Int
  /// What was not done because another process reads the store, and what to do; nil if everything was done.
  public let hindrance: String?
  /// Whether everything was done.
  public var isComplete: Bool { hindrance == nil }
  /// The time when this was done before; nil if it never was.
  public let lastUsedAt: Timestamp?
}

extension Upkeep {
  /// Removes expired messages, all traces of deleted ones, and old changes.
  ///
  /// Writers wait meanwhile. Reports keep their copies of texts. Linear in the size of the store.
  ///
  /// - Parameter timeout: the time to wait for processes that read from the log.
  /// - Throws: `no_store`, `busy`, or an error of the store.
  public func purge(timeout: Duration = .seconds(5)) throws -> Purged {
    let store = try store()
    let lastUsedAt = try lastUse(of: .purge)
    let before = location.databaseBytes + location.logBytes
    try progress("forgetting what is old")
    let due = try store.dueMessages()
    let changes = try store.pragma("SELECT count(*) FROM change")
    try buryExpired(in: store)
    let limit = Timestamp(microseconds: Timestamp.now.microseconds - Self.patienceWithContents)
    let unsent = try store.write(isBulk: true) {
      try note(.purge, in: store)
      // So many at once, until nothing is left to do.
      var left = Int64.max
      while case let count = try store.pragma("SELECT count(*) FROM change"), count < left {
        left = count
        try store.pruneChanges(now: .now)
      }
      return try store.removeUnsentAttachments(before: limit)
    }
    try removeAbandoned()
    let contents = try removeContents(of: store, before: limit)
    let expired = try due - store.dueMessages()
    let forgotten = try changes - store.pragma("SELECT count(*) FROM change")
    let isCleared = try clear(store, timeout)
    let after = location.databaseBytes + location.logBytes
    return Purged(
      expiredCount: max(0, Int(expired)), changesCount: max(0, Int(forgotten)), attachmentsCount: unsent,
      contentsCount: contents.count, freedBytes: max(0, before - after) + contents.bytes,
      hindrance: isCleared
        ? contents.isComplete ? nil : "contents of attachments are being read, and some are left; try again"
        : "somebody reads from the log, which still has old pages; try again",
      lastUsedAt: lastUsedAt)
  }

  /// Microseconds that what was prepared waits to be sent, and a content for a row that names it.
  private static let patienceWithContents: Int64 = 86_400_000_000

  /// How long contents are removed at a time: writers wait.
  private static let turn: Int64 = 20_000

  /// Removes the folders that killed processes have left, which hold texts and contents.
  private func removeAbandoned() throws {
    try WorkFolder.removeAbandoned(.attachment, in: location.contents.path)
    try WorkFolder.removeAbandoned(tracedIn: location.directory)
    // The folder around the store may be one that this user cannot list.
    _ = try attempt { try WorkFolder.removeAbandoned(.restore, in: folder(of: location.directory)) }
  }

  /// Removes contents that no row names.
  ///
  /// In turns, each under the write lock, under which a row that names some is written when they are there. Who reads
  /// contents goes by the rows of a moment that is over, so meanwhile there is none of it.
  private func removeContents(of store: Store, before time: Timestamp) throws -> (
    count: Int, bytes: Int, isComplete: Bool
  ) {
    let contents = location.contents
    var (count, bytes) = (0, 0)
    // First the number: what is committed between the two changes it.
    var version = try store.dataVersion()
    var named = Set(try store.connection.namedContents().map(\.hash))
    var left = try contents.all(before: time).filter { !named.contains($0) }
    while !left.isEmpty {
      try progress("\(left.count) contents that nothing refers to")
      let lock = try store.writeLock()
      guard let sole = FileLock(ifFree: contents.path) else { return (count, bytes, false) }
      try store.refuseNewer(store.version())
      if case let now = try store.dataVersion(), now != version {
        (version, named) = (now, Set(try store.connection.namedContents().map(\.hash)))
      }
      let end = stopwatch() + Self.turn
      repeat {
        let hash = left.removeLast()
        guard !named.contains(hash), let size = contents.remove(hash, before: time) else { continue }
        (count, bytes) = (count + 1, bytes + size)
      } while !left.isEmpty && stopwatch() < end
      _ = consume sole
      _ = consume lock
    }
    return (count, bytes, true)
  }

  /// Each write buries some of what has expired before it does its own.
  private func buryExpired(in store: Store) throws {
    var left = Int64.max
    while case let due = try store.dueMessages(), due > 0, due < left {
      left = due
      try progress("\(due) messages have expired")
      try store.write(isBulk: true) {}
    }
  }

  /// Writes the index, the pages and the log anew, all under one lock: between them a writer would bring old pages
  /// into the log again.
  private func clear(_ store: Store, _ timeout: Duration) throws -> Bool {
    let lock = try store.writeLock()
    try store.refuseNewer(store.version())
    try store.connection.watched(by: { [progress] in try progress("writing the store anew") }) {
      // Words of deleted messages stay in the index until its parts are made one.
      try store.connection.execute("INSERT INTO search (search) VALUES ('optimize')")
      try store.connection.execute("VACUUM")
    }
    try progress("clearing the log")
    let isEmpty = try store.connection.emptyLog(within: Int32(clamping: timeout.microseconds / 1000))
    _ = consume lock
    return isEmpty
  }
}

extension Store {
  /// How many messages have expired and still have their text.
  fileprivate func dueMessages() throws -> Int64 {
    var due = try connection.prepare("SELECT count(*) FROM message WHERE expires_at <= ? AND deleted_at IS NULL")
    due.bind(Timestamp.now)
    return try due.step() ? due.int64(0) : 0
  }

  /// Forgets what was prepared and is in no message.
  ///
  /// - Returns: how many attachments.
  fileprivate func removeUnsentAttachments(before time: Timestamp) throws -> Int {
    var delete = try connection.prepare("DELETE FROM attachment WHERE message IS NULL AND created_at < ?")
    delete.bind(time)
    try delete.run()
    return connection.changes
  }
}
