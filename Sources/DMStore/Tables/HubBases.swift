package import DMModel

// Reads: hub_base, message, reaction.
// Writes: hub_base.

/// The state of a message on the hub, kept while the store shows the message with the user's queued changes.
package struct HubBases {
  let store: Store

  package struct Row: Equatable {
    package var text: String?
    package var editedAt: Timestamp?
    /// The reaction of the person who owns the store.
    package var emoji: String?
    package var emojiAt: Timestamp?

    /// Replaces the reaction.
    ///
    /// If the new reaction is the same, its time does not change.
    package mutating func react(_ emoji: String?, at time: Timestamp) {
      if self.emoji.map(ExactString.init) != emoji.map(ExactString.init) { (self.emoji, emojiAt) = (emoji, time) }
    }
  }

  private enum Column: Int32, QueryColumn { case text, editedAt, emoji, emojiAt }

  package func row(of message: MessageKey) throws -> Row? {
    var statement = try store.connection.prepare(
      "SELECT text, edited_at, emoji, emoji_at FROM hub_base WHERE message = ?")
    statement.bind(message)
    assert(statement.has(Column.self))
    guard try statement.step() else { return nil }
    return Row(
      text: statement.optionalText(Column.text), editedAt: statement.optionalTimestamp(Column.editedAt),
      emoji: statement.optionalText(Column.emoji), emojiAt: statement.optionalTimestamp(Column.emojiAt))
  }

  /// Stores the present state of a message as its state on the hub.
  ///
  /// If a state is stored already, it stays.
  package func keep(_ message: MessageKey, for user: UserKey) throws {
    var insert = try store.connection.prepare(
      """
      INSERT INTO hub_base (message, text, edited_at, emoji, emoji_at)
      SELECT m.id, m.text, m.edited_at, r.emoji, r.at FROM message m
      LEFT JOIN reaction r ON r.message = m.id AND r.user = ?2 WHERE m.id = ?1 ON CONFLICT DO NOTHING
      """)
    insert.bind(message)
    insert.bind(user)
    try insert.run()
  }

  package func update(_ message: MessageKey, to row: Row) throws {
    var update = try store.connection.prepare(
      "UPDATE hub_base SET text = ?2, edited_at = ?3, emoji = ?4, emoji_at = ?5 WHERE message = ?1")
    update.bind(message)
    update.bind(row.text)
    update.bind(row.editedAt)
    update.bind(row.emoji)
    update.bind(row.emojiAt)
    try update.run()
  }

  /// Deletes the stored state of a message that is now a tombstone, because no operation changes a tombstone.
  ///
  /// If the user had queued a deletion of the message, the message was hidden from them. The message is shown again
  /// now, as a tombstone, because the user's other stores show the tombstone, too.
  package func end(of message: Messages.Row) throws {
    guard try row(of: message.key) != nil, let me = try store.hub.row()?.user else { return }
    try delete(message.key)
    let (seq, conversation) = (message.address.seq, message.address.conversation)
    guard let id = try store.messages.identifier(of: message.address), try store.outbox.hasDeletion(of: id) else {
      return
    }
    _ = try store.readState.showAgain(seq...seq, to: me, in: conversation)
  }

  package func delete(_ message: MessageKey) throws {
    var delete = try store.connection.prepare("DELETE FROM hub_base WHERE message = ?")
    delete.bind(message)
    try delete.run()
  }
}
