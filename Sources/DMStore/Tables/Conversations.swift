package import DMModel

// Reads: conversation, conversation_alias.
// Writes: conversation, conversation_alias, participant.

/// The conversations: their ids, titles and last messages, and the lists in which users see them.
package struct Conversations {
  let store: Store

  /// The state of a conversation, which is the same for all participants except for the fields about the acting user.
  package struct Row {
    package let key: ConversationKey
    package let id: Identifier
    package let isGroup: Bool
    package let isImported: Bool
    /// The number of the last message.
    package var lastSeq: Int
    /// The number of the last message before the acting user left; nil unless they have left.
    package var leftSeq: Int? = nil
    /// The number of the last message that the acting user may see.
    package var lastVisibleSeq: Int { leftSeq ?? lastSeq }
    /// The lifetime of new messages in microseconds.
    package var expireAfter: Int64? = nil
    /// The reference that the user typed, for the texts of errors; nil if the user typed none, so that errors contain
    /// the UUID.
    package var reference: String? = nil
    package var typed: String { reference ?? id.description }
    /// Whether the acting user is an owner of the conversation.
    package var isOwner = false
    /// The key of the last message that was inserted with this row in the current transaction.
    var newMessage: MessageKey? = nil
    package var lastActivity: Timestamp
  }

  /// The maximum number of participants for which each participant's row repeats the time of the last message.
  ///
  /// In a larger group, each send would have to write too many rows.
  package static let smallGroup = 64

  package func hasAny() throws -> Bool {
    var statement = try store.connection.prepare("SELECT 1 FROM conversation LIMIT 1")
    return try statement.step()
  }

  package func row(_ id: Identifier) throws -> Row? {
    var statement = try store.connection.prepare(
      as: "conversation by id", "SELECT \(Self.rowColumns) FROM conversation c WHERE c.uuid = ?")
    statement.bind(id)
    return try row(&statement)
  }

  package func row(key: ConversationKey) throws -> Row? {
    var statement = try store.connection.prepare(
      as: "conversation by key", "SELECT \(Self.rowColumns) FROM conversation c WHERE c.id = ?")
    statement.bind(key)
    return try row(&statement)
  }

  /// The direct conversation of two users, or of one user with themselves; nil if there is none.
  package func direct(_ one: UserKey, _ other: UserKey) throws -> Row? {
    var statement = try store.connection.prepare(
      as: "direct conversation",
      "SELECT \(Self.rowColumns) FROM conversation c WHERE c.direct_low = ? AND c.direct_high = ?")
    statement.bind(min(one, other))
    statement.bind(max(one, other))
    return try row(&statement)
  }

  /// The columns that a query must select so that `row` can read its rows.
  private enum Column: Int32, QueryColumn {
    case key, id, isGroup, isImported, lastSeq, lastActivity, expireAfter
  }

  static let rowColumns = """
    c.id AS key, c.uuid AS id, c.direct_low IS NULL AS is_group, c.is_imported, c.last_seq, c.last_activity, c.expire_after
    """

  /// The next row of a query that selects `rowColumns`.
  func row(_ statement: inout Statement) throws -> Row? {
    assert(statement.has(Column.self))
    guard try statement.step() else { return nil }
    let row = Row(
      key: statement.conversationKey(Column.key), id: statement.identifier(Column.id),
      isGroup: statement.bool(Column.isGroup),
      isImported: statement.bool(Column.isImported), lastSeq: try statement.lastSeq(Column.lastSeq),
      expireAfter: statement.optionalInt(Column.expireAfter).map(Int64.init),
      lastActivity: statement.timestamp(Column.lastActivity))
    store.conversationIDs[row.key.number] = row.id
    return row
  }

  package func id(_ key: ConversationKey) throws -> Identifier {
    if let cached = store.conversationIDs[key.number] { return cached }
    var statement = try store.connection.prepare("SELECT uuid FROM conversation WHERE id = ?")
    statement.bind(key)
    let id = try statement.step() ? statement.identifier(0) : Identifier(high: 0, low: 0)
    store.conversationIDs[key.number] = id
    return id
  }

  // MARK: Writing

  package enum NewConversation {
    case direct(UserKey, UserKey)
    case group(title: String?)
  }

  package func insert(
    _ kind: NewConversation, id: Identifier? = nil, isImported: Bool = false, creator: UserKey?, at time: Timestamp
  ) throws -> Row {
    let id = id ?? Identifier(at: time)
    let pair: (low: UserKey, high: UserKey)?
    let title: String?
    switch kind {
    case .direct(let one, let other): (pair, title) = ((min(one, other), max(one, other)), nil)
    case .group(let given): (pair, title) = (nil, given)
    }
    var statement = try store.connection.prepare(
      """
      INSERT INTO conversation (uuid, direct_low, direct_high, title, is_imported, creator, created_at, last_activity)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """)
    statement.bind(id)
    statement.bind(pair?.low)
    statement.bind(pair?.high)
    statement.bind(title)
    statement.bind(isImported)
    statement.bind(creator)
    statement.bind(time)
    statement.bind(time)
    try statement.run()
    let key = ConversationKey(number: store.connection.lastInsertedRow)
    return Row(
      key: key, id: id, isGroup: pair == nil, isImported: isImported, lastSeq: 0, lastActivity: time)
  }

  /// Adds a second id by which a conversation can be found.
  package func insertAlias(_ id: Identifier, of conversation: ConversationKey) throws {
    var statement = try store.connection.prepare(
      "INSERT INTO conversation_alias (uuid, conversation) VALUES (?, ?) ON CONFLICT DO NOTHING")
    statement.bind(id)
    statement.bind(conversation)
    try statement.run()
  }

  /// Replaces the id of a conversation.
  package func set(_ id: Identifier, of conversation: ConversationKey) throws {
    var update = try store.connection.prepare("UPDATE conversation SET uuid = ? WHERE id = ?")
    update.bind(id)
    update.bind(conversation)
    try update.run()
    store.conversationIDs[conversation.number] = id
  }

  /// The user who created a conversation; nil if the creator is unknown.
  package func creator(of conversation: ConversationKey) throws -> UserKey? {
    var statement = try store.connection.prepare("SELECT creator FROM conversation WHERE id = ?")
    statement.bind(conversation)
    return try statement.step() ? statement.optionalUserKey(0) : nil
  }

  /// The second id of a conversation; nil if there is none.
  package func alias(of conversation: ConversationKey) throws -> Identifier? {
    var statement = try store.connection.prepare(
      """
      SELECT a.uuid FROM conversation_alias a JOIN conversation c ON c.id = a.conversation
      WHERE a.conversation = ? AND a.uuid <> c.uuid
      """)
    statement.bind(conversation)
    return try statement.step() ? statement.identifier(0) : nil
  }

  /// The conversation with a second id: its id in an import, or its id before the hub gave it another one.
  package func row(alias id: Identifier) throws -> Row? {
    var statement = try store.connection.prepare("SELECT conversation FROM conversation_alias WHERE uuid = ?")
    statement.bind(id)
    return try statement.step() ? try row(key: statement.conversationKey(0)) : nil
  }

  /// Writes the last message and the time of the last activity into the row of a conversation and the rows of its
  /// participants.
  ///
  /// - Parameters:
  ///   - added: the number of messages that were added at the end.
  ///   - user: the only user who has read the added messages; nil if they count as read for all participants.
  ///   - sender: the sender of the added messages. For users who block the sender, the messages count as hidden, and
  ///     the time of the last activity does not change.
  package func update(_ row: Row, added: Int, readBy user: UserKey?, sender: UserKey?) throws {
    do {
      var end = try store.connection.prepare(
        "UPDATE conversation SET last_seq = ?, last_message = ?, last_activity = ? WHERE id = ?")
      end.bind(row.lastSeq)
      end.bind(row.newMessage)
      end.bind(row.lastActivity)
      end.bind(row.key)
      try end.run()
    }
    let blockers = try sender.map { try store.blocks.blockers(of: $0) } ?? []
    var participants =
      blockers.isEmpty
      ? try store.connection.prepare(as: "count new messages", Self.counting)
      : try store.connection.prepare(
        as: "count new messages, except for some", Self.counting + " AND user NOT IN (SELECT value FROM json_each(?5))")
    participants.bind(row.lastActivity)
    participants.bind(row.key)
    participants.bind(added)
    participants.bind(user)
    if !blockers.isEmpty { participants.bind(jsonArray(blockers)) }
    try participants.run()
    for blocker in blockers {
      // If messages count as read for all participants, they count as read for a participant who blocks the sender,
      // too.
      var hide = try store.connection.prepare(
        """
        UPDATE participant SET blocked_count = blocked_count + ?3, read_count = read_count + ?4
        WHERE conversation = ?1 AND user = ?2 AND left_seq IS NULL
        """)
      hide.bind(row.key)
      hide.bind(blocker)
      hide.bind(user == nil ? 0 : added)
      hide.bind(user == nil ? added : 0)
      try hide.run()
    }
  }

  private static let counting = """
    UPDATE participant SET last_activity = iif(last_activity IS NULL, NULL, ?1),
      read_count = read_count + iif(coalesce(user = ?4, 1), ?3, 0)
    WHERE conversation = ?2 AND left_seq IS NULL AND (last_activity IS NOT NULL OR coalesce(user = ?4, 1))
    """

  /// An attribute that is the same for all participants.
  package enum Attribute {
    case title(String)
    case avatarURL(String?)
    case expireAfter(Int64?)
  }

  package func set(_ attribute: Attribute, of conversation: ConversationKey) throws {
    var before: String?
    if case .avatarURL = attribute { before = try avatarURL(of: conversation) }
    var statement =
      switch attribute {
      case .title: try store.connection.prepare("UPDATE conversation SET title = ? WHERE id = ?")
      case .avatarURL: try store.connection.prepare("UPDATE conversation SET avatar_url = ? WHERE id = ?")
      case .expireAfter: try store.connection.prepare("UPDATE conversation SET expire_after = ? WHERE id = ?")
      }
    switch attribute {
    case .title(let title): statement.bind(title)
    case .avatarURL(let url): statement.bind(url)
    case .expireAfter(let microseconds): statement.bind(microseconds)
    }
    statement.bind(conversation)
    try statement.run()
    try store.pictures.release(before)
  }

  package func avatarURL(of conversation: ConversationKey) throws -> String? {
    var statement = try store.connection.prepare("SELECT avatar_url FROM conversation WHERE id = ?")
    statement.bind(conversation)
    return try statement.step() ? statement.optionalText(0) : nil
  }
}
