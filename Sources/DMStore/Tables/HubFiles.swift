package import DMModel

// Reads: attachment, hub_attachment, hub_file.
// Writes: hub_file.

/// The files on the hub that messages of this store have, and what is to be done with each.
package struct HubFiles {
  let store: Store

  package enum Task: Int64, Sendable {
    case none = 0
    case upload, fetch
  }

  package struct Row: Equatable, Sendable {
    package let id: Identifier
    package let hash: ContentHash
    package let size: Int
    package let task: Task
    package let notBefore: Timestamp?
    /// Why the last attempt failed, as a clause.
    package let fault: String?

    package func isDue(at time: Timestamp) -> Bool { notBefore.map { $0 <= time } ?? true }
  }

  private enum Column: Int32, QueryColumn { case uuid, sha256, sizeBytes, task, notBefore, fault }

  private static let columns = "uuid, sha256, size_bytes, task, not_before, fault"

  private func rows(_ condition: String, _ bind: (inout Statement) -> Void = { _ in }) throws -> [Row] {
    var statement = try store.connection.prepare(text: "SELECT \(Self.columns) FROM hub_file \(condition)")
    bind(&statement)
    assert(statement.has(Column.self))
    var rows: [Row] = []
    while try statement.step() {
      guard let hash = statement.withBytes(Column.sha256, { $0.flatMap(ContentHash.init) }),
        let task = Task(rawValue: statement.int64(Column.task))
      else { continue }
      rows.append(
        Row(
          id: statement.identifier(Column.uuid), hash: hash, size: statement.int(Column.sizeBytes), task: task,
          notBefore: statement.optionalTimestamp(Column.notBefore), fault: statement.optionalText(Column.fault)))
    }
    return rows
  }

  package func row(_ id: Identifier) throws -> Row? { try rows("WHERE uuid = ?") { $0.bind(id) }.first }

  /// The files with a content; those whose last attempt did not fail come first.
  package func rows(of hash: ContentHash) throws -> [Row] {
    try rows("WHERE sha256 = ? ORDER BY fault IS NOT NULL, uuid") { $0.bind(blob: hash.bytes) }
  }

  /// The files that are to be fetched, and those that waiting messages need; uploads and small files come first.
  package func pending() throws -> [Row] {
    try rows(
      """
      WHERE task = 2 OR task = 1 AND uuid IN (SELECT file FROM hub_attachment WHERE waiting IS NOT NULL
        UNION SELECT thumbnail_file FROM hub_attachment WHERE waiting IS NOT NULL)
      ORDER BY task, size_bytes, uuid
      """)
  }

  /// Whether a file can be uploaded or fetched now.
  package func areDue(at time: Timestamp) throws -> Bool { try pending().contains { $0.isDue(at: time) } }

  /// Whether no upload of these files waits.
  package func areUploaded(_ ids: [Identifier]) throws -> Bool { try ids.allSatisfy { try row($0)?.task != .upload } }

  package func insert(_ id: Identifier, _ hash: ContentHash, size: Int) throws {
    var insert = try store.connection.prepare(
      "INSERT INTO hub_file (uuid, sha256, size_bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
    insert.bind(id)
    insert.bind(blob: hash.bytes)
    insert.bind(size)
    try insert.run()
  }

  /// Sets what is to be done with a file, and why the last attempt failed, if it did.
  package func set(
    _ task: Task, of id: Identifier, notBefore: Timestamp? = nil, fault: String? = nil
  ) throws {
    var update = try store.connection.prepare(
      "UPDATE hub_file SET task = ?2, not_before = ?3, fault = ?4 WHERE uuid = ?1")
    update.bind(id)
    update.bind(task.rawValue)
    update.bind(notBefore)
    update.bind(fault)
    try update.run()
    store.rings = true
  }

  /// Records that a content is here, so that none of its files need be fetched.
  package func finishFetching(_ hash: ContentHash) throws {
    var update = try store.connection.prepare(
      "UPDATE hub_file SET task = 0, not_before = NULL, fault = NULL WHERE sha256 = ? AND task = 2")
    update.bind(blob: hash.bytes)
    try update.run()
    store.rings = true
  }

  /// Deletes the files whose contents no attachment has.
  package func deleteUnused() throws {
    var delete = try store.connection.prepare(
      """
      DELETE FROM hub_file WHERE task = 0 AND sha256 NOT IN (SELECT sha256 FROM attachment
        UNION SELECT thumbnail_sha256 FROM attachment WHERE thumbnail_sha256 IS NOT NULL)
      """)
    try delete.run()
  }
}
