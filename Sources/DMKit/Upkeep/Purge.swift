/// What a purge did.
public struct Purged: Equatable, Sendable {
  /// Messages that had expired and of which only tombstones are left now.
  public let expiredCount: Int
  /// Changes that were old enough to be forgotten.
  public let changesCount: Int
  public let freedBytes: Int
  /// Whether the log was cleared too; somebody who reads keeps it from that.
  public let isComplete: Bool
  public let lastUsedAt: Timestamp?
}

extension Upkeep {
  /// Removes what has expired and every trace of what was deleted, and forgets old changes.
  ///
  /// Writers wait meanwhile. What was reported keeps its copy of the text.
  ///
  /// - Parameter patience: milliseconds to wait for those who read from the log.
  public func purge(patience: Int = 5000) throws -> Purged {
    let store = try store()
    let lastUsedAt = try lastUse(of: .purge)
    let before = location.databaseBytes + location.logBytes
    try progress("forgetting what is old")
    let due = try store.dueMessages()
    let changes = try store.pragma("SELECT count(*) FROM change")
    try buryExpired(in: store)
    try store.write(isBulk: true) {
      try note(.purge, in: store)
      // So many at once, until nothing is left to do.
      var left = Int64.max
      while case let count = try store.pragma("SELECT count(*) FROM change"), count < left {
        left = count
        try store.pruneChanges(now: .now)
      }
    }
    let expired = try due - store.dueMessages()
    let forgotten = try changes - store.pragma("SELECT count(*) FROM change")
    let isComplete = try clear(store, patience)
    let after = location.databaseBytes + location.logBytes
    return Purged(
      expiredCount: max(0, Int(expired)), changesCount: max(0, Int(forgotten)), freedBytes: max(0, before - after),
      isComplete: isComplete, lastUsedAt: lastUsedAt)
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
  private func clear(_ store: Store, _ patience: Int) throws -> Bool {
    let lock = try store.writeLock(patience: Store.patience)
    try store.refuseNewer(store.version())
    try store.connection.watched(by: { [progress] in try progress("writing the store anew") }) {
      // Words of deleted messages stay in the index until its parts are made one.
      try store.connection.execute("INSERT INTO search (search) VALUES ('optimize')")
      try store.connection.execute("VACUUM")
    }
    try progress("clearing the log")
    let isEmpty = try store.connection.emptyLog(within: Int32(clamping: patience))
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
}
