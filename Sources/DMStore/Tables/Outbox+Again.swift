package import DMModel

// Reads: outbox.
// Writes: outbox.

/// The operations that are pushed again because the hub was restored.
extension Outbox {
  /// Marks the unfinished operations of a conversation as repeated, because the hub was restored; a report is not, because
  /// the hub would then ignore a new reason.
  ///
  /// If the hub refuses a repeated operation because the hub lacks the conversation, message or user, the operation is
  /// postponed, and does not count as refused.
  package func repeatOpen(in conversation: ConversationKey) throws {
    var update = try store.connection.prepare(
      "UPDATE outbox SET is_repeated = 1 WHERE conversation = ? AND state < 3 AND act <> 15")
    update.bind(conversation)
    try update.run()
  }

  /// Queues a finished operation again, because the hub was restored and may have lost the operation's entry.
  ///
  /// - Parameter arguments: the new arguments; nil to keep the old arguments.
  package func queueAgain(_ key: OutboxKey, _ payload: [UInt8]?, arguments: String? = nil) throws {
    var update = try store.connection.prepare(
      """
      UPDATE outbox SET state = 0, payload = ?2, arguments = coalesce(?3, arguments), is_repeated = 1, rev = NULL,
        not_before = NULL, fault = NULL
      WHERE id = ?1 AND state = 4
      """)
    update.bind(key)
    update.bind(payload)
    update.bind(arguments)
    try update.run()
    store.rings = true
  }

  /// An SQL condition for the finished changes of the profile.
  private static let isDoneProfile = "state = 4 AND act = \(Act.profile.stored) AND target IS NULL"

  /// The rev of the user's profile that was last read from the hub after this store changed the profile; `rev` if none
  /// was read since then; nil if this store has not changed the profile in the last 30 days.
  package func profileRev(or rev: Int64) throws -> Int64? {
    var statement = try store.connection.prepare(
      text: "SELECT coalesce(rev, ?) FROM outbox WHERE \(Self.isDoneProfile) ORDER BY id DESC LIMIT 1")
    statement.bind(rev)
    return try statement.step() ? statement.int64(0) : nil
  }

  /// Deletes the finished changes of the profile, so that a restored hub's profile replaces the one of this store.
  package func forgetProfiles() throws {
    try store.connection.execute("DELETE FROM outbox WHERE \(Self.isDoneProfile)")
  }

  /// Records the rev of the user's profile that was read from the hub, with the finished changes of the profile.
  package func note(profileRev rev: Int64) throws {
    var update = try store.connection.prepare(text: "UPDATE outbox SET rev = ? WHERE \(Self.isDoneProfile)")
    update.bind(rev)
    try update.run()
  }

  /// Replaces the arguments of an operation: the fields that the hub reads.
  package func set(arguments: String, of key: OutboxKey) throws {
    var update = try store.connection.prepare("UPDATE outbox SET arguments = ?2 WHERE id = ?1")
    update.bind(key)
    update.bind(arguments)
    try update.run()
  }

  /// Makes the repeated operations of a conversation due now: operations that were postponed until the hub reports the
  /// conversation, and operations that the hub has refused with `other_members`.
  package func wake(in conversation: ConversationKey) throws {
    var update = try store.connection.prepare(
      """
      UPDATE outbox SET not_before = NULL, state = 0, fault = NULL
      WHERE conversation = ? AND state < 4 AND is_repeated AND (state = 0 OR state = 3 AND fault = 'other_members')
      """)
    update.bind(conversation)
    try update.run()
  }

  /// Whether the user has deleted a message for everyone.
  ///
  /// Linear in the number of operations of the last 30 days.
  func hasDeletion(of target: Identifier) throws -> Bool {
    var statement = try store.connection.prepare("SELECT 1 FROM outbox WHERE target = ? AND act = ?")
    statement.bind(target)
    statement.bind(Act.delete.rawValue)
    return try statement.step()
  }
}
