package import DMModel
internal import DMSystem

// Reads: conversation, message.
// Writes: hub, store.

/// The migrations of the schema.
///
/// A migration that was released is never changed.
package enum Migration {
  /// The number in the header of a database that marks the database as a store of dm
  /// (sqlite.org/pragma.html#pragma_application_id).
  package static let applicationID: Int64 = 0x644D_7331

  /// The version of the schema that this program writes: the number of `steps`.
  ///
  /// A number of its own, because each start compares versions, and few of them need the SQL of the steps.
  package static let version = 18

  package static let steps: [[UInt8]] = [
    PackageResources.m0001_initial_sql, PackageResources.m0002_live_sql, PackageResources.m0003_everyday_sql,
    PackageResources.m0004_attachments_sql, PackageResources.m0005_bounds_sql, PackageResources.m0006_former_sql,
    PackageResources.m0007_names_sql, PackageResources.m0008_waiting_sql, PackageResources.m0009_receipts_sql,
    PackageResources.m0010_unseen_sql, PackageResources.m0011_files_sql, PackageResources.m0012_own_state_sql,
    PackageResources.m0013_machine_sql, PackageResources.m0014_floor_sql, PackageResources.m0015_picture_sql,
    PackageResources.m0016_link_preview_sql, PackageResources.m0017_message_pin_sql,
    PackageResources.m0018_search_end_sql,
  ]

  /// The schema after all steps, generated from the steps.
  ///
  /// A new store is created from this schema, which takes a tenth of the time of the steps.
  package static let schema = PackageResources.schema_sql

  /// The SQL that creates the additional tables of a store that is linked to a hub.
  package static let linked = [
    PackageResources.linked_sql, linkedFiles, linkedOwnState, linkedMachine, linkedFloor, linkedPending,
  ]
  fileprivate static let linkedFiles = PackageResources.linked_files_sql
  fileprivate static let linkedOwnState = PackageResources.linked_own_state_sql
  fileprivate static let linkedMachine = PackageResources.linked_machine_sql
  fileprivate static let linkedFloor = PackageResources.linked_floor_sql
  fileprivate static let linkedPending = PackageResources.linked_pending_sql
  package static let linkedTables: Set = [
    "hub", "hub_person", "hub_conversation", "outbox", "waiting", "message_alias", "hub_base", "hub_unreadable",
    "hub_known", "hub_file", "hub_attachment", "hub_own_state", "hub_floor", "hub_page",
  ]
}

extension Store {
  /// Whether a database is empty or a store of dm, according to its header.
  package enum Identity: Equatable {
    /// A file without tables.
    case empty
    case version(Int)
  }

  /// Reads the header of the database.
  ///
  /// - Throws: `store_foreign`, `store_too_new`, or SQLite's error if the file is not a database.
  package func identity() throws -> Identity {
    let version = try version()
    let application = try pragma("PRAGMA application_id")
    guard application == Migration.applicationID else {
      if application == 0, version == 0, try pragma("SELECT count(*) FROM sqlite_schema") == 0 { return .empty }
      throw DMError(
        .storeForeign, "'\(location.directory)' holds another program's database",
        subject: location.directory, remedy: .nameStore)
    }
    try refuseNewer(version)
    return .version(Int(version))
  }

  package func refuseNewer(_ version: Int64) throws {
    guard version <= Migration.version else {
      throw DMError(
        .storeTooNew,
        "the store '\(location.directory)' has schema \(version) and this program knows \(Migration.version); update dm",
        subject: location.directory)
    }
  }

  /// Refuses a store with a trigger or a view.
  ///
  /// Also determines whether the store is linked to a hub.
  ///
  /// - Throws: `store_damaged`, with the name of the trigger or view.
  func refuseForeignParts() throws {
    var strays = try connection.prepare(
      "SELECT type, name FROM sqlite_schema WHERE type IN ('trigger', 'view') OR name = 'hub'")
    while try strays.step() {
      let (type, name) = (strays.text(0), strays.text(1))
      guard type != "table" else {
        isLinked = true
        continue
      }
      throw DMError(
        .storeDamaged, "the store has a \(type) '\(name)', and dm makes none", subject: name,
        remedy: .removeForeignPart("DROP \(type.uppercased()) \(quoted(name))"))
    }
  }

