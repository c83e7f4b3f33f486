package import DMModel
internal import DMStore
internal import DMSystem

/// The size of a store, its numbers of rows, and its consumers.
package struct Statistics: Sendable {
  /// A consumer, and the number of messages of others that it has not acknowledged.
  package struct Consumer: Sendable {
    package let user: Handle
    package let name: String
    package let behindCount: Int
    package let usedAt: Timestamp
    /// A warning about the consumer's position; nil if there is none.
    package let warning: DMModel.Consumer.Warning?
  }

  package let storeID: Identifier
  package let schema: Int
  package let sqliteVersion: String
  /// Whether this version of SQLite can lose commits if programs write without taking the write lock.
  package let hasLogResetFault: Bool
  package let databaseBytes: Int
  package let logBytes: Int
  /// The unused bytes of the database file, which a purge frees.
  package let freeBytes: Int
  /// The number of content files of attachments, sent or not.
  package let contentsCount: Int
  package let contentsBytes: Int
  /// The copies of conversations that were made after the hub was restored from an older backup.
  package let copies: [Copy]
  /// The number of rows of each table.
  package let rows: [(table: String, count: Int)]
  package let oldestChangeAt: Timestamp?
  package let consumers: [Consumer]
  package let upkeep: [Upkeep.Use]
}

extension Upkeep {
  package func statistics() throws -> Statistics {
    let store = try store()
    let contents = try location.contents.all.compactMap(location.contents.size)
    let statistics = try store.read {
      Statistics(
        storeID: try store.uuid(), schema: Int(try store.version()), sqliteVersion: Connection.libraryVersion,
        hasLogResetFault: Connection.hasLogResetFault(), databaseBytes: location.databaseBytes,
        logBytes: location.logBytes,
        freeBytes: Int(try store.pragma("PRAGMA freelist_count") * store.pragma("PRAGMA page_size")),
        contentsCount: contents.count, contentsBytes: contents.reduce(0, +), copies: try copies(store),
        rows: try store.dumpedTables().map { ($0.name, try store.rowCount(of: $0.name)) },
        oldestChangeAt: try store.oldestChange(), consumers: try store.consumerStatistics(), upkeep: try uses())
    }
    try note(.stats)
    return statistics
  }
}

extension Store {
  fileprivate func rowCount(of table: String) throws -> Int {
    var count = try connection.prepare(text: "SELECT count(*) FROM \(quoted(table))")
    return try count.step() ? count.int(0) : 0
  }

  fileprivate func oldestChange() throws -> Timestamp? {
    var oldest = try connection.prepare("SELECT at FROM change ORDER BY rev LIMIT 1")
    return try oldest.step() ? oldest.timestamp(0) : nil
  }

  fileprivate func consumerStatistics() throws -> [Statistics.Consumer] {
    var users: [UserKey] = []
    do {
      var rows = try connection.prepare("SELECT DISTINCT user FROM consumer ORDER BY user")
      while try rows.step() { users.append(rows.userKey(0)) }
    }
    return try users.flatMap { user in
      let viewer = Viewer(self, user)
      return try consumers.all(of: user).map { row in
        let behind = try consumers.messagesOfOthers(
          after: row.position.rev, conversations: row.conversations, as: viewer)
        return Statistics.Consumer(
          user: try self.users.handle(user), name: row.name, behindCount: behind.reduce(0) { $0 + $1.count },
          usedAt: row.usedAt,
          warning: try warning(of: row))
      }
    }
  }

  private func warning(of consumer: Consumers.Row) throws -> DMModel.Consumer.Warning? {
    guard let logged = try changes.range() else { return nil }
    if Changes.isForgotten(after: consumer.position.rev, of: logged) { return .gap }
    var next = try connection.prepare("SELECT at FROM change WHERE rev > ? ORDER BY rev LIMIT 1")
    next.bind(consumer.position.rev)
    guard try next.step() else { return nil }
    return next.timestamp(0).microseconds < Timestamp.now.microseconds - Changes.changeLifetime ? .late : nil
  }
}
