package import DMModel

// Reads: attachment, hub_attachment, hub_file.
// Writes: hub_file.

/// The files on the hub that messages of this store have, and what is to be done with each.
package struct HubFiles {
  let store: Store

  /// A file, by its id on the hub, and the content that its sender has named; another sender may have named another content.
  package struct Key: Hashable, Sendable {
    package let id: Identifier
    package let hash: ContentHash
    /// Bytes.
    package let size: Int

    package init(id: Identifier, hash: ContentHash, size: Int) {
      self.id = id
      self.hash = hash
      self.size = size
    }
  }

  package struct Row: Equatable, Sendable {
    package let key: Key
    /// Whether the hub has it, as far as this store knows.
    package let isUploaded: Bool
    /// Whether its content is to be fetched.
    package let isWanted: Bool
    package let notBefore: Timestamp?
    /// Why the last attempt failed, as a clause.
    package let fault: String?

    package func isDue(at time: Timestamp) -> Bool { notBefore.map { $0 <= time } ?? true }
  }

  private enum Column: Int32, QueryColumn { case uuid, sha256, sizeBytes, isUploaded, isWanted, notBefore, fault }

  private static let columns = "uuid, sha256, size_bytes, is_uploaded, is_wanted, not_before, fault"

  private func rows(_ condition: String, _ bind: (inout Statement) -> Void = { _ in }) throws -> [Row] {
    var statement = try store.connection.prepare(text: "SELECT \(Self.columns) FROM hub_file \(condition)")
    bind(&statement)
    assert(statement.has(Column.self))
    var rows: [Row] = []
    while try statement.step() {
      guard let hash = statement.withBytes(Column.sha256, { $0.flatMap(ContentHash.init) }) else { continue }
      rows.append(
        Row(
          key: Key(id: statement.identifier(Column.uuid), hash: hash, size: statement.int(Column.sizeBytes)),
          isUploaded: statement.bool(Column.isUploaded), isWanted: statement.bool(Column.isWanted),
          notBefore: statement.optionalTimestamp(Column.notBefore), fault: statement.optionalText(Column.fault)))
    }
    return rows
  }

  /// The files with an id: several if senders have named several contents for it.
  package func rows(_ id: Identifier) throws -> [Row] { try rows("WHERE uuid = ?") { $0.bind(id) } }

  /// The files with a content; those whose last attempt did not fail come first.
  package func rows(of hash: ContentHash) throws -> [Row] {
    try rows("WHERE sha256 = ? ORDER BY fault IS NOT NULL, uuid, size_bytes") { $0.bind(blob: hash.bytes) }
  }

  /// Of the files that are to be fetched, and those that waiting messages need.
  private static let isPending = """
    (is_wanted OR NOT is_uploaded) AND (is_wanted OR uuid IN (
      SELECT file FROM hub_attachment WHERE waiting IS NOT NULL
      UNION SELECT thumbnail_file FROM hub_attachment WHERE waiting IS NOT NULL))
    """

  /// The files that are to be fetched, and those that waiting messages need.
  package func pending() throws -> [Row] { try rows("WHERE \(Self.isPending) ORDER BY is_uploaded, size_bytes") }

  /// The smallest file that can be carried now.
  ///
  /// - Parameter uploads: whether files to be uploaded come first, or those to be fetched.
  package func next(uploads: Bool) throws -> Row? {
    let order = uploads ? "is_uploaded" : "is_uploaded DESC"
    return try rows(
      "WHERE \(Self.isPending) AND (not_before IS NULL OR not_before <= ?) ORDER BY \(order), size_bytes LIMIT 1"
    ) { $0.bind(Timestamp.now) }.first
  }

  /// When the first file can be carried; nil if none waits.
  package func dueAt() throws -> Timestamp? {
    var statement = try store.connection.prepare(
      text: "SELECT min(coalesce(not_before, 0)) FROM hub_file WHERE \(Self.isPending)")
    return try statement.step() ? statement.optionalTimestamp(0) : nil
  }

  /// How many contents are to be fetched; linear in their number.
  package func wantedCount() throws -> Int {
    var statement = try store.connection.prepare(
      "SELECT count(*) FROM hub_file WHERE (is_wanted OR NOT is_uploaded) AND is_wanted")
    return try statement.step() ? statement.int(0) : 0
  }

  /// Whether no upload of these files waits.
  package func areUploaded(_ ids: [Identifier]) throws -> Bool {
    try ids.allSatisfy { try rows($0).allSatisfy(\.isUploaded) }
  }

  package func insert(_ key: Key) throws {
    var insert = try store.connection.prepare(
      "INSERT INTO hub_file (uuid, sha256, size_bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
    insert.bind(key.id)
    insert.bind(blob: key.hash.bytes)
    insert.bind(key.size)
    try insert.run()
  }

  /// Sets what is to be done with a file, from now on.
  package func set(isUploaded: Bool? = nil, isWanted: Bool? = nil, of key: Key) throws {
    var update = try store.connection.prepare(
      """
      UPDATE hub_file SET is_uploaded = coalesce(?4, is_uploaded), is_wanted = coalesce(?5, is_wanted), not_before = NULL,
        fault = NULL WHERE uuid = ?1 AND sha256 = ?2 AND size_bytes = ?3
      """)
    update.bind(key.id)
    update.bind(blob: key.hash.bytes)
    update.bind(key.size)
    update.bind(isUploaded.map { $0 ? 1 as Int64 : 0 })
    update.bind(isWanted.map { $0 ? 1 as Int64 : 0 })
    try update.run()
    store.rings = true
  }

  /// Records that an attempt failed, to be repeated after a time, or for nil not at all.
  package func fail(_ key: Key, _ fault: String, until time: Timestamp?) throws {
    var update = try store.connection.prepare(
      """
      UPDATE hub_file SET fault = ?4, not_before = ?5, is_uploaded = is_uploaded OR ?5 IS NULL,
        is_wanted = is_wanted AND ?5 IS NOT NULL WHERE uuid = ?1 AND sha256 = ?2 AND size_bytes = ?3
      """)
    update.bind(key.id)
    update.bind(blob: key.hash.bytes)
    update.bind(key.size)
    update.bind(fault)
    update.bind(time)
    try update.run()
    store.rings = true
  }

  /// Makes all postponed files due.
  package func hurry() throws {
    var update = try store.connection.prepare(
      "UPDATE hub_file SET not_before = NULL WHERE not_before IS NOT NULL AND (is_wanted OR NOT is_uploaded)")
    try update.run()
    store.rings = true
  }

  /// Records that a content is here, so that none of its files need be fetched.
  package func finishFetching(_ hash: ContentHash) throws {
    var update = try store.connection.prepare(
      "UPDATE hub_file SET is_wanted = 0, not_before = NULL, fault = NULL WHERE sha256 = ? AND is_wanted")
    update.bind(blob: hash.bytes)
    try update.run()
    store.rings = true
  }

  /// The contents that can be fetched from the hub again, as far as this store knows.
  ///
  /// Linear in the attachments. Contents stay that only this store may have: of attachments without a message or without
  /// a file on the hub, of files that are not uploaded, and of messages that a user has sent lately.
  ///
  /// - Parameters:
  ///   - user: the user of the store.
  ///   - time: the time after which the messages of the user count as recent.
  package func evictable(sentBy user: UserKey, since time: Timestamp) throws -> Set<ContentHash> {
    let kept = try hashes(
      """
      SELECT a.sha256, a.thumbnail_sha256 FROM attachment a LEFT JOIN message m ON m.id = a.message
        LEFT JOIN hub_attachment h ON h.attachment = a.id
      WHERE m.id IS NULL OR h.attachment IS NULL OR m.sender = ?1 AND m.created_at >= ?2
      UNION ALL SELECT sha256, NULL FROM hub_file WHERE NOT is_uploaded OR is_wanted OR fault IS NOT NULL
      """
    ) {
      $0.bind(user)
      $0.bind(time)
    }
    return try hashes(
      """
      SELECT f.sha256, NULL FROM hub_attachment h JOIN hub_file f ON f.uuid IN (h.file, h.thumbnail_file)
      """
    ).subtracting(kept)
  }

  private func hashes(_ sql: String, _ bind: (inout Statement) -> Void = { _ in }) throws -> Set<ContentHash> {
    var statement = try store.connection.prepare(text: sql)
    bind(&statement)
    var hashes: Set<ContentHash> = []
    while try statement.step() {
      for column: Int32 in 0...1 {
        if let hash = statement.withBytes(column, { $0.flatMap(ContentHash.init) }) { hashes.insert(hash) }
      }
    }
    return hashes
  }

  /// Deletes the files whose contents no attachment has.
  package func deleteUnused() throws {
    var delete = try store.connection.prepare(
      """
      DELETE FROM hub_file WHERE NOT is_wanted AND sha256 NOT IN (SELECT sha256 FROM attachment
        UNION SELECT thumbnail_sha256 FROM attachment WHERE thumbnail_sha256 IS NOT NULL)
      """)
    try delete.run()
  }
}
