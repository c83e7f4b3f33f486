package import DMModel

extension Store {
  /// What of a conversation each participant decides for themselves.
  package enum OwnState {
    case pinned(Bool)
    case archived(Bool)
    case mutedUntil(Timestamp?)
    case draft(String?)
    /// Gone from the user's lists until something new is said.
    case deleted(Bool)
  }

  /// - Returns: whether a conversation is newly gone; otherwise true.
  @discardableResult
  package func set(_ state: OwnState, of user: UserKey, in conversation: ConversationKey) throws -> Bool {
    var statement =
      switch state {
      case .pinned: try connection.prepare("UPDATE participant SET is_pinned = ? WHERE conversation = ? AND user = ?")
      case .archived:
        try connection.prepare("UPDATE participant SET is_archived = ? WHERE conversation = ? AND user = ?")
      case .mutedUntil:
        try connection.prepare("UPDATE participant SET muted_until = ? WHERE conversation = ? AND user = ?")
      case .draft: try connection.prepare("UPDATE participant SET draft_text = ? WHERE conversation = ? AND user = ?")
      case .deleted:
        try connection.prepare(
          "UPDATE participant SET is_deleted = ?1 WHERE conversation = ?2 AND user = ?3 AND is_deleted <> ?1")
      }
    switch state {
    case .pinned(let value), .archived(let value), .deleted(let value): statement.bind(value)
    case .mutedUntil(let time): statement.bind(time)
    case .draft(let text): statement.bind(text)
    }
    statement.bind(conversation)
    statement.bind(user)
    try statement.run()
    return connection.changes > 0
  }

  package func draft(of user: UserKey, in conversation: ConversationKey) throws -> String? {
    var statement = try connection.prepare("SELECT draft_text FROM participant WHERE conversation = ? AND user = ?")
    statement.bind(conversation)
    statement.bind(user)
    return try statement.step() ? statement.optionalText(0) : nil
  }
}

extension Store {
  /// Whether a user is in one conversation with another that they do not block, of all or of some.
  package func sharesConversation(_ user: UserKey, _ other: String, among conversations: [ConversationKey]?) throws
    -> Bool
  {
    var statement = try connection.prepare(
      """
      SELECT 1 FROM user u CROSS JOIN participant o ON o.user = u.id AND o.left_seq IS NULL
      CROSS JOIN participant p ON p.conversation = o.conversation AND p.user = ?1 AND p.left_seq IS NULL
      WHERE u.handle = ?2 AND NOT EXISTS (SELECT 1 FROM block WHERE user = ?1 AND blocked = u.id) AND (?3 IS NULL OR p.conversation IN (SELECT value FROM json_each(?3))) LIMIT 1
      """)
    statement.bind(user)
    statement.bind(other)
    statement.bind(conversations.map(jsonArray))
    return try statement.step()
  }

  /// The users who show their presence, are in a conversation with a user and not blocked by them, by handle.
  package func contacts(of user: UserKey) throws -> [Handle] {
    var statement = try connection.prepare(
      """
      SELECT handle FROM user WHERE shows_presence AND id <> ?1 AND id IN (SELECT o.user FROM participant p
        JOIN participant o ON o.conversation = p.conversation AND o.left_seq IS NULL
        WHERE p.user = ?1 AND p.left_seq IS NULL)
      AND id NOT IN (SELECT blocked FROM block WHERE user = ?1) ORDER BY handle
      """)
    statement.bind(user)
    var handles: [Handle] = []
    while try statement.step() { handles.append(Handle(stored: statement.text(0))) }
    return handles
  }
}
