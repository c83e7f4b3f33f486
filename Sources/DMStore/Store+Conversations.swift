package import DMModel

extension Store {
  /// What all participants see alike.
  package struct ConversationRow {
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

  package func conversation(_ id: Identifier) throws -> ConversationRow? {
    var statement = try connection.prepare(
      "SELECT id, uuid, direct_low IS NULL, is_imported, last_seq, last_activity, expire_after FROM conversation WHERE uuid = ?"
    )
    statement.bind(id)
    return try row(&statement)
  }

  package func conversation(key: ConversationKey) throws -> ConversationRow? {
    var statement = try connection.prepare(
      "SELECT id, uuid, direct_low IS NULL, is_imported, last_seq, last_activity, expire_after FROM conversation WHERE id = ?"
    )
    statement.bind(key)
    return try row(&statement)
  }

  /// The conversation of two users, or of one user with themselves.
  package func directConversation(_ one: UserKey, _ other: UserKey) throws -> ConversationRow? {
    var statement = try connection.prepare(
      """
      SELECT id, uuid, direct_low IS NULL, is_imported, last_seq, last_activity, expire_after FROM conversation
      WHERE direct_low = ? AND direct_high = ?
      """)
    statement.bind(min(one, other))
    statement.bind(max(one, other))
    return try row(&statement)
  }

  /// A group that the user has left is found by the title that it had then.
  ///
  /// CROSS JOIN keeps SQLite from going through all of a user's conversations instead (optoverview.html, section 7).
  static let ownGroups: StaticString = """
    SELECT c.id, uuid, 1, is_imported, last_seq, c.last_activity, expire_after, 0 AS is_former FROM conversation c
    CROSS JOIN participant p ON p.conversation = c.id WHERE title = ?1 AND p.user = ?2 AND p.left_seq IS NULL
    UNION ALL
    SELECT c.id, uuid, 1, is_imported, last_seq, last_activity, c.expire_after, 1 FROM former f
    CROSS JOIN conversation c ON c.id = f.conversation WHERE f.user = ?2 AND f.title = ?1
    ORDER BY is_former, 1
    """

  /// The groups of that title that a user is in, or, without a user, that an import made.
  package func groups(titled title: String, of user: UserKey?) throws -> [ConversationRow] {
    var statement =
      user == nil
      ? try connection.prepare(
        """
        SELECT id, uuid, 1, is_imported, last_seq, last_activity, expire_after FROM conversation
        WHERE title = ? AND is_imported ORDER BY id
        """)
      : try connection.prepare(Self.ownGroups)
    statement.bind(title)
    if let user { statement.bind(user) }
    var groups: [ConversationRow] = []
    while let group = try row(&statement) { groups.append(group) }
    return groups
  }

  private func row(_ statement: inout Statement) throws -> ConversationRow? {
    guard try statement.step() else { return nil }
    let row = ConversationRow(
      key: statement.conversationKey(0), id: statement.identifier(1), isGroup: statement.bool(2),
      isImported: statement.bool(3), lastSeq: try statement.lastSeq(4),
      expireAfter: statement.optionalInt(6).map(Int64.init),
      lastActivity: statement.timestamp(5))
    conversationIDs[row.key.number] = row.id
    return row
  }

  package func conversationID(_ key: ConversationKey) throws -> Identifier {
    if let known = conversationIDs[key.number] { return known }
    var statement = try connection.prepare("SELECT uuid FROM conversation WHERE id = ?")
    statement.bind(key)
    let id = try statement.step() ? statement.identifier(0) : Identifier(high: 0, low: 0)
    conversationIDs[key.number] = id
    return id
  }

  /// The keys of a user's conversations that have unread messages, or of all.
  package func conversationKeys(of user: UserKey, unreadOnly: Bool) throws -> [ConversationKey] {
    var statement = try connection.prepare(
      """
      SELECT p.conversation FROM participant p JOIN conversation c ON c.id = p.conversation
      WHERE p.user = ? AND (NOT ? OR coalesce(p.left_seq, c.last_seq) > p.read_count) ORDER BY p.conversation
      """)
    statement.bind(user)
    statement.bind(unreadOnly)
    return try conversationKeys(&statement)
  }

  /// Whether a user wants no notice of a conversation at a moment.
  package func isMuted(_ conversation: ConversationKey, for user: UserKey, at time: Timestamp) throws -> Bool {
    var statement = try connection.prepare(
      "SELECT 1 FROM participant WHERE conversation = ? AND user = ? AND muted_until > ?")
    statement.bind(conversation)
    statement.bind(user)
    statement.bind(time)
    return try statement.step()
  }

  // MARK: Writing

  package enum NewConversation {
    case direct(UserKey, UserKey)
    case group(title: String?)
  }

  package func insertConversation(
    _ kind: NewConversation, id: Identifier? = nil, isImported: Bool = false, creator: UserKey?,
    participants: [UserKey],
    at time: Timestamp
  ) throws -> ConversationRow {
    let id = id ?? Identifier(at: time)
    let pair: (low: UserKey, high: UserKey)?
    let title: String?
    switch kind {
    case .direct(let one, let other): (pair, title) = ((min(one, other), max(one, other)), nil)
    case .group(let given): (pair, title) = (nil, given)
    }
    var statement = try connection.prepare(
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
    let key = ConversationKey(number: connection.lastInsertedRow)
    for user in participants { try join(key, user) }
    // Somebody has to be able to look after a group.
    if pair == nil, let owner = participants.first(where: { $0 == creator }) ?? participants.first {
      try setOwner(owner, of: key)
    }
    try applyBlocks(toThoseWhoJoined: participants, key)
    // An import tells of each only once, when it is whole.
    if !isImported { try append(.conversation, conversation: key, user: creator, at: .now) }
    return ConversationRow(
      key: key, id: id, isGroup: pair == nil, isImported: isImported, lastSeq: 0, lastActivity: time)
  }

  /// Has a conversation found by another id too.
  package func insertAlias(_ id: Identifier, of conversation: ConversationKey) throws {
    var statement = try connection.prepare(
      "INSERT INTO conversation_alias (uuid, conversation) VALUES (?, ?) ON CONFLICT DO NOTHING")
    statement.bind(id)
    statement.bind(conversation)
    try statement.run()
  }

  /// The conversation that an imported id means here.
  package func conversation(alias id: Identifier) throws -> ConversationRow? {
    var statement = try connection.prepare("SELECT conversation FROM conversation_alias WHERE uuid = ?")
    statement.bind(id)
    return try statement.step() ? try conversation(key: statement.conversationKey(0)) : nil
  }
}
