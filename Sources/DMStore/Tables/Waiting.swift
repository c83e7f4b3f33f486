package import DMModel

// Reads: message_alias, outbox, waiting.
// Writes: message_alias, waiting.

/// The messages that the user of a linked store has sent and that the hub has not numbered yet.
package struct Waiting {
  let store: Store

  package struct Row {
    package let key: OutboxKey
    package let id: Identifier
    package let conversation: ConversationKey
    package let createdAt: Timestamp
    package let text: String?
    package let nonce: String?
    package let replyTo: Identifier?
    package let forwardedFrom: UserKey?
    /// The lifetime in microseconds, which begins when the hub orders the message.
    package let lifetime: Int64?
    package let mentions: [Handle]
    package let editedAt: Timestamp?
    package let isHidden: Bool
    /// The code of the reason why the hub refused the message; nil while the message waits.
    package let fault: String?
  }

  private enum Column: Int32, QueryColumn {
    case place, uuid, conversation, createdAt, text, nonce, replyTo, forwardedFrom, lifetime, mentions, editedAt,
      isHidden
    case fault
  }

  private static let select = """
    SELECT w.place, w.uuid, w.conversation, w.created_at, w.text, w.nonce, w.reply_to, w.forwarded_from, w.lifetime,
      w.mentions, w.edited_at, w.is_hidden, o.fault FROM waiting w JOIN outbox o ON o.id = w.place
    """

  package func insert(
    _ message: Messages.NewMessage, id: Identifier, in conversation: ConversationKey, at key: OutboxKey,
    _ time: Timestamp
  ) throws {
    let mentions = try message.mentions.map { try store.users.handle($0).description }
    var insert = try store.connection.prepare(
      """
      INSERT INTO waiting (place, uuid, conversation, created_at, text, nonce, reply_to, forwarded_from, lifetime, mentions)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''))
      """)
    insert.bind(key)
    insert.bind(id)
    insert.bind(conversation)
    insert.bind(time)
    insert.bind(message.text)
    insert.bind(message.nonce)
    insert.bind(message.replyTo)
    insert.bind(message.forwardedFrom)
    insert.bind(message.lifetime)
    insert.bind(mentions.joined(separator: " "))
    try insert.run()
  }

  /// The waiting messages that are shown, oldest first.
  ///
  /// If `conversation` is nil, returns the messages of all conversations.
  package func shown(in conversation: ConversationKey?) throws -> [Row] {
    try rows("WHERE NOT w.is_hidden AND (?1 IS NULL OR w.conversation = ?1) ORDER BY w.place") {
      $0.bind(conversation)
    }
  }

  package func row(_ id: Identifier) throws -> Row? { try rows("WHERE w.uuid = ?") { $0.bind(id) }.first }

  package func row(at key: OutboxKey) throws -> Row? { try rows("WHERE w.place = ?") { $0.bind(key) }.first }

  package func row(nonce: String, in conversation: ConversationKey) throws -> Row? {
    try rows("WHERE w.conversation = ? AND w.nonce = ?") {
      $0.bind(conversation)
      $0.bind(nonce)
    }.first
  }

  private func rows(_ condition: String, _ bind: (inout Statement) -> Void) throws -> [Row] {
    var statement = try store.connection.prepare(text: "\(Self.select) \(condition)")
    bind(&statement)
    assert(statement.has(Column.self))
    var rows: [Row] = []
    while try statement.step() {
      rows.append(
        Row(
          key: OutboxKey(number: statement.int64(Column.place)), id: statement.identifier(Column.uuid),
          conversation: statement.conversationKey(Column.conversation),
          createdAt: statement.timestamp(Column.createdAt), text: statement.optionalText(Column.text),
          nonce: statement.optionalText(Column.nonce),
          replyTo: statement.optionalIdentifier(Column.replyTo.rawValue),
          forwardedFrom: statement.optionalUserKey(Column.forwardedFrom),
          lifetime: statement.optionalInt64(Column.lifetime),
          mentions: statement.text(Column.mentions).utf8.split(separator: 0x20).map {
            Handle(stored: String(Substring($0)))
          },
          editedAt: statement.optionalTimestamp(Column.editedAt), isHidden: statement.bool(Column.isHidden),
          fault: statement.optionalText(Column.fault)))
    }
    return rows
  }

  package func edit(_ key: OutboxKey, to text: String, mentioning users: [UserKey], at time: Timestamp) throws {
    let mentions = try users.map { try store.users.handle($0).description }
    var update = try store.connection.prepare(
      "UPDATE waiting SET text = ?2, mentions = nullif(?3, ''), edited_at = ?4 WHERE place = ?1")
    update.bind(key)
    update.bind(text)
    update.bind(mentions.joined(separator: " "))
    update.bind(time)
    try update.run()
  }

  package func setHidden(_ isHidden: Bool, _ key: OutboxKey) throws {
    var update = try store.connection.prepare("UPDATE waiting SET is_hidden = ?2 WHERE place = ?1")
    update.bind(key)
    update.bind(isHidden)
    try update.run()
  }

  /// Deletes a waiting message.
  ///
  /// The attachments of the message must have been released before.
  package func delete(_ key: OutboxKey) throws {
    var delete = try store.connection.prepare("DELETE FROM waiting WHERE place = ?")
    delete.bind(key)
    try delete.run()
  }

  /// Records under which id the hub keeps the message that waited under an id.
  ///
  /// After a hub was restored, the hub may keep a message under its own id that it had kept under another.
  package func record(_ message: Identifier, asHubIdOf id: Identifier) throws {
    var delete = try store.connection.prepare("DELETE FROM message_alias WHERE uuid = ?")
    delete.bind(id)
    try delete.run()
    if id == message { return }
    var insert = try store.connection.prepare("INSERT INTO message_alias (uuid, message) VALUES (?, ?)")
    insert.bind(id)
    insert.bind(message)
    try insert.run()
  }

  /// The ids under which a message waited, apart from the id that the hub has given it.
  package func aliases(of message: Identifier) throws -> [Identifier] {
    var statement = try store.connection.prepare("SELECT uuid FROM message_alias WHERE message = ?")
    statement.bind(message)
    var aliases: [Identifier] = []
    while try statement.step() { aliases.append(statement.identifier(0)) }
    return aliases
  }

  /// The id that the hub has given to the message that waited under this id; nil if there is none.
  package func alias(_ id: Identifier) throws -> Identifier? {
    var statement = try store.connection.prepare("SELECT message FROM message_alias WHERE uuid = ?")
    statement.bind(id)
    return try statement.step() ? statement.identifier(0) : nil
  }
}
