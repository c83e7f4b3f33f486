package import DMModel
internal import DMStore
internal import DMSystem

/// The result of a restore.
package struct Restored: Equatable, Sendable {
  /// The id of the new store.
  package let storeID: Identifier
  /// The number of messages in the new store.
  package let messageCount: Int
  /// The number of harmless faults that a check still finds, and that a repair cannot correct.
  package let faultCount: Int
  /// The time of the restore.
  package let restoredAt: Timestamp
}

extension Upkeep {
  /// Restores a store from the lines of a dump; the store must be absent or empty.
  ///
  /// - Throws: `cannot_create` if the store has users or conversations, `malformed_line` or another error that names a
  ///   line, and `store_damaged`. Nothing is left after an error.
  package func restore(lines descriptor: Int32, takesDamaged: Bool = false) throws -> Restored {
    try restore(takesDamaged) { building in
      let store = try Store.create(building)
      var lines = DumpLines(descriptor: descriptor, progress)
      try store.write(isBulk: true) { try store.fill(from: &lines, takesDamaged: takesDamaged, progress) }
      return store
    }
  }

  /// Restores a store from a file, which is a dump or a backup.
  package func restore(file path: String, takesDamaged: Bool = false) throws -> Restored {
    let header = try header(of: path)
    guard header.isDatabase else {
      let file = try OpenFile(path, for: .reading) { fileError(.inputOutput, "read", path, $0) }
      return try restore(lines: file.descriptor, takesDamaged: takesDamaged)
    }
    guard header.isBackup else {
      throw DMError(.storeForeign, "'\(path)' is another program's database and no backup", subject: path)
    }
    return try restore(takesDamaged) { building in
      do {
        let backup = try Connection(path: path)
        try building.create()
        try backup.watched(by: { [progress] in try progress("reading the backup") }) {
          try backup.vacuum(into: building.database)
        }
        let copy = try Connection(path: building.database)
        try copy.takeContents(to: building.contents, takesDamaged: takesDamaged, progress)
      }
      guard let store = try Store.open(building, refusesForeignParts: false) else {
        throw DMError(.storeDamaged, "'\(path)' is empty; name another backup", subject: path)
      }
      try store.write(isBulk: true) {
        try store.connection.execute("DELETE FROM upkeep")
        var change = try store.connection.prepare("UPDATE store SET uuid = ?")
        change.bind(Identifier(at: .now))
        try change.run()
      }
      return store
    }
  }

  /// Builds a store beside its future folder, verifies it, and moves or copies it into place.
  private func restore(_ takesDamaged: Bool, _ build: (StoreLocation) throws -> Store) throws -> Restored {
    let findings = Findings()
    try refuseFull()
    // The work folder is made in this folder, to be on the same file system as the store.
    let around = nearestExisting(folder(of: location.directory))
    // If a folder cannot be listed, files left by killed processes stay in it.
    _ = try attempt { try WorkFolder.removeAbandoned(.restore, in: around) }
    let work = try WorkFolder(.restore, in: around)
    var building = StoreLocation(directory: work.path, isNamed: true)
    // The backup remains, so a backup of an earlier version needs no copy.
    building.upgrading = .keepsNothing
    do {
      let store = try build(building)
      try verify(store, building, takesDamaged, findings)
      let lock = try store.writeLock()
      guard try store.connection.truncateWAL(within: 5000) else {
        throw DMError(.busy, "somebody reads in '\(work.path)'; try again")
      }
      _ = consume lock
    }
    try progress("putting it in place")
    try install(building)
    _ = consume work
    let store = try store()
    try note(.restore)
    return Restored(
      storeID: try store.uuid(), messageCount: Int(try store.pragma("SELECT count(*) FROM message")),
      faultCount: findings.list.count, restoredAt: .now)
  }

