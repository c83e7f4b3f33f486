package import DMModel
package import DMSystem

// Reads: hub, store.

/// One open store: its connection, its transactions, and the steps that every write needs.
///
/// A store is not Sendable, because its connection stays on one thread.
package final class Store {
  package let location: StoreLocation
  package let connection: Connection
  private var isReady = false
  private var hasWritten = false
  /// Collects the changes of table digests; nil until the first write.
  private var rowChanges: RowChanges?

  // Caches of values that hardly ever change, so that a printed line costs no query.
  var handles = KeyTable<Handle>()
  var conversationIDs = KeyTable<Identifier>()

  /// Random numbers for the ids of messages.
  var random = BufferedRandom()

  /// The identity of the open file, to notice that the file was removed or replaced; nil for a store in memory.
  private let file: FileIdentity?

  /// The number of commits of this connection so far.
  package private(set) var writeCount = 0

  /// The range of the changes that the current write transaction has logged; nil if it has logged none.
  var logged: ClosedRange<Rev>?

  /// The end of the search index; nil outside a write transaction, and until the transaction reads it.
  var searchEnd: MessageKey?

  /// Whether the current write transaction has queued something for the sync process.
  var rings = false

  /// Whether a write has changed something that the sync process must push for the user's other machines.
  package var hasOwnChanges = false

  /// Whether changes are logged; false while history is added, because followers do not report history.
  package private(set) var logsChanges = true

  /// Whether the store is linked to a hub, and so has a copy of the data that one person sees on the hub.
  ///
  /// A linked store stays linked. The value was read when the store was opened or last written to.
  package internal(set) var isLinked = false
  /// Microseconds by which the hub's clock is ahead of this machine's clock.
  private var clockOffset: Int64 = 0
  /// The present time by the hub's clock, which decides when messages expire: a fast clock of this machine would delete
  /// messages too early, and a deletion cannot be undone.
  package var clock: Timestamp { Timestamp(microseconds: Timestamp.now.microseconds + clockOffset) }
  /// The version of the schema when `lookForHub()` last read it (sqlite.org/pragma.html#pragma_schema_version).
  private var seenSchema: Int64?

  /// The number of WAL pages above which a write checkpoints: `loneWALPages` for the first write of a connection,
  /// `bulkWALPages` for a bulk write or a later write.
  private static let loneWALPages = 100
  private static let bulkWALPages = 1024

  package init(_ location: StoreLocation, database path: String? = nil) throws {
    self.location = location
    file = path == nil ? location.file() : nil
    connection = try Connection(path: path ?? location.database, busyTimeout: location.busyTimeout)
  }

  deinit {
    // Checkpoints the pages that bulk writes have left in the WAL, so that the next process need not read a long WAL.
    // If the checkpoint is not possible now, nothing is lost.
    guard connection.hasWAL(over: Self.loneWALPages), let lock = FileLock(ifFree: location.lock) else { return }
    connection.checkpoint(ifOver: Self.loneWALPages, emptying: true)
    _ = consume lock
  }

  /// Opens a store for reading; nil if the store does not exist or has no tables yet.
  ///
  /// - Parameters:
  ///   - refusesForeignParts: whether triggers and views are refused. dm does not create any, and its connections do not
  ///     run them.
  ///   - onUpgrade: called after an upgrade of the schema, with a clause that says so to the user.
  package static func open(
    _ location: StoreLocation, refusesForeignParts: Bool = true, onUpgrade: ((String) -> Void)? = nil
  ) throws -> Store? {
    guard try location.state() == .present else { return nil }
    let store = try Store(location)
    // In one snapshot, because another process may be creating the tables now.
    let found: Int? = try store.read {
      guard case .version(let version) = try store.identity() else { return nil }
      if refusesForeignParts { try store.refuseForeignParts() } else { try store.lookForHub() }
      return version
    }
    guard let version = found else {
      try location.refuseEmptied { try store.read(store.identity) == .empty }
      return nil
    }
    // The first process that opens a store with an older schema migrates it, even if the process only reads.
    if version < Migration.version, let upgrade = try store.migrate() { onUpgrade?(upgrade.notice) }
    if store.isLinked { try store.readClock() }
    return store
  }

  /// Opens a store, and creates the store or its tables if they do not exist.
  package static func create(_ location: StoreLocation, onUpgrade: ((String) -> Void)? = nil) throws -> Store {
    if let store = try open(location, onUpgrade: onUpgrade) { return store }
    try location.refuseUnfit()
    try location.create()
    let store = try Store(location)
    _ = try store.migrate()
    return store
  }

  /// Runs `body` on one snapshot of the store.
  ///
  /// `body` must not write to a stream, because SQLite cannot reuse the WAL while `body` waits for the reader of the
  /// stream (sqlite.org/wal.html, section 6).
  ///
  /// - Throws: the errors of `refuseReplaced()`.
  package func read<T>(_ body: () throws -> T) throws -> T {
    try refuseReplaced()
    let transaction = try connection.begin(.read)
    let result = try body()
    try transaction.commit()
    return result
  }

  /// Runs `body`, which is part of a write, with or without logging its changes.
  package func logging<T>(_ logs: Bool, _ body: () throws -> T) rethrows -> T {
    let before = logsChanges
    logsChanges = logs
    defer { logsChanges = before }
    return try body()
  }

  /// Runs `body` as the only writer, and returns when its changes are durable.
  ///
  /// Earlier commits of other processes are made durable before `body` reads them, so a program may rely on what `body`
  /// reads.
  ///
  /// The first process that opens a store reads its whole WAL. Therefore the first write of a connection leaves a short
  /// WAL. A bulk write, or a later write, checkpoints the WAL only if it has more than 4 MiB.
  ///
  /// - Parameters:
  ///   - timeout: how long to wait for the lock; nil for the timeout of the location.
  ///   - acceptsLoss: whether to continue although commits are missing from the store.
  /// - Throws: the errors of `refuseReplaced()`, also if the store was replaced during the write, because other
  ///   processes would not see the changes.
  package func write<T>(
    isBulk: Bool = false, timeout: Duration? = nil, acceptsLoss: Bool = false, _ body: () throws -> T
  ) throws -> T {
    try refuseClock()
    let lock = try writeLock(timeout: timeout)
    if !isReady { try prepareToWrite() }
    let transaction = try connection.begin(.write)
    var isCommitted = false
    // Empties the caches after a rollback, because SQLite then assigns the same keys to other rows.
    defer {
      searchEnd = nil
      if !isCommitted { (handles, conversationIDs) = (KeyTable(), KeyTable()) }
    }
    try refuseNewer(version())
    let mark = try syncCommits(under: lock)
    if !hasWritten, !acceptsLoss { try refuseMissingChanges(mark) }
    if !isLinked { try lookForHub() }
    logged = nil
    rings = false
    rowChanges?.reset()
    if isLinked { try readClock() }
    try messages.deleteExpired(now: clock)
    let result = try body()
    if let logged { try changes.prune(after: logged) }
    if let rowChanges { try unreadFlags.correct(rowChanges) }
    try rowChanges?.write(to: connection)
    try commit(transaction, mark, under: lock)
    isCommitted = true
    try refuseReplaced()
    writeCount += 1
    // Wakes followers only after the commit. A follower that was woken earlier would not see the changes, and would not
    // be woken again.
    if logged != nil || rings { SignalFile.touch(location.bell) }
    // After the first write, a long WAL is checkpointed when the connection is closed.
    let isLone = !isBulk && !hasWritten
    hasWritten = true
    connection.checkpoint(ifOver: isLone ? Self.loneWALPages : Self.bulkWALPages, emptying: isLone)
    _ = consume lock
    return result
  }

  private func prepareToWrite() throws {
    // The process that created the store may have been killed before it switched to WAL mode.
    try enableWAL()
    // SQLite's default cache of 2 MB is too small for the pages that a thousand messages change.
    try connection.execute(
      """
      PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 8388608;
      PRAGMA secure_delete = ON; PRAGMA cache_size = -16384
      """)
    rowChanges = RowChanges(of: DigestedTable.all, on: connection)
    isReady = true
  }

  /// Acquires the lock of the store, which every writer needs.
  ///
  /// - Throws: `busy`; the errors of `refuseReplaced()`, because the folder of a replaced store has another store's lock.
  package func writeLock(timeout: Duration? = nil) throws -> FileLock {
    // This check comes before the lock, because acquiring the lock would create a lock file in the new folder.
    try refuseReplaced()
    let milliseconds = Int((timeout ?? location.busyTimeout).microseconds / 1000)
    let lock = try FileLock(
      path: location.lock, milliseconds: milliseconds,
      busy: DMError(
        .busy, "another process has been writing for \(milliseconds / 1000) s; try again", remedy: .waitLonger))
    try refuseReplaced()
    return lock
  }

  /// Determines whether another process has linked the store since this process opened it.
  private func lookForHub() throws {
    let schema = try pragma("PRAGMA schema_version")
    if schema == seenSchema { return }
    seenSchema = schema
    isLinked = try pragma("SELECT count(*) FROM sqlite_schema WHERE name = 'hub'") > 0
  }

  /// Refuses to write if the clock shows the year 9998 or later.
  ///
  /// The time at which a message expires may be a year later, and a year may have only four digits (RFC 3339, section
  /// 5.6).
  ///
  /// - Throws: `bad_time`.
  private func refuseClock() throws {
    guard clock.microseconds >= 253_339_228_800_000_000 else { return }
    throw DMError(.badTime, "the clock of this machine is at \(clock), which cannot be right; set it")
  }

  private func readClock() throws { clockOffset = try pragma("SELECT coalesce(max(clock_offset), 0) FROM hub") }

  /// The store's id.
  ///
  /// A cursor contains this id, and is valid only in the store with this id. A store that was restored from a backup
  /// has another id.
  package func uuid() throws -> Identifier {
    var statement = try connection.prepare("SELECT uuid FROM store")
    return try statement.step() ? statement.identifier(0) : Identifier(high: 0, low: 0)
  }

  /// A number that changes when another connection commits (sqlite.org/pragma.html#pragma_data_version).
  package func dataVersion() throws -> Int64 { try pragma("PRAGMA data_version") }

  /// Refuses to continue if the database file was removed or replaced.
  ///
  /// - Throws: `no_store` if the store was removed, `store_replaced` if another store is in its folder.
  package func refuseReplaced() throws {
    guard let file else { return }
    guard let now = location.file() else {
      throw DMError(
        .noStore, "the store at '\(location.directory)' was removed; start again when it is back",
        subject: location.directory)
    }
    guard now == file else { throw replaced }
  }

  /// Refuses to continue if another store was restored into the open file.
  package func refuseReplaced(_ uuid: Identifier) throws {
    guard try self.uuid() == uuid else { throw replaced }
  }

  private var replaced: DMError {
    DMError(
      .storeReplaced, "another store was put at '\(location.directory)'; start again to follow it",
      subject: location.directory)
  }
}
