package import DMModel

// Reads: change, consumer, message, participant.
// Writes: consumer.

/// The consumers, which are named readers of the change log, and their positions.
package struct Consumers {
  let store: Store

  package struct Row {
    package let key: ConsumerKey
    package let name: String
    package var position: Cursor.Position
    package let usedAt: Timestamp
    package var skippedCount: Int
    /// The keys of the conversations of the consumer as a JSON array; nil for all conversations.
    package let conversations: String?
    package let marksDelivered: Bool
  }

  /// The columns of the query in `all(of:named:)`.
  private enum Column: Int32, QueryColumn {
    case key, name, rev, seq, usedAt, skippedCount, conversations, marksDelivered
  }

  package func all(of user: UserKey, named name: String? = nil) throws -> [Row] {
    var statement = try store.connection.prepare(
      """
      SELECT id AS key, name, rev, seq, used_at, skipped_count, conversations, marks_delivered FROM consumer
      WHERE user = ?1 AND (?2 IS NULL OR name = ?2) ORDER BY name
      """)
    statement.bind(user)
    statement.bind(name)
    assert(statement.has(Column.self))
    var rows: [Row] = []
    while try statement.step() {
      rows.append(
        Row(
          key: ConsumerKey(number: statement.int64(Column.key)), name: statement.text(Column.name),
          position: Cursor.Position(rev: statement.rev(Column.rev), seq: statement.int(Column.seq)),
          usedAt: statement.timestamp(Column.usedAt),
          skippedCount: statement.int(Column.skippedCount), conversations: statement.optionalText(Column.conversations),
          marksDelivered: statement.bool(Column.marksDelivered)))
    }
    return rows
  }

  package func insert(_ name: String, of user: UserKey, at position: Cursor.Position, now: Timestamp) throws {
    var statement = try store.connection.prepare(
      "INSERT INTO consumer (user, name, rev, seq, used_at, marks_delivered) VALUES (?, ?, ?, ?, ?, 0)")
    statement.bind(user)
    statement.bind(name)
    statement.bind(position.rev)
    statement.bind(position.seq)
    statement.bind(now)
    try statement.run()
    try store.writeDigest(of: ConsumerKey(number: store.connection.lastInsertedRow), in: .consumer)
  }

  /// Stores the conversations of a consumer's stream, and whether acknowledgements mark messages as delivered.
  package func describe(
    _ key: ConsumerKey, conversations: [ConversationKey]?, marksDelivered: Bool, now: Timestamp
  ) throws {
    var statement = try store.connection.prepare(
      "UPDATE consumer SET conversations = ?, marks_delivered = ?, used_at = ? WHERE id = ?")
    statement.bind(conversations.map(jsonArray))
    statement.bind(marksDelivered)
    statement.bind(now)
    statement.bind(key)
    try statement.run()
    try store.writeDigest(of: key, in: .consumer)
  }

  /// Stores the position and the count of skipped lines.
  package func move(_ row: Row, now: Timestamp) throws {
    var statement = try store.connection.prepare(
      "UPDATE consumer SET rev = ?, seq = ?, skipped_count = ?, used_at = ? WHERE id = ?")
    statement.bind(row.position.rev)
    statement.bind(row.position.seq)
    statement.bind(row.skippedCount)
    statement.bind(now)
    statement.bind(row.key)
    try statement.run()
    try store.writeDigest(of: row.key, in: .consumer)
  }

  package func delete(_ key: ConsumerKey) throws {
    var statement = try store.connection.prepare("DELETE FROM consumer WHERE id = ?")
    statement.bind(key)
    try statement.run()
  }

  /// For each conversation, counts the messages of other users that the viewer sees and that were logged after the
  /// change `rev`.
  ///
  /// With `last`, only messages that were logged up to that change are counted.
  ///
  /// - Parameter viewer: decides which messages are counted. If its `extras` include tombstones, deleted and expired
  ///   messages count, too.
  /// - Returns: for each conversation, the number of these messages, and the message number of the last of them.
  package func messagesOfOthers(
    after rev: Rev, upTo last: Rev = Rev(number: .max), conversations: String?, as viewer: Viewer
  ) throws -> [(conversation: ConversationKey, count: Int, last: Int)] {
    var statement = try store.connection.prepare(
      """
      SELECT ch.conversation, m.seq, m.sender, m.deleted_at IS NOT NULL, m.expires_at FROM change ch
      CROSS JOIN participant p ON p.conversation = ch.conversation AND p.user = ?1
      CROSS JOIN message m ON m.conversation = ch.conversation AND m.seq = ch.from_seq
      WHERE ch.rev > ?2 AND ch.rev <= ?3 AND ch.kind = 1 AND m.sender <> ?1
      AND (?4 IS NULL OR ch.conversation IN (SELECT value FROM json_each(?4)))
      """)
    statement.bind(viewer.user)
    statement.bind(rev)
    statement.bind(last)
    statement.bind(conversations)
    var found: [ConversationKey: (count: Int, last: Int)] = [:]
    while try statement.step() {
      let (conversation, seq) = (statement.conversationKey(0), statement.int(1))
      guard
        try viewer.sees(
          seq, in: conversation, from: statement.userKey(2), isGone: statement.bool(3),
          expiresAt: statement.optionalTimestamp(4))
      else { continue }
      let before = found[conversation] ?? (0, 0)
      found[conversation] = (before.count + 1, max(before.last, seq))
    }
    return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value.count, $0.value.last) }
  }
}
