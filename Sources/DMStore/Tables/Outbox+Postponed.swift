package import DMModel

// Reads: outbox.
// Writes: outbox.

/// The operations that wait because the user is over their quota, or until the hub reports a conversation.
extension Outbox {
  static let nextPostponed: StaticString = """
    SELECT min(not_before) FROM outbox WHERE state < 3 AND state = 0 AND not_before > ? AND not_before < ?
    """

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
}

extension Outbox.Row {
  /// Whether the operation is postponed because the user is over their quota; `Outbox.postponedUntil` has the same condition.
  package var isPostponed: Bool { state == .queued && notBefore.map { $0 > .now && $0 < .forever } == true }
}
