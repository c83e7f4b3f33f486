package import DMModel

// Reads: message, message_alias, outbox, waiting.
// Writes: outbox.

/// What was done in a linked store and the hub has not ordered yet, in this order.
package struct Outbox {
  let store: Store

  /// A kind of operation; stores contain the numbers.
  package enum Act: Int64, CaseIterable, Sendable {
    case say = 1
    case edit, delete, react, read, delivered, begin, group, add, remove, leave, title, avatar, expire, profile
  }

  package enum State: Int64, Sendable {
    case queued = 0
    /// Its push has begun; the hub may have it.
    case sending
    /// The hub has ordered it; it has not come back in the log yet.
    case acknowledged
    case refused
    case done
  }

  /// An operation to be queued.
  package struct NewOperation {
    package let act: Act
    package var conversation: ConversationKey?
    package var target: Identifier?
    package let nonce: Identifier
    /// What the hub reads of it besides, a JSON object.
    package var arguments = "{}"
    /// What only people read, the bytes of a JSON object.
    package var payload: [UInt8]?
    package var notBefore: Timestamp?

    package init(
      _ act: Act, in conversation: ConversationKey? = nil, about target: Identifier? = nil, nonce: Identifier,
      arguments: String = "{}", payload: [UInt8]? = nil, notBefore: Timestamp? = nil
    ) {
      self.act = act
      self.conversation = conversation
      self.target = target
      self.nonce = nonce
      self.arguments = arguments
      self.payload = payload
      self.notBefore = notBefore
    }
  }

  package struct Row {
    package let key: OutboxKey
    package let act: Act
    package let state: State
    package let conversation: ConversationKey?
    package let target: Identifier?
    package let nonce: Identifier
    package let arguments: String
    package let payload: [UInt8]?
    package let createdAt: Timestamp
    package let attempts: Int
    package let triedAt: Timestamp?
    package let notBefore: Timestamp?
    package let rev: Int64?
    /// The code of the reason why the hub refused it.
    package let fault: String?
    /// Whether it is pushed again because the hub was restored.
    package let isRepeated: Bool
  }

  private enum Column: Int32, QueryColumn {
    case id, act, state, conversation, target, nonce, arguments, payload, createdAt, attempts, triedAt, notBefore
    case rev, fault, isRepeated
  }

  private static let columns = """
    id, act, state, conversation, target, nonce, arguments, payload, created_at, attempts, tried_at, not_before, rev,
    fault, is_repeated
    """

  /// Holds for all but acts on a message that neither is there nor waits, because the hub has lost it: they wait in case
  /// that it comes back.
  private static let hasMessage = """
    (state = 3 OR act NOT IN (2, 3, 4) OR EXISTS (SELECT 1 FROM waiting WHERE uuid = outbox.target)
    OR EXISTS (SELECT 1 FROM message WHERE uuid IN (
      SELECT outbox.target UNION ALL SELECT message FROM message_alias WHERE uuid = outbox.target)))
    """

  /// Adds an operation at the end.
  ///
  /// A nonce that is in the journal is taken from there: its message went with what the hub has lost.
  package func append(_ operation: NewOperation, at time: Timestamp) throws -> OutboxKey {
    if operation.act == .say {
      var free = try store.connection.prepare("UPDATE outbox SET nonce = randomblob(16) WHERE nonce = ? AND state = 4")
      free.bind(operation.nonce)
      try free.run()
    }
    var insert = try store.connection.prepare(
      """
      INSERT INTO outbox (act, conversation, target, nonce, arguments, payload, created_at, not_before)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """)
    insert.bind(operation.act.rawValue)
    insert.bind(operation.conversation)
    insert.bind(operation.target)
    insert.bind(operation.nonce)
    insert.bind(operation.arguments)
    insert.bind(operation.payload)
    insert.bind(time)
    insert.bind(operation.notBefore)
    try insert.run()
    store.rings = true
    return OutboxKey(number: store.connection.lastInsertedRow)
  }

  /// The operations that are neither done nor refused, the oldest first, from a number on; none on messages that are lost.
  package func open(from key: OutboxKey = OutboxKey(number: 0), limit: Int = .max) throws -> [Row] {
    try rows("WHERE id >= ? AND state < 3 AND \(Self.hasMessage) ORDER BY id LIMIT ?") {
      $0.bind(key)
      $0.bind(limit)
    }
  }

  /// The operations that are not done, refused ones included, the oldest first; none on messages that are lost.
  package func pending() throws -> [Row] { try rows("WHERE state < 4 AND \(Self.hasMessage) ORDER BY id") { _ in } }

  package func row(at key: OutboxKey) throws -> Row? { try rows("WHERE id = ?") { $0.bind(key) }.first }

  package func row(nonce: Identifier) throws -> Row? { try rows("WHERE nonce = ?") { $0.bind(nonce) }.first }

  /// The operations on a message that are not done, the oldest first.
  package func pending(about target: Identifier) throws -> [Row] {
    try rows("WHERE target = ? AND state < 4 ORDER BY id") { $0.bind(target) }
  }

  /// The operations in a conversation that are not done, the oldest first.
  package func pending(in conversation: ConversationKey) throws -> [Row] {
    try rows("WHERE conversation = ? AND state < 4 ORDER BY id") { $0.bind(conversation) }
  }

  /// The operations in a conversation that the hub has ordered after a rev, in the order in which they were done here.
  package func done(in conversation: ConversationKey, after rev: Int64) throws -> [Row] {
    try rows("WHERE conversation = ? AND state = 4 AND rev > ? ORDER BY id") {
      $0.bind(conversation)
      $0.bind(rev)
    }
  }

  /// The number of operations that wait, but for those on messages that are lost, and of those that were refused.
  package func counts() throws -> (queued: Int, refused: Int) {
    var statement = try store.connection.prepare(
      text: """
        SELECT count(*) FILTER (WHERE state < 3), count(*) FILTER (WHERE state = 3) FROM outbox
        WHERE state < 4 AND \(Self.hasMessage)
        """)
    return try statement.step() ? (statement.int(0), statement.int(1)) : (0, 0)
  }

  private func rows(_ condition: String, _ bind: (inout Statement) -> Void) throws -> [Row] {
    var statement = try store.connection.prepare(text: "SELECT \(Self.columns) FROM outbox \(condition)")
    bind(&statement)
    assert(statement.has(Column.self))
    var rows: [Row] = []
    while try statement.step() {
      // A later version may have queued another act.
      guard let act = Act(rawValue: statement.int64(Column.act)),
        let state = State(rawValue: statement.int64(Column.state))
      else { continue }
      rows.append(
        Row(
          key: OutboxKey(number: statement.int64(Column.id)), act: act, state: state,
          conversation: statement.isNull(Column.conversation) ? nil : statement.conversationKey(Column.conversation),
          target: statement.optionalIdentifier(Column.target.rawValue), nonce: statement.identifier(Column.nonce),
          arguments: statement.text(Column.arguments),
          payload: statement.withBytes(Column.payload) { $0.map(Array.init) },
          createdAt: statement.timestamp(Column.createdAt), attempts: statement.int(Column.attempts),
          triedAt: statement.optionalTimestamp(Column.triedAt),
          notBefore: statement.optionalTimestamp(Column.notBefore), rev: statement.optionalInt64(Column.rev),
          fault: statement.optionalText(Column.fault), isRepeated: statement.bool(Column.isRepeated)))
    }
    return rows
  }

  // MARK: What becomes of them

  /// Records, before a push, that operations are tried: from then on the hub may have them.
  package func begin(_ keys: [OutboxKey], at time: Timestamp) throws {
    var update = try store.connection.prepare(
      """
      UPDATE outbox SET state = 1, attempts = attempts + 1, tried_at = ?1 WHERE state < 3
      AND id IN (SELECT value FROM json_each(?2))
      """)
    update.bind(time)
    update.bind(jsonArray(keys))
    try update.run()
  }

  /// Queues all operations again whose outcome is uncertain.
  ///
  /// - Parameter acknowledged: whether also those that the hub has ordered, because its state is another one.
  package func requeue(acknowledged: Bool) throws {
    var update = try store.connection.prepare("UPDATE outbox SET state = 0 WHERE state = 1 OR ?1 AND state = 2")
    update.bind(acknowledged)
    try update.run()
  }

  package func acknowledge(_ key: OutboxKey, rev: Int64?) throws {
    var update = try store.connection.prepare("UPDATE outbox SET state = 2, rev = ?2 WHERE id = ?1 AND state < 3")
    update.bind(key)
    update.bind(rev)
    try update.run()
  }

  /// Ends an operation, because it is in the log; its texts are kept no longer.
  package func finish(_ key: OutboxKey, rev: Int64?) throws {
    var update = try store.connection.prepare(
      "UPDATE outbox SET state = 4, rev = coalesce(?2, rev), payload = NULL, fault = NULL WHERE id = ?1")
    update.bind(key)
    update.bind(rev)
    try update.run()
  }

  /// Ends an operation that the hub never had, so that its nonce can be used again.
  package func cancel(_ key: OutboxKey) throws {
    var update = try store.connection.prepare(
      "UPDATE outbox SET state = 4, payload = NULL, fault = NULL, nonce = randomblob(16) WHERE id = ?")
    update.bind(key)
    try update.run()
  }

  package func refuse(_ key: OutboxKey, _ fault: String) throws {
    var update = try store.connection.prepare("UPDATE outbox SET state = 3, fault = ?2 WHERE id = ?1 AND state < 4")
    update.bind(key)
    update.bind(fault)
    try update.run()
  }

  /// Refuses all that the hub has not acknowledged.
  package func refuseQueued(_ fault: String) throws {
    var update = try store.connection.prepare("UPDATE outbox SET state = 3, fault = ? WHERE state < 2")
    update.bind(fault)
    try update.run()
  }

  /// When the hub takes the first of the operations that it has postponed; nil if it has postponed none.
  package func postponedUntil() throws -> Timestamp? {
    var statement = try store.connection.prepare(
      "SELECT min(not_before) FROM outbox WHERE state = 0 AND not_before > ? AND not_before < ?")
    statement.bind(Timestamp.now)
    statement.bind(Timestamp.forever)
    return try statement.step() ? statement.optionalTimestamp(0) : nil
  }

  /// Queues an operation again, not to be tried earlier than a time.
  package func postpone(_ key: OutboxKey, until time: Timestamp?) throws {
    var update = try store.connection.prepare(
      "UPDATE outbox SET state = 0, fault = NULL, not_before = ?2 WHERE id = ?1 AND state < 4")
    update.bind(key)
    update.bind(time)
    try update.run()
    store.rings = true
  }

  /// Replaces what an operation says that the hub cannot have yet.
  package func replace(_ payload: [UInt8], of key: OutboxKey) throws {
    var update = try store.connection.prepare("UPDATE outbox SET payload = ?2 WHERE id = ?1")
    update.bind(key)
    update.bind(payload)
    try update.run()
  }

  package func delete(_ key: OutboxKey) throws {
    var delete = try store.connection.prepare("DELETE FROM outbox WHERE id = ?")
    delete.bind(key)
    try delete.run()
  }

  /// Deletes operations that were done before a time, and those whose message has not come back since then.
  package func deleteDone(before time: Timestamp) throws {
    var delete = try store.connection.prepare(
      text: "DELETE FROM outbox WHERE created_at < ? AND (state = 4 OR NOT \(Self.hasMessage))")
    delete.bind(time)
    try delete.run()
  }
}
