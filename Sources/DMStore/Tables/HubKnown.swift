package import DMModel

// Reads: change, consumer, hidden_range, hub_known, message, outbox, read_range, receipt.
// Writes: hub_known.

/// The messages that a conversation had before its log was pulled again, with the user's state of each message.
package struct HubKnown {
  let store: Store

  package typealias Row = (isRead: Bool, isDeleted: Bool, isConsumed: Bool, hasReceipt: Bool)

  /// The state of a message before the log was pulled again: whether the user had read the message, had deleted it, had
  /// received it in all their consumers, and had sent a receipt for it.
  ///
  /// Nil if the store did not have the message.
  package func row(_ id: Identifier) throws -> Row? {
    var statement = try store.connection.prepare(
      "SELECT is_read, is_deleted, is_consumed, has_receipt FROM hub_known WHERE uuid = ?")
    statement.bind(id)
    return try statement.step()
      ? (statement.bool(0), statement.bool(1), statement.bool(2), statement.bool(3)) : nil
  }

  /// The messages of a range that the user had marked as unread after they had sent a receipt.
  ///
  /// Linear in the length of the range if the table is not empty.
  package func unreadAgain(_ range: SeqRange, in conversation: ConversationKey) throws -> [SeqRange] {
    var statement = try store.connection.prepare(
      """
      SELECT m.seq, m.seq FROM message m JOIN hub_known k ON k.uuid = m.uuid
      WHERE EXISTS (SELECT 1 FROM hub_known) AND m.conversation = ? AND m.seq BETWEEN ? AND ?
      AND NOT k.is_read AND k.has_receipt ORDER BY m.seq
      """)
    statement.bind(conversation)
    statement.bind(range.lowerBound)
    statement.bind(range.upperBound)
    var found: [SeqRange] = []
    while try statement.step() { found.append(try statement.seqs(0, 1)) }
    return coalesced(found)
  }

  /// Records for each message of a conversation whether the user has read it, has deleted it, has received it in all
  /// their consumers, and has sent a receipt for it.
  package func remember(_ conversation: ConversationKey, of user: UserKey) throws {
    var insert = try store.connection.prepare(
      """
      INSERT INTO hub_known (uuid, is_read, is_deleted, is_consumed, has_receipt)
      SELECT m.uuid,
        EXISTS (SELECT 1 FROM read_range r WHERE r.conversation = m.conversation AND r.user = ?2
          AND m.seq BETWEEN r.from_seq AND r.to_seq),
        EXISTS (SELECT 1 FROM hidden_range h WHERE h.conversation = m.conversation AND h.user = ?2 AND h.is_deleted
          AND m.seq BETWEEN h.from_seq AND h.to_seq)
        AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.target = m.uuid AND o.act = ?4 AND o.state <> 3),
        NOT EXISTS (SELECT 1 FROM change c WHERE c.conversation = m.conversation AND c.kind = ?3
          AND c.rev > (SELECT coalesce(min(rev), 9223372036854775807) FROM consumer WHERE user = ?2)
          AND m.seq BETWEEN c.from_seq AND c.to_seq),
        EXISTS (SELECT 1 FROM receipt r WHERE r.conversation = m.conversation AND r.user = ?2
          AND m.seq BETWEEN r.from_seq AND r.to_seq)
      FROM message m WHERE m.conversation = ?1
      ON CONFLICT DO UPDATE SET is_read = excluded.is_read, is_deleted = excluded.is_deleted,
        is_consumed = excluded.is_consumed, has_receipt = excluded.has_receipt
      """)
    insert.bind(conversation)
    insert.bind(user)
    insert.bind(Changes.Kind.message.rawValue)
    insert.bind(Outbox.Act.delete.rawValue)
    try insert.run()
  }

  /// Records that the user has deleted messages for themselves, in addition to what `remember` found.
  package func setDeleted(_ range: SeqRange, in conversation: ConversationKey) throws {
    var update = try store.connection.prepare(
      """
      UPDATE hub_known SET is_deleted = 1
      WHERE uuid IN (SELECT uuid FROM message WHERE conversation = ? AND seq BETWEEN ? AND ?)
      """)
    update.bind(conversation)
    update.bind(range.lowerBound)
    update.bind(range.upperBound)
    try update.run()
  }

  package func delete(_ id: Identifier) throws {
    var delete = try store.connection.prepare("DELETE FROM hub_known WHERE uuid = ?")
    delete.bind(id)
    try delete.run()
  }
}
