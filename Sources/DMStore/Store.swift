package import DMModel
package import DMSystem

// Reads: store.

/// The SQL of one store, and the path that every write takes.
///
/// Not Sendable: a connection stays on its thread.
package final class Store {
  package let location: StoreLocation
  package let connection: Connection
  private var isReady = false
  private var hasWritten = false
  /// From the first write on.
  private var rowChanges: RowChanges?

  // What never changes once it is there, kept so that a printed line costs no look-up.
  var handles = KeyTable<Handle>()
  var conversationIDs = KeyTable<Identifier>()

  /// For the ids of messages.
  var random = BufferedRandom()

  /// Which file is open: another may take its place.
  private let file: StoreLocation.File?

  /// How often this connection has committed.
  package private(set) var writeCount = 0

  /// The changes that the write under way has logged.
  var logged: ClosedRange<Rev>?

  /// Pages of the log at which a lone write, and a bulk one, moves it into the database.
  private static let loneLog = 100
  private static let bulkLog = 1024

  package init(_ location: StoreLocation, database path: String? = nil) throws {
    self.location = location
    file = location.file()
    connection = try Connection(path: path ?? location.database, busyTimeout: location.busyTimeout)
  }

  deinit {
    // After a bulk write, so that the next process does not have to read a long log. Nothing is lost
    // when it cannot be done now.
    guard connection.hasLog(over: Self.loneLog), let lock = FileLock(ifFree: location.lock) else { return }
    connection.checkpoint(ifOver: Self.loneLog, emptying: true)
    _ = consume lock
  }

  /// Opens a store for reading; nil when it is absent or has no tables yet.
  ///
  /// - Parameter refusesForeignParts: whether triggers and views are refused; a store has none, and they do nothing.
  package static func open(_ location: StoreLocation, refusesForeignParts: Bool = true) throws -> Store? {
    guard try location.state() == .present else { return nil }
    let store = try Store(location)
    // On one state: another may be creating the tables right now.
    guard case .version(let version) = try store.read(store.identity) else {
      try location.refuseEmptied { try store.read(store.identity) == .empty }
      return nil
    }
    if refusesForeignParts { try store.refuseForeignParts() }
    // An older store is brought up to date by the first process that opens it, reader or not.
    if version < Migration.steps.count { try store.migrate() }
    return store
  }

  /// Opens a store, creating what is missing.
  package static func create(_ location: StoreLocation) throws -> Store {
    if let store = try open(location) { return store }
    try location.refuseUnfit()
    try location.create()
    let store = try Store(location)
    try store.migrate()
    return store
  }

  /// Runs `body` on one state of the store.
  ///
  /// It must not write to a stream: a reader that stands still keeps the log from being reused
  /// (sqlite.org/wal.html, section 6).
  package func read<T>(_ body: () throws -> T) throws -> T {
    let transaction = try connection.begin(.read)
    let result = try body()
    try transaction.commit()
    return result
  }

  /// Runs `body` alone and makes what it wrote durable before returning.
  ///
  /// What others committed is durable before `body` sees it, so an answer may rest on it. The first process to open a
  /// store reads its whole log, so a lone write leaves little behind, a bulk one, or one of many, up to 4 MiB.
  ///
  /// - Parameters:
  ///   - timeout: how long to wait for other writers; nil for the busy timeout of the location.
  ///   - acceptsLoss: whether commits may be missing that the store had.
  package func write<T>(
    isBulk: Bool = false, timeout: Duration? = nil, acceptsLoss: Bool = false, _ body: () throws -> T
  ) throws -> T {
    let lock = try writeLock(timeout: timeout)
    if !isReady { try prepareToWrite() }
    let transaction = try connection.begin(.write)
    var isCommitted = false
    // Keys that were given in vain are given again.
    defer { if !isCommitted { (handles, conversationIDs) = (KeyTable(), KeyTable()) } }
    try refuseNewer(version())
    let mark = try syncCommits(under: lock)
    if !hasWritten, !acceptsLoss { try refuseMissingChanges(mark) }
    logged = nil
    rowChanges?.reset()
    try messages.deleteExpired()
    let result = try body()
    if let logged { try changes.prune(after: logged) }
    try rowChanges?.write(to: connection)
    try commit(transaction, mark, under: lock)
    isCommitted = true
    writeCount += 1
    // Only now: a follower that wakes earlier sees nothing yet, and is not woken again.
    if logged != nil { SignalFile.touch(location.bell) }
    // A process that writes again and again stays, and moves the log when it ends.
    let isLone = !isBulk && !hasWritten
    hasWritten = true
    connection.checkpoint(ifOver: isLone ? Self.loneLog : Self.bulkLog, emptying: isLone)
    _ = consume lock
    return result
  }

  private func prepareToWrite() throws {
    // In case the process that created the store was killed before it did this.
    try keepLog()
    // The pages that a thousand messages touch do not fit into the cache of 2 MB that SQLite has by itself.
    try connection.execute(
      """
      PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 8388608;
      PRAGMA secure_delete = ON; PRAGMA cache_size = -16384
      """)
    rowChanges = RowChanges(of: DigestedTable.all, on: connection)
    isReady = true
  }

  package func writeLock(timeout: Duration? = nil) throws -> FileLock {
    let milliseconds = Int((timeout ?? location.busyTimeout).microseconds / 1000)
    return try FileLock(
      path: location.lock, milliseconds: milliseconds,
      busy: DMError(
        .busy, "another process has been writing for \(milliseconds / 1000) s; try again", remedy: .waitLonger))
  }

  /// Has the database keep a write-ahead log, once and for all.
  ///
  /// Somebody who reads at that moment may keep it from that; the next writer tries again.
  func keepLog() throws {
    do {
      try connection.execute("PRAGMA journal_mode = WAL")
    } catch  where error.code == .busy {
      return
    }
  }

  /// Its identity, to which cursors are bound.
  ///
  /// A restored backup has another.
  package func uuid() throws -> Identifier {
    var statement = try connection.prepare("SELECT uuid FROM store")
    return try statement.step() ? statement.identifier(0) : Identifier(high: 0, low: 0)
  }

  /// A number that changes when another connection has committed (sqlite.org/pragma.html#pragma_data_version).
  package func dataVersion() throws -> Int64 { try pragma("PRAGMA data_version") }

  /// - Throws: `no_store` when the store is not there any more, `store_replaced` when another is in its place.
  package func refuseReplaced() throws {
    guard let now = location.file() else {
      throw DMError(
        .noStore, "the store at '\(location.directory)' was removed; start again when it is back",
        subject: location.directory)
    }
    guard now == file else { throw replaced }
  }

  /// The same when what is in the place was restored into the file that is open.
  package func refuseReplaced(_ uuid: Identifier) throws {
    guard try self.uuid() == uuid else { throw replaced }
  }

  private var replaced: DMError {
    DMError(
      .storeReplaced, "another store was put at '\(location.directory)'; start again to follow it",
      subject: location.directory)
  }
}
