package import DMModel

// Reads: change, consumer, hidden_range, hub_known, message, outbox, read_range.
// Writes: hub_known.

/// The messages that a conversation had before its log is pulled again, and the user's state of each.
package struct HubKnown {
  let store: Store

  /// Whether the user had read and deleted a message, and whether all their consumers had received it; nil for a
  /// message that the store did not have.
  package func row(_ id: Identifier) throws -> (isRead: Bool, isDeleted: Bool, isConsumed: Bool)? {
    var statement = try store.connection.prepare(
      "SELECT is_read, is_deleted, is_consumed FROM hub_known WHERE uuid = ?")
    statement.bind(id)
    return try statement.step() ? (statement.bool(0), statement.bool(1), statement.bool(2)) : nil
  }

  /// Records for each message of a conversation: is it read, is it deleted, and have all consumers of the user received
  /// it.
  package func remember(_ conversation: ConversationKey, of user: UserKey) throws {
    var insert = try store.connection.prepare(
      """
      INSERT INTO hub_known (uuid, is_read, is_deleted, is_consumed)
      SELECT m.uuid,
        EXISTS (SELECT 1 FROM read_range r WHERE r.conversation = m.conversation AND r.user = ?2
          AND m.seq BETWEEN r.from_seq AND r.to_seq),
        EXISTS (SELECT 1 FROM hidden_range h WHERE h.conversation = m.conversation AND h.user = ?2 AND h.is_deleted
          AND m.seq BETWEEN h.from_seq AND h.to_seq)
        AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.target = m.uuid AND o.act = ?4 AND o.state <> 3),
        NOT EXISTS (SELECT 1 FROM change c WHERE c.conversation = m.conversation AND c.kind = ?3
          AND c.rev > (SELECT coalesce(min(rev), 9223372036854775807) FROM consumer WHERE user = ?2)
          AND m.seq BETWEEN c.from_seq AND c.to_seq)
      FROM message m WHERE m.conversation = ?1
      ON CONFLICT DO UPDATE SET is_read = excluded.is_read, is_deleted = excluded.is_deleted, is_consumed = excluded.is_consumed
      """)
    insert.bind(conversation)
    insert.bind(user)
    insert.bind(Changes.Kind.message.rawValue)
    insert.bind(Outbox.Act.delete.rawValue)
    try insert.run()
  }

  package func delete(_ id: Identifier) throws {
    var delete = try store.connection.prepare("DELETE FROM hub_known WHERE uuid = ?")
    delete.bind(id)
    try delete.run()
  }
}
