package import DMModel

// Reads: attachment, hub_attachment, hub_file, message.
// Writes: hub_file.

/// The files on the hub that belong to attachments of this store, and whether to upload or fetch each file.
package struct HubFiles {
  let store: Store

  /// The id of a file on the hub, with the hash and the size of its content.
  ///
  /// Two senders may have used one id for different contents, so the id alone is not unique.
  package struct Key: Hashable, Sendable {
    package let id: Identifier
    package let hash: ContentHash
    /// The size of the content in bytes.
    package let size: Int

    package init(id: Identifier, hash: ContentHash, size: Int) {
      self.id = id
      self.hash = hash
      self.size = size
    }
  }

  package struct Row: Equatable, Sendable {
    package let key: Key
    /// Whether no upload is needed: according to this store's records, the hub has the file, or the upload has failed
    /// and will not be tried again.
    package let isUploaded: Bool
    /// Whether the content is to be fetched.
    package let isWanted: Bool
    package let notBefore: Timestamp?
    /// A clause that says why the last attempt failed; nil if it did not fail.
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

  /// The files with an id.
  ///
  /// There are several files if senders have used the id for several contents.
  package func rows(_ id: Identifier) throws -> [Row] { try rows("WHERE uuid = ?") { $0.bind(id) } }

  /// The files with a content.
  ///
  /// Files whose last attempt failed come last.
  package func rows(of hash: ContentHash) throws -> [Row] {
    try rows("WHERE sha256 = ? ORDER BY fault IS NOT NULL, uuid, size_bytes") { $0.bind(blob: hash.bytes) }
  }

  /// An SQL condition for the files to fetch, and for the files to upload because a waiting message has them.
  private static let isPending = """
    (is_wanted OR NOT is_uploaded) AND (is_wanted OR uuid IN (
      SELECT file FROM hub_attachment WHERE waiting IS NOT NULL
      UNION SELECT thumbnail_file FROM hub_attachment WHERE waiting IS NOT NULL))
    """

  /// The files to fetch, and the files to upload because a waiting message has them.
  package func pending() throws -> [Row] { try rows("WHERE \(Self.isPending) ORDER BY is_uploaded, size_bytes") }

  /// The file to transfer next; nil if no transfer is due.
  ///
  /// Smaller files come first.
  ///
  /// - Parameter uploads: whether uploads come before fetches; otherwise fetches come first.
  package func next(uploads: Bool) throws -> Row? {
    let order = uploads ? "is_uploaded" : "is_uploaded DESC"
    return try rows(
      "WHERE \(Self.isPending) AND (not_before IS NULL OR not_before <= ?) ORDER BY \(order), size_bytes LIMIT 1"
    ) { $0.bind(Timestamp.now) }.first
  }

  /// The earliest time at which a transfer is due; nil if no file is to be transferred.
  package func dueAt() throws -> Timestamp? {
    var statement = try store.connection.prepare(
      text: "SELECT min(coalesce(not_before, 0)) FROM hub_file WHERE \(Self.isPending)")
    return try statement.step() ? statement.optionalTimestamp(0) : nil
  }

  /// The number of files that are to be fetched.
  ///
  /// Linear in this number.
  package func wantedCount() throws -> Int {
    var statement = try store.connection.prepare(
      "SELECT count(*) FROM hub_file WHERE (is_wanted OR NOT is_uploaded) AND is_wanted")
    return try statement.step() ? statement.int(0) : 0
  }

  /// Whether the uploads of all these files have ended, with or without success.
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

  /// Sets whether a file is uploaded, and whether its content is to be fetched.
  ///
  /// The next transfer of the file is due at once.
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

  /// Records that a transfer failed.
  ///
  /// The transfer is due again at `time`; if `time` is nil, the transfer is not tried again.
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

  /// Makes the transfers of all postponed files due now.
  package func hurry() throws {
    var update = try store.connection.prepare(
      "UPDATE hub_file SET not_before = NULL WHERE not_before IS NOT NULL AND (is_wanted OR NOT is_uploaded)")
    try update.run()
    store.rings = true
  }

  /// Records that this store has a content now, so that no file with the content need be fetched.
  package func finishFetching(_ hash: ContentHash) throws {
    var update = try store.connection.prepare(
      "UPDATE hub_file SET is_wanted = 0, not_before = NULL, fault = NULL WHERE sha256 = ? AND is_wanted")
    update.bind(blob: hash.bytes)
    try update.run()
    store.rings = true
  }

  /// The contents that this store may delete, because the hub has them according to the records of this store.
  ///
  /// Leaves out a content:
  /// - if an attachment with this content is in no message, or has no file on the hub;
  /// - if a transfer of the content has not ended, or has failed;
  /// - if the user has sent a message with the content recently.
  ///
  /// Linear in the number of attachments.
  ///
  /// - Parameters:
  ///   - user: the user of the store.
  ///   - time: the time from which on a message of the user counts as recent.
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
    return try hashes("SELECT sha256, NULL FROM hub_file").subtracting(kept)
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

  /// Deletes the records of files that are not to be fetched and whose contents no attachment has.
  package func deleteUnused() throws {
    var delete = try store.connection.prepare(
      """
      DELETE FROM hub_file WHERE NOT is_wanted AND sha256 NOT IN (SELECT sha256 FROM attachment
        UNION SELECT thumbnail_sha256 FROM attachment WHERE thumbnail_sha256 IS NOT NULL)
      """)
    try delete.run()
  }
}
