package import DMModel

// Writes: outbox.

/// The operations that are pushed again because the hub was restored.
extension Outbox {
  /// Lets what is open in a conversation wait for it, if it is refused, because the hub was set back.
  package func repeatOpen(in conversation: ConversationKey) throws {
    var update = try store.connection.prepare(
      "UPDATE outbox SET is_repeated = 1 WHERE conversation = ? AND state < 3")
    update.bind(conversation)
    try update.run()
  }

  /// Queues an operation again that was done, because the hub was set back.
  ///
  /// - Parameter arguments: those that it has now; nil for those that it had.
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

  /// Replaces what the hub reads of an operation.
  package func set(arguments: String, of key: OutboxKey) throws {
    var update = try store.connection.prepare("UPDATE outbox SET arguments = ?2 WHERE id = ?1")
    update.bind(key)
    update.bind(arguments)
    try update.run()
  }

  /// Lets the operations of a conversation be tried again that wait until the hub names it, or were refused because
  /// others were in it.
  package func wake(in conversation: ConversationKey) throws {
    var update = try store.connection.prepare(
      """
      UPDATE outbox SET not_before = NULL, state = 0, fault = NULL
      WHERE conversation = ? AND is_repeated AND (state = 0 OR state = 3 AND fault = 'other_members')
      """)
    update.bind(conversation)
    try update.run()
  }
}