  /// Checks a store that was built, and corrects what a program can correct.
  ///
  /// - Throws: `store_damaged` for a fault, unless the fault is a wrong count or range or, with `takesDamaged`, a
  ///   damaged row or content.
  private func verify(_ store: Store, _ building: StoreLocation, _ takesDamaged: Bool, _ findings: Findings) throws {
    try store.connection.verify(takesDamaged: takesDamaged, progress)
    try SchemaAudit.run(store, findings)
    try ValueAudit.run(store, findings)
    // Programs fail when they read values that this audit reports.
    try refuse(findings, but: [])
    try store.write(isBulk: true) {
      _ = try correctCounts(in: store)
      // Operations that are queued in the backup may have been sent or given up since the backup was made.
      if store.isLinked { try store.outbox.refuseQueued("restored") }
    }
    try compute(store, findings)
    // The contents were compared with their hashes when they were written.
    try AttachmentAudit.check(
      store.connection.namedContents(), in: building.contents, readsAll: false, progress, findings)
    // Wrong counts are accepted: they stop no program, and there may be no other backup.
    try refuse(findings, but: takesDamaged ? [.counts, .ranges, .digests, .attachments] : [.counts, .ranges])
  }

  private func refuse(_ findings: Findings, but harmless: Set<Finding.Check>) throws {
    guard let first = findings.list.first(where: { !harmless.contains($0.check) }) else { return }
    throw DMError(
      .storeDamaged,
      "the backup contradicts itself: \(first.subject ?? first.check.rawValue): \(first.message)",
      subject: first.subject, remedy: first.remedy)
  }

  /// - Throws: `cannot_create` if the store has users or conversations.
  private func refuseFull() throws {
    guard let store = try Store.open(location, onUpgrade: onUpgrade) else { return }
    try store.read { try store.refuseFull() }
  }

  private func install(_ building: StoreLocation) throws {
    if try location.state() == .present { return try installContents(of: building) { try copy(from: building) } }
    try location.createFolders()
    // The folder is moved as a whole, so that no process sees a partial store.
    if try !moveFolder(building.directory, to: location.directory) {
      try installContents(of: building) {
        // The WAL is empty, so the database file is complete.
        do throws(SystemFailure) {
          try linkFile(building.database, as: location.database)
        } catch {
          throw fileError(.cannotCreate, "create", location.database, error)
        }
      }
      try syncToDisk(location.directory)
    }
    try syncToDisk(folder(of: location.directory))
  }

  /// Copies the contents into place before `addRows` adds the rows that refer to them; after an error, removes the
  /// contents again.
  ///
  /// The contents are copied, because the store's folder may be on another file system.
  private func installContents(of building: StoreLocation, _ addRows: () throws -> Void) throws {
    let hashes = try building.contents.all
    if hashes.isEmpty { return try addRows() }
    do {
      do {
        let assembly = try ContentAssembly(in: location.contents, takesDamaged: false)
        for hash in hashes { try assembly.add(hash, from: building.contents) }
        try assembly.end()
      }
      try addRows()
    } catch {
      // The contents are removed because the disk may be full. Contents in use stay, because another process may have
      // filled the store meanwhile.
      let store = try Store.open(location)
      let lock = try store?.writeLock()
      let named = Set(try store?.connection.namedContents().map(\.hash) ?? [])
      for hash in hashes where !named.contains(hash) { _ = try location.contents.remove(hash, before: .forever) }
      _ = consume lock
      throw error
    }
  }

  /// Copies the rows into the existing empty store: other processes may have it open, and would lose what they write if
  /// the file were replaced.
  private func copy(from building: StoreLocation) throws {
    let store = try Store.create(location)
    do {
      var attach = try store.connection.prepare("ATTACH ? AS built")
      attach.bind(building.database)
      try attach.run()
    }
    try store.write(isBulk: true) {
      try store.refuseFull()
      try store.connection.execute("PRAGMA defer_foreign_keys = ON")
      for table in try store.dumpedTables() {
        let (name, columns) = (quoted(table.name), list(table.columns))
        try store.connection.execute("INSERT INTO main.\(name) (\(columns)) SELECT \(columns) FROM built.\(name)")
      }
      try store.searchIndex.rebuild()
      // The new id ends the cursors of followers, which would otherwise report all restored messages as new.
      var change = try store.connection.prepare("UPDATE store SET uuid = ?")
      change.bind(Identifier(at: .now))
      try change.run()
    }
    try store.connection.execute("DETACH built")
    SignalFile.touch(location.bell)
  }
}

extension Store {
  func refuseFull() throws {
    guard try pragma("SELECT EXISTS (SELECT 1 FROM user) OR EXISTS (SELECT 1 FROM conversation)") == 0 else {
      throw DMError(
        .cannotCreate, "there is a store at '\(location.directory)' already",
        subject: location.directory, remedy: .nameStoreToRestore)
    }
  }
}
