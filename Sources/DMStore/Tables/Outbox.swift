package import DMModel

// Reads: message, message_alias, outbox, waiting.
// Writes: outbox.

/// The operations that a linked store queues for its hub, in the order in which the user did them.
package struct Outbox {
  let store: Store

  /// The kind of an operation, which is stored as a number.
  package enum Act: Int64, CaseIterable, Sendable {
    case say = 1
    case edit, delete, react, read, delivered, begin, group, add, remove, leave, title, avatar, expire, profile, report
    case pin
  }

  package enum State: Int64, Sendable {
    case queued = 0
    /// The push of the operation has begun, so the hub may have it.
    case sending
    /// The hub has ordered the operation, but the store has not pulled its entry yet.
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
    /// The other fields that the hub reads, as a JSON object.
    package var arguments = "{}"
    /// The fields that the hub does not read, as the bytes of a JSON object.
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

  private enum Column: Int32, QueryColumn {
    case id, act, state, conversation, target, nonce, arguments, payload, createdAt, attempts, triedAt, notBefore
    case rev, fault, isRepeated
  }

  private static let columns = """
    id, act, state, conversation, target, nonce, arguments, payload, created_at, attempts, tried_at, not_before, rev,
    fault, is_repeated
    """

  /// An SQL condition that leaves out operations on lost messages, which the store no longer has because a restored hub
  /// has lost them; these operations wait, because the messages may come back.
  private static let hasMessage = """
    (state = 3 OR act NOT IN (2, 3, 4) AND (act NOT IN (12, 15) OR target IS NULL) OR EXISTS (SELECT 1 FROM waiting WHERE uuid = outbox.target)
    OR EXISTS (SELECT 1 FROM message WHERE uuid IN (
      SELECT outbox.target UNION ALL SELECT message FROM message_alias WHERE uuid = outbox.target)))
    """

  /// Adds an operation at the end of the outbox.
  ///
  /// If a finished operation has the nonce of a new message, the hub has lost the earlier message, and the finished
  /// operation gets another nonce.
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
    insert.bind(operation.act.stored)
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

  /// The operations from a key on that are neither done nor refused, without those on lost messages, oldest first.
  package func open(from key: OutboxKey = OutboxKey(number: 0), limit: Int = .max) throws -> [Row] {
    try rows("WHERE id >= ? AND state < 3 AND \(Self.hasMessage) ORDER BY id LIMIT ?") {
      $0.bind(key)
      $0.bind(limit)
    }
  }

  /// The operations that are not done, oldest first: all refused operations, and the others without those on lost
  /// messages.
  package func pending() throws -> [Row] { try rows(Self.allPending) { _ in } }

  package func row(at key: OutboxKey) throws -> Row? { try rows("WHERE id = ?") { $0.bind(key) }.first }

  package func row(nonce: Identifier) throws -> Row? { try rows("WHERE nonce = ?") { $0.bind(nonce) }.first }

  /// The operations on a message that are not done, oldest first.
  package func pending(about target: Identifier) throws -> [Row] {
    try rows("WHERE target = ? AND state < 4 ORDER BY id") { $0.bind(target) }
  }

  // Most operations are done, so each query that looks for others has the condition of an index that holds no done ones.

  static let nextPostponed: StaticString = """
    SELECT min(not_before) FROM outbox WHERE state < 3 AND state = 0 AND not_before > ? AND not_before < ?
    """
  static let pendingOfOne = "WHERE conversation = ? AND state < 4 ORDER BY id"
  // The sign keeps SQLite from reading all rows in the order of their ids.
  static let allPending = "WHERE state < 4 AND \(hasMessage) ORDER BY +id"

  /// The operations in a conversation that are not done, oldest first.
  package func pending(in conversation: ConversationKey) throws -> [Row] {
    try rows(Self.pendingOfOne) { $0.bind(conversation) }
  }

  /// The finished operations in a conversation that have an entry, and the finished reports, which have none; in the
  /// order in which the user did them.
  package func done(in conversation: ConversationKey) throws -> [Row] {
    try rows("WHERE conversation = ? AND state = 4 AND (rev > 0 OR act = 15) ORDER BY id") { $0.bind(conversation) }
  }

  /// Counts queued and refused operations, without delivery receipts, and without queued operations on lost messages.
  package func counts() throws -> (queued: Int, oldestQueuedAt: Timestamp?, refused: Int) {
    var statement = try store.connection.prepare(
      text: """
        SELECT count(*) FILTER (WHERE state < 3), min(created_at) FILTER (WHERE state < 3),
          count(*) FILTER (WHERE state = 3) FROM outbox
        WHERE state < 4 AND act <> ? AND \(Self.hasMessage)
        """)
    statement.bind(Act.delivered.rawValue)
    return try statement.step()
      ? (statement.int(0), statement.optionalTimestamp(1), statement.int(2)) : (0, nil, 0)
  }

  private func rows(_ condition: String, _ bind: (inout Statement) -> Void) throws -> [Row] {
    var statement = try store.connection.prepare(text: "SELECT \(Self.columns) FROM outbox \(condition)")
    bind(&statement)
    assert(statement.has(Column.self))
    var rows: [Row] = []
    while try statement.step() {
      // A later version of dm may have queued an act that this version cannot read.
      guard let act = Act(stored: statement.int64(Column.act), hasTarget: !statement.isNull(Column.target)),
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

  // MARK: Changes of state

  /// Records the start of a push, before the operations are sent, because from then on the hub may have them.
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

  /// Queues again all operations whose outcome is uncertain.
  ///
  /// - Parameter acknowledged: whether to queue acknowledged operations, too, because the state of the hub has changed.
  package func requeue(acknowledged: Bool) throws {
    var update = try store.connection.prepare(
      "UPDATE outbox SET state = 0 WHERE state < 3 AND (state = 1 OR ?1 AND state = 2)")
    update.bind(acknowledged)
    try update.run()
  }

  package func acknowledge(_ key: OutboxKey, rev: Int64?) throws {
    var update = try store.connection.prepare("UPDATE outbox SET state = 2, rev = ?2 WHERE id = ?1 AND state < 3")
    update.bind(key)
    update.bind(rev)
    try update.run()
  }

  /// Finishes an operation, because its entry was pulled, and deletes its payload.
  package func finish(_ key: OutboxKey, rev: Int64?) throws {
    var update = try store.connection.prepare(
      "UPDATE outbox SET state = 4, rev = coalesce(?2, rev), payload = NULL, fault = NULL WHERE id = ?1")
    update.bind(key)
    update.bind(rev)
    try update.run()
  }

  /// Finishes an operation that the hub has not carried out, and makes its nonce available for another operation.
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

  /// Marks as refused all operations that the hub has neither acknowledged nor refused.
  package func refuseQueued(_ fault: String) throws {
    var update = try store.connection.prepare("UPDATE outbox SET state = 3, fault = ? WHERE state < 3 AND state < 2")
    update.bind(fault)
    try update.run()
  }

  /// The earliest time at which a postponed operation is due; nil if none is postponed.
  package func postponedUntil() throws -> Timestamp? {
    var statement = try store.connection.prepare(Self.nextPostponed)
    statement.bind(Timestamp.now)
    statement.bind(Timestamp.forever)
    return try statement.step() ? statement.optionalTimestamp(0) : nil
  }

  /// Queues an operation again, due at a time; if `isUndone`, the last attempt is not counted, because it had no effect.
  package func postpone(_ key: OutboxKey, until time: Timestamp?, isUndone: Bool = false) throws {
    var update = try store.connection.prepare(
      "UPDATE outbox SET state = 0, fault = NULL, not_before = ?2, attempts = attempts - ?3 WHERE id = ?1 AND state < 4"
    )
    update.bind(key)
    update.bind(time)
    update.bind(isUndone)
    try update.run()
    store.rings = true
  }

  /// Replaces the arguments or the payload of an operation that the hub cannot have yet.
  package func replace(arguments: String? = nil, payload: [UInt8]? = nil, of key: OutboxKey) throws {
    var update = try store.connection.prepare(
      "UPDATE outbox SET arguments = coalesce(?2, arguments), payload = coalesce(?3, payload) WHERE id = ?1")
    update.bind(key)
    update.bind(arguments)
    update.bind(payload)
    try update.run()
  }

  package func delete(_ key: OutboxKey) throws {
    var delete = try store.connection.prepare("DELETE FROM outbox WHERE id = ?")
    delete.bind(key)
    try delete.run()
  }

  /// Deletes the finished operations, and the operations on messages that the hub has lost, that are older than a time.
  package func deleteDone(before time: Timestamp) throws {
    var delete = try store.connection.prepare(
      text: "DELETE FROM outbox WHERE created_at < ? AND (state = 4 OR NOT \(Self.hasMessage))")
    delete.bind(time)
    try delete.run()
  }
}
