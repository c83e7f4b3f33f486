package import DMModel

// Reads: conversation, conversation_alias, former, participant.
// Writes: conversation, conversation_alias, participant.

/// Conversations: their ids, titles, ends, and the list of them that a user sees.
package struct Conversations {
  let store: Store

  /// What all participants see alike.
  package struct Row {
    package let key: ConversationKey
    package let id: Identifier
    package let isGroup: Bool
    package let isImported: Bool
    /// The last message that there is; for a user who has left, the last that they may see.
    package var lastSeq: Int
    /// Microseconds that what is said from now on lives.
    package var expireAfter: Int64? = nil
    /// The reference by which the user named it, for errors; its UUID where they named none.
    package var reference: String? = nil
    package var typed: String { reference ?? id.description }
    /// What the user who looks at it is in it.
    package var isMember = true
    package var isOwner = false
    /// The key of a message that was added to this row, so far in this transaction.
    var newMessage: MessageKey? = nil
    package var lastActivity: Timestamp
  }

  /// In larger groups a participant's row does not repeat the time of the last message, which would
  /// make each send cost as many writes as there are participants.
  package static let smallGroup = 64

  package func row(_ id: Identifier) throws -> Row? {
    var statement = try store.connection.prepare(
      as: "conversation by id", "SELECT \(Self.columns) FROM conversation c WHERE c.uuid = ?")
    statement.bind(id)
    return try row(&statement)
  }

  package func row(key: ConversationKey) throws -> Row? {
    var statement = try store.connection.prepare(
      as: "conversation by key", "SELECT \(Self.columns) FROM conversation c WHERE c.id = ?")
    statement.bind(key)
    return try row(&statement)
  }

  /// The conversation of two users, or of one user with themselves.
  package func direct(_ one: UserKey, _ other: UserKey) throws -> Row? {
    var statement = try store.connection.prepare(
      as: "direct conversation",
      "SELECT \(Self.columns) FROM conversation c WHERE c.direct_low = ? AND c.direct_high = ?")
    statement.bind(min(one, other))
    statement.bind(max(one, other))
    return try row(&statement)
  }

  /// A group that the user has left is found by the title that it had then.
  ///
  /// CROSS JOIN keeps SQLite from going through all of a user's conversations instead (optoverview.html, section 7).
  static let ownGroups = """
    SELECT \(columns), 0 AS is_former FROM conversation c
    CROSS JOIN participant p ON p.conversation = c.id WHERE title = ?1 AND p.user = ?2 AND p.left_seq IS NULL
    UNION ALL
    SELECT \(columns), 1 FROM former f
    CROSS JOIN conversation c ON c.id = f.conversation WHERE f.user = ?2 AND f.title = ?1
    ORDER BY is_former, 1
    """

  /// The groups of that title that a user is in, or, without a user, that an import made.
  package func groups(titled title: String, of user: UserKey?) throws -> [Row] {
    var statement =
      user == nil
      ? try store.connection.prepare(
        as: "imported groups",
        "SELECT \(Self.columns) FROM conversation c WHERE c.title = ? AND c.is_imported ORDER BY c.id")
      : try store.connection.prepare(as: "own groups", Self.ownGroups)
    statement.bind(title)
    if let user { statement.bind(user) }
    var groups: [Row] = []
    while let group = try row(&statement) { groups.append(group) }
    return groups
  }

  /// The columns that rows are read by.
  private enum Column: Int32, QueryColumn {
    case key, id, isGroup, isImported, lastSeq, lastActivity, expireAfter
  }

  private static let columns = """
    c.id AS key, c.uuid AS id, c.direct_low IS NULL AS is_group, c.is_imported, c.last_seq, c.last_activity, c.expire_after
    """

  private func row(_ statement: inout Statement) throws -> Row? {
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
    if let known = store.conversationIDs[key.number] { return known }
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

  /// Has a conversation found by another id too.
  package func insertAlias(_ id: Identifier, of conversation: ConversationKey) throws {
    var statement = try store.connection.prepare(
      "INSERT INTO conversation_alias (uuid, conversation) VALUES (?, ?) ON CONFLICT DO NOTHING")
    statement.bind(id)
    statement.bind(conversation)
    try statement.run()
  }

  /// The conversation that an imported id means here.
  package func row(alias id: Identifier) throws -> Row? {
    var statement = try store.connection.prepare("SELECT conversation FROM conversation_alias WHERE uuid = ?")
    statement.bind(id)
    return try statement.step() ? try row(key: statement.conversationKey(0)) : nil
  }

  /// Writes the end of a conversation into its row and those of its participants, and that the last `added`
  /// messages are no news to one user, or to anybody.
  ///
  /// - Parameters:
  ///   - sender: the user who said it; those who block them are told nothing.
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
    var participants = try store.connection.prepare(
      """
      UPDATE participant SET last_activity = iif(last_activity IS NULL, NULL, ?1),
        read_count = read_count + iif(coalesce(user = ?4, 1), ?3, 0)
      WHERE conversation = ?2 AND left_seq IS NULL AND (last_activity IS NOT NULL OR coalesce(user = ?4, 1))
      AND (?5 IS NULL OR user NOT IN (SELECT value FROM json_each(?5)))
      """)
    participants.bind(row.lastActivity)
    participants.bind(row.key)
    participants.bind(added)
    participants.bind(user)
    participants.bind(blockers.isEmpty ? nil : jsonArray(blockers))
    try participants.run()
    for blocker in blockers {
      // What counts as read by all does so for the blocker too.
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

  /// What all participants see alike, but for what was said.
  package enum Attribute {
    case title(String)
    case avatarURL(String?)
    case expireAfter(Int64?)
  }

  package func set(_ attribute: Attribute, of conversation: ConversationKey) throws {
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
  }
}
