internal import DMModel
internal import DMStore

// The contents of attachments in a backup: rows with chunks, in a table that a store does not have. The chunks of one
// content follow each other.

extension Connection {
  /// The table has no index, because it is read in the order in which it was written.
  private static let contentTable =
    "CREATE TABLE content (sha256 BLOB NOT NULL, number INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT"

  /// Copies into the backup the contents that its database names, and compares each with its hash.
  ///
  /// Contents that are only on the hub are left out.
  ///
  /// - Parameter takesDamaged: whether a content that is damaged or cannot be read is left out.
  /// - Throws: `store_damaged` or `io_error` for such a content, unless `takesDamaged` is true.
  func addContents(from folder: ContentFolder, takesDamaged: Bool, _ progress: (String) throws -> Void) throws {
    let contents = try namedContents().filter { !$0.isElsewhere(than: folder) }
    if contents.isEmpty { return }
    try execute(Self.contentTable)
    let transaction = try begin(.write)
    var (count, bytes) = (0, 0)
    for content in contents {
      var number = 0
      let last = lastInsertedRow
      do {
        try folder.chunks(of: content.hash) { chunk in
          var insert = try prepare("INSERT INTO content (sha256, number, bytes) VALUES (?, ?, ?)")
          insert.bind(blob: content.hash.bytes)
          insert.bind(number)
          insert.bind(blob: Array(chunk))
          try insert.run()
          (number, bytes) = (number + 1, bytes + chunk.count)
          try progress("\(count) of \(contents.count) contents copied, \(bytes >> 20) MiB")
        }
      } catch let error as DMError where folder.isDamage(error, of: content.hash) {
        guard takesDamaged else {
          throw DMError(error.code, error.message, subject: error.subject, remedy: .leaveOutDamaged)
        }
        var delete = try prepare("DELETE FROM content WHERE rowid > ?")
        delete.bind(last)
        try delete.run()
      }
      count += 1
    }
    try transaction.commit()
  }

  /// Writes the contents of the backup to files, and removes their table.
  ///
  /// - Throws: `store_damaged` for a content that does not have its hash, unless `takesDamaged` is true.
  func takeContents(to folder: ContentFolder, takesDamaged: Bool, _ progress: (String) throws -> Void) throws {
    do {
      // An object with this name and other SQL is not part of a backup; the schema check reports it.
      var table = try prepare("SELECT 1 FROM sqlite_schema WHERE name = 'content' AND sql = ?")
      table.bind(Self.contentTable)
      guard try table.step() else { return }
    }
    let assembly = try ContentAssembly(in: folder, takesDamaged: takesDamaged)
    do {
      var chunks = try prepare("SELECT sha256, number, bytes FROM content ORDER BY rowid")
      var bytes = 0
      while try chunks.step() {
        guard let hash = chunks.withBytes(0, { $0.flatMap(ContentHash.init) }) else { continue }
        let chunk = chunks.withBytes(2) { Array($0 ?? UnsafeRawBufferPointer(start: nil, count: 0)) }
        try chunk.withUnsafeBytes { try assembly.add(hash, chunks.int(1), $0) }
        bytes += chunk.count
        try progress("\(bytes >> 20) MiB of contents restored")
      }
    }
    try assembly.end()
    // No journal and no sync are needed: the file is synced as a whole, and no other process has opened it yet.
    // secure_delete would keep all overwritten pages in memory, although the same bytes are in the content files.
    try execute(
      """
      PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA secure_delete = OFF; DROP TABLE content; VACUUM
      """)
  }
}
