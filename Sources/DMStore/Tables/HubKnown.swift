package import DMModel

// Reads: hub_known.
// Writes: hub_known.

/// Messages that were here before the hub was set back, and are no news when they come again.
package struct HubKnown {
  let store: Store

  package func contains(_ id: Identifier) throws -> Bool { try row(id) != nil }

  /// What the person had done to a message.
  package func row(_ id: Identifier) throws -> (isRead: Bool, isDeleted: Bool)? {
    var statement = try store.connection.prepare("SELECT is_read, is_deleted FROM hub_known WHERE uuid = ?")
    statement.bind(id)
    return try statement.step() ? (statement.bool(0), statement.bool(1)) : nil
  }

  package func insert(_ id: Identifier, isRead: Bool, isDeleted: Bool) throws {
    var insert = try store.connection.prepare(
      """
      INSERT INTO hub_known (uuid, is_read, is_deleted) VALUES (?, ?, ?)
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