  /// Runs the migrations that the store lacks.
  ///
  /// The migrations run under the write lock, because many processes may start at the same time. The version of the
  /// schema is read again inside the transaction, because another process may have run the migrations in the meantime.
  ///
  /// - Returns: nil if the store was new, or if another process has run the migrations.
  func migrate() throws -> Upgrade? {
    let lock = try writeLock()
    let upgrade = try copyBeforeUpgrade()
    do {
      try runMigrations(under: lock)
    } catch {
      // Without this, each further attempt would add a copy, for example on a full disk. After an error of the commit,
      // the upgrade may be complete.
      if let copy = upgrade?.copy, case .success(let present) = Result(catching: { try version() }),
        present < Migration.version
      {
        removeFile(copy)
      }
      throw error
    }
    // Switches to WAL mode after the commit. If the database were in WAL mode before it has tables, other processes
    // that start at the same time would fail.
    try enableWAL()
    _ = consume lock
    return upgrade
  }

  private func runMigrations(under lock: borrowing FileLock) throws {
    let transaction = try connection.begin(.write)
    var done = 0
    if case .version(let version) = try identity() { done = version }
    if done < Migration.version {
      try runSteps(from: done)
      try writeDigests(since: done)
      if done < 3 { try searchIndex.rebuild() }
      if done < 9 { try members.completeFormers() }
      if isLinked { try runLinkedSteps(from: done) }
      if done > 0 { for table in DigestedTable.all { try table.store(in: connection) } }
      if done == 0 {
        try connection.execute("PRAGMA application_id = \(Migration.applicationID)")
        try insertIdentity()
      }
      try connection.execute("PRAGMA user_version = \(Migration.version)")
    }
    try commit(transaction, CommitMark(try lock.read(CommitMark.length)), under: lock)
  }

  private func runLinkedSteps(from done: Int) throws {
    if done < 11 { try connection.execute(String(decoding: Migration.linkedFiles, as: UTF8.self)) }
    if done < 12 { try connection.execute(String(decoding: Migration.linkedOwnState, as: UTF8.self)) }
    if done < 13 { try connection.execute(String(decoding: Migration.linkedMachine, as: UTF8.self)) }
    if done < 14 { try connection.execute(String(decoding: Migration.linkedFloor, as: UTF8.self)) }
    if done < 17 { try connection.execute(String(decoding: Migration.linkedPending, as: UTF8.self)) }
    // The profiles are read again, because earlier versions ignored the pictures in them.
    if done < 15 { try connection.execute("UPDATE hub SET people_rev = 0") }
  }

  /// Switches the database to WAL mode permanently.
  ///
  /// A reader may prevent the switch. In this case the next writer tries again.
  func enableWAL() throws {
    do {
      try connection.execute("PRAGMA journal_mode = WAL")
    } catch  where error.code == .busy {
      return
    }
  }

  private func runSteps(from done: Int) throws {
    let steps = done == 0 ? [Migration.schema] : Array(Migration.steps.dropFirst(done))
    for step in steps { try connection.execute(String(decoding: step, as: UTF8.self)) }
  }

  private func insertIdentity() throws {
    var insert = try connection.prepare("INSERT INTO store (uuid) VALUES (?)")
    insert.bind(Identifier(at: .now))
    try insert.run()
    try DigestedTable.identity.store(in: connection)
  }

  /// Runs `body` on a new store in memory, and then discards the store.
  package static func rehearse(_ location: StoreLocation, _ body: (Store) throws -> Void) throws {
    let store = try Store(location, database: ":memory:")
    try store.runSteps(from: 0)
    try store.insertIdentity()
    try body(store)
  }

  /// Writes the digests of rows that come from an older schema and so have no digest.
  package func writeDigests(since schema: Int) throws {
    if schema < 3 { try DigestedRows.message.writeDigests(.all, on: connection) }
    if schema < 5 { for table in [DigestedRows.change, .consumer] { try table.writeDigests(.all, on: connection) } }
  }

  package func version() throws -> Int64 { try pragma("PRAGMA user_version") }

  /// The number of conversations and the number of messages.
  ///
  /// Linear in both numbers.
  package func counts() throws -> (conversations: Int, messages: Int) {
    (Int(try pragma("SELECT count(*) FROM conversation")), Int(try pragma("SELECT count(*) FROM message")))
  }

  package func pragma(_ sql: StaticString) throws -> Int64 {
    var statement = try connection.prepare(sql)
    return try statement.step() ? statement.int64(0) : 0
  }
}
