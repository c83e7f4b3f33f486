package import DMModel

// Reads: hub_known.
// Writes: hub_known.

/// Messages of a conversation whose log is pulled again, and what was done to them.
package struct HubKnown {
  let store: Store

  /// What the person had done to a message, and whether each of their consumers has had it; nil for a message that was
  /// not here.
  package func row(_ id: Identifier) throws -> (isRead: Bool, isDeleted: Bool, isTold: Bool)? {
    var statement = try store.connection.prepare("SELECT is_read, is_deleted, is_told FROM hub_known WHERE uuid = ?")
    statement.bind(id)
    return try statement.step() ? (statement.bool(0), statement.bool(1), statement.bool(2)) : nil
  }

  package func insert(_ id: Identifier, isRead: Bool, isDeleted: Bool) throws {
    var insert = try store.connection.prepare(
      """
      INSERT INTO hub_known (uuid, is_read, is_deleted, is_told) VALUES (?, ?, ?, 1)
      ON CONFLICT DO UPDATE SET is_read = excluded.is_read, is_deleted = excluded.is_deleted
      """)
    insert.bind(id)
    insert.bind(isRead)
    insert.bind(isDeleted)
    try insert.run()
  }

  package func delete(_ id: Identifier) throws {
    var delete = try store.connection.prepare("DELETE FROM hub_known WHERE uuid = ?")
    delete.bind(id)
    try delete.run()
  }
}
