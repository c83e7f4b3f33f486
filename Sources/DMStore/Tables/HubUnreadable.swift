package import DMModel

// Reads: hub_unreadable.
// Writes: hub_unreadable.

/// The payloads of messages that this version of dm cannot read.
///
/// The payloads are kept for a later version that can read them.
package struct HubUnreadable {
  let store: Store

  package func contains(_ message: MessageKey) throws -> Bool {
    var statement = try store.connection.prepare("SELECT 1 FROM hub_unreadable WHERE message = ?")
    statement.bind(message)
    return try statement.step()
  }

  package func insert(_ payload: [UInt8], of message: MessageKey) throws {
    var insert = try store.connection.prepare("INSERT INTO hub_unreadable (message, payload) VALUES (?, ?)")
    insert.bind(message)
    insert.bind(payload)
    try insert.run()
  }

  package func delete(_ message: MessageKey) throws {
    var delete = try store.connection.prepare("DELETE FROM hub_unreadable WHERE message = ?")
    delete.bind(message)
    try delete.run()
  }
}
