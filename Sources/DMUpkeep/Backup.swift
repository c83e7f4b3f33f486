package import DMModel
internal import DMStore
internal import DMSystem

/// A copy of a store in one file.
package struct Backup: Equatable, Sendable {
  /// The path of the file.
  package let path: String
  /// The id of the backup; differs from the id of the store, so that each of the two refuses cursors of the other.
  package let storeID: Identifier
  /// The size of the file in bytes.
  package let sizeBytes: Int
  /// The number of messages in the backup.
  package let messageCount: Int
  /// The time of the state that was copied.
  package let createdAt: Timestamp
  /// The time of the previous backup; nil if there was none.
  package let lastUsedAt: Timestamp?

  fileprivate func named(_ path: String) -> Backup {
    Backup(
      path: path, storeID: storeID, sizeBytes: sizeBytes, messageCount: messageCount, createdAt: createdAt,
      lastUsedAt: lastUsedAt)
  }
}

extension Upkeep {
  /// Copies one snapshot of the store to a file, while other processes write.
  ///
  /// The file gets its name after it is complete and synced.
  ///
  /// - Parameters:
  ///   - replacesAny: whether to replace an existing file even if it is not a backup, or has more messages or changes
  ///     than the store.
  ///   - takesDamaged: whether to copy damaged messages and leave out damaged contents; otherwise damage is an error.
  /// - Throws: `cannot_create`; `store_damaged` if the copy is damaged. After an error, no new file is left.
  package func backUp(to path: String, replacesAny: Bool = false, takesDamaged: Bool = false) throws -> Backup {
    let store = try store()
    try refuse(path, replacesAny: replacesAny)
    if !takesDamaged { try store.refuseMissingChanges() }
    // If a folder cannot be listed, files left by killed processes stay in it.
    _ = try attempt {
      try WorkFolder.removeAbandoned(tracedIn: location.directory)
      try WorkFolder.removeAbandoned(.backup, in: folder(of: path))
    }
    let work = try WorkFolder(.backup, in: folder(of: path), tracedIn: location.directory)
    let copied = try copy(store, into: work.path, takesDamaged: takesDamaged)
    if !replacesAny { try refuseReplacing(path, by: copied.path) }
    try syncToDisk(copied.path)
    try progress("putting it in place")
    try moveFile(copied.path, to: path)
    _ = consume work
    try syncToDisk(folder(of: path))
    try note(.backup)
    return copied.named(path)
  }

  /// Copies one snapshot of the store to a new file in a folder, and verifies the copy.
  func copy(_ store: Store, into folder: String, takesDamaged: Bool) throws -> Backup {
    let lastUsedAt = try lastUse(of: .backup)
    let temporary = try temporaryName(in: folder, "copy-")
    let at = Timestamp.now
    // Locks the contents before the copy, so that no purge removes contents to which the copied rows refer.
    let share = try location.contents.share()
    let full = store.location.databaseBytes
    try store.connection.watched(by: { [progress] in
      try progress("\(fileSize(temporary) >> 20) of about \(full >> 20) MiB copied")
    }) {
      try store.connection.vacuum(into: temporary)
    }
    let id = Identifier(at: .now)
    let count = try finish(temporary, as: id, takesDamaged: takesDamaged)
    _ = consume share
    return Backup(
      path: temporary, storeID: id, sizeBytes: fileSize(temporary), messageCount: count, createdAt: at,
      lastUsedAt: lastUsedAt)
  }

  /// Gives the copy its own id, verifies the copy, and adds the contents of attachments.
  ///
  /// - Returns: the number of messages in the copy.
  private func finish(_ path: String, as id: Identifier, takesDamaged: Bool) throws -> Int {
    let copy = try Connection(path: path)
    // No journal and no sync are needed: the file is synced as a whole, and no other process has opened it yet.
    try copy.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
    do {
      var change = try copy.prepare("UPDATE store SET uuid = ?")
      change.bind(id)
      try change.run()
    }
    try DigestedTable.identity.store(in: copy)
    try copy.watched(by: { [progress] in try progress("looking at the copy") }) {
      try copy.verify(takesDamaged: takesDamaged, progress)
    }
    if !takesDamaged, let (_, fault) = try SchemaAudit.faults(in: copy, isLinked: store().isLinked).first {
      throw DMError(.storeDamaged, "the copy is not sound (\(fault))", remedy: .takeDamaged)
    }
    try copy.addContents(from: location.contents, takesDamaged: takesDamaged, progress)
    var count = try copy.prepare("SELECT count(*) FROM message")
    return try count.step() ? count.int(0) : 0
  }

  private func refuse(_ path: String, replacesAny: Bool) throws {
    try StoreLocation.refuse(insideStore: path)
    guard let status = FileStatus(itself: path) else {
      if SystemFailure.current == .notFound { return }
      throw fileError(.cannotCreate, "create", path)
    }
    guard status.kind == .regular else {
      throw DMError(.cannotCreate, "'\(path)' is not a regular file; name another", subject: path)
    }
    if replacesAny { return }
    // The store's own database is not opened here: closing it would drop this process's locks
    // (sqlite.org/howtocorrupt.html, section 2.2).
    guard status.identity != location.file(), try header(of: path).isBackup else {
      throw DMError(
        .cannotCreate, "'\(path)' is there and is not a backup of a store; name another file",
        subject: path, remedy: .replaceFile)
    }
  }
}

/// The kind of a file, read from its first bytes.
struct FileHeader {
  let isDatabase: Bool
  /// Whether the file has the application id of a store (sqlite.org/fileformat2.html, section 1.3).
  let isBackup: Bool
}

func header(of path: String) throws(DMError) -> FileHeader {
  let file = try OpenFile(path, for: .reading) {
    fileError($0 == .notFound ? .unknownFile : .inputOutput, "read", path, $0)
  }
  guard let bytes = file.read(72), bytes.count == 72 else {
    return FileHeader(isDatabase: false, isBackup: false)
  }
  let isDatabase = bytes.starts(with: Array("SQLite format 3\0".utf8))
  let mark = bytes[68...].reduce(Int64(0)) { $0 << 8 | Int64($1) }
  return FileHeader(isDatabase: isDatabase, isBackup: isDatabase && mark == Migration.applicationID)
}

extension StoreLocation {
  var databaseBytes: Int { fileSize(database) }
}

extension Connection {
  /// Verifies the pages, the foreign keys and, unless `takesDamaged` is true, the digests.
  ///
  /// - Throws: `store_damaged`.
  borrowing func verify(takesDamaged: Bool, _ progress: (String) throws -> Void) throws {
    func fault(_ what: String) -> DMError {
      DMError(.storeDamaged, "the copy is not sound (\(what))", remedy: .takeDamaged)
    }
    do {
      var check = try prepare("PRAGMA main.integrity_check(1)")
      if try check.step(), case let said = check.text(0), said != "ok" { throw fault(said) }
    }
    do {
      var check = try prepare("PRAGMA main.foreign_key_check")
      if try check.step() { throw fault("a row of '\(check.text(0))' refers to one that is not there") }
    }
    if takesDamaged { return }
    if let found = try TableDigestAudit.firstFault(in: self) { throw fault(found) }
    for table in Store.DigestedRows.all {
      var rows = try table.rows(.all, of: self)
      var count = 0
      while try rows.step() {
        count += 1
        if count % 1000 == 0 { try progress("\(count) \(table.name)s held against their digests") }
        if !table.matchesDigest(rows) {
          throw fault("the \(table.name) of row \(rows.int64(0)) is not as it was written")
        }
      }
    }
  }
}

/// The size of a store or a backup.
///
/// The two numbers never decrease, except the number of messages of a linked store that removes older messages.
struct Extent: Equatable {
  let messages: Int
  /// The number of the last change, even if the change log no longer has it.
  let rev: Int
}

extension Connection {
  func extent() throws(DMError) -> Extent {
    var counts = try prepare(
      "SELECT (SELECT count(*) FROM message), (SELECT seq FROM sqlite_sequence WHERE name = 'change')")
    return try counts.step() ? Extent(messages: counts.int(0), rev: counts.int(1)) : Extent(messages: 0, rev: 0)
  }
}

extension Upkeep {
  /// - Throws: `cannot_create` if the backup at `path` has more messages or changes than the new one.
  func refuseReplacing(_ path: String, by new: String) throws {
    guard fileExists(path) else { return }
    let old: Extent
    do {
      old = try Connection(path: path).extent()
    } catch {
      // A backup that cannot be read may be replaced.
      guard error.isDamage else { throw error }
      return
    }
    let new = try Connection(path: new).extent()
    if old.messages <= new.messages, old.rev <= new.rev { return }
    throw DMError(
      .cannotCreate,
      "the backup '\(path)' has \(old.messages) messages and \(old.rev) changes, the store \(new.messages) and \(new.rev); "
        + "name another file",
      subject: path, remedy: .replaceFile)
  }
}
