package import DMModel

// Reads: conversation, former, own_name, participant, user.
// Writes: own_name.

extension Conversations {
  /// The columns from which a label is made.
  private enum LabelColumn: Int32, QueryColumn {
    case isGroup, id, ownName, title, handle, isTaken
  }

  /// The title of a conversation for a user, and a reference that the user can type for it.
  package func label(of conversation: ConversationKey, for user: UserKey) throws -> ConversationLabel {
    var statement = try store.connection.prepare(
      """
      SELECT c.direct_low IS NULL AS is_group, c.uuid AS id, n.name AS own_name,
        iif(f.user IS NULL, c.title, f.title) AS title, u.handle,
        EXISTS (SELECT 1 FROM own_name o WHERE o.user = ?2 AND o.name = iif(f.user IS NULL, c.title, f.title))
        OR EXISTS (SELECT 1 FROM conversation o CROSS JOIN participant m ON m.conversation = o.id
          WHERE o.title = iif(f.user IS NULL, c.title, f.title) AND o.id <> c.id AND m.user = ?2 AND m.left_seq IS NULL)
        OR EXISTS (SELECT 1 FROM former o WHERE o.user = ?2 AND o.title = iif(f.user IS NULL, c.title, f.title)
          AND o.conversation <> c.id) AS is_taken
      FROM conversation c JOIN participant p ON p.conversation = c.id AND p.user = ?2
      LEFT JOIN own_name n ON n.user = ?2 AND n.conversation = c.id
      LEFT JOIN former f ON f.user = ?2 AND f.conversation = c.id
      LEFT JOIN user u ON u.id = iif(c.direct_low = ?2, c.direct_high, c.direct_low)
      WHERE c.id = ?1
      """)
    statement.bind(conversation)
    statement.bind(user)
    assert(statement.has(LabelColumn.self))
    guard try statement.step() else {
      // A user who imports other users' history need not be in the conversation.
      return ConversationLabel(
        title: nil, isGroup: try isGroup(conversation), reference: try id(conversation).description)
    }
    let isGroup = statement.bool(LabelColumn.isGroup)
    let id = statement.identifier(LabelColumn.id)
    if let name = statement.optionalText(LabelColumn.ownName) {
      return ConversationLabel(title: name, isGroup: isGroup, reference: "+\(name)")
    }
    if !isGroup {
      return ConversationLabel(
        title: statement.text(LabelColumn.handle), isGroup: false, reference: statement.text(LabelColumn.handle))
    }
    let title = statement.optionalText(LabelColumn.title)
    // If another conversation of the user has this title or own name, the title as a reference would be ambiguous.
    guard let title, !statement.bool(LabelColumn.isTaken) else {
      return ConversationLabel(title: title, isGroup: true, reference: id.description)
    }
    return ConversationLabel(title: title, isGroup: true, reference: "+\(title)")
  }

  /// The title of a conversation for a user; nil for a group without a title.
  package func title(of conversation: ConversationKey, as user: UserKey) throws -> String? {
    try label(of: conversation, for: user).title
  }

  private func isGroup(_ conversation: ConversationKey) throws -> Bool {
    var statement = try store.connection.prepare("SELECT direct_low IS NULL FROM conversation WHERE id = ?")
    statement.bind(conversation)
    return try statement.step() && statement.bool(0)
  }
}

extension Conversations {
  /// The conversation to which a user has given this own name; nil if there is none.
  package func row(ownName name: String, of user: UserKey) throws -> Row? {
    var statement = try store.connection.prepare("SELECT conversation FROM own_name WHERE user = ? AND name = ?")
    statement.bind(user)
    statement.bind(name)
    return try statement.step() ? try row(key: statement.conversationKey(0)) : nil
  }

  /// The own name that a user has given to a conversation; nil if there is none.
  package func ownName(of user: UserKey, for conversation: ConversationKey) throws -> String? {
    var statement = try store.connection.prepare("SELECT name FROM own_name WHERE user = ? AND conversation = ?")
    statement.bind(user)
    statement.bind(conversation)
    return try statement.step() ? statement.text(0) : nil
  }

  /// Gives a conversation an own name.
  ///
  /// Only the user sees this name, and they can give it to only one conversation.
  ///
  /// Nil removes the name.
  package func setOwnName(_ name: String?, of user: UserKey, in conversation: ConversationKey) throws {
    do {
      var delete = try store.connection.prepare("DELETE FROM own_name WHERE user = ? AND conversation = ?")
      delete.bind(user)
      delete.bind(conversation)
      try delete.run()
    }
    try store.hubOwnStates.note(conversation, by: user)
    guard let name else { return }
    var insert = try store.connection.prepare("INSERT INTO own_name (user, conversation, name) VALUES (?, ?, ?)")
    insert.bind(user)
    insert.bind(conversation)
    insert.bind(name)
    try insert.run()
  }

  /// The groups without a title whose participants are exactly these users.
  ///
  /// Linear in the number of conversations of the first user.
  package func untitledGroups(of users: [UserKey]) throws -> [Row] {
    var statement = try store.connection.prepare(
      """
      SELECT p.conversation FROM participant p CROSS JOIN conversation c ON c.id = p.conversation
      WHERE p.user = ?1 AND p.left_seq IS NULL AND c.direct_low IS NULL AND c.title IS NULL
      AND json_array_length(?2) = (SELECT count(*) FROM participant o
        WHERE o.conversation = c.id AND o.left_seq IS NULL)
      AND NOT EXISTS (SELECT 1 FROM participant o WHERE o.conversation = c.id AND o.left_seq IS NULL
        AND o.user NOT IN (SELECT value FROM json_each(?2)))
      ORDER BY c.id
      """)
    statement.bind(users.first)
    statement.bind(jsonArray(users))
    return try statement.conversationKeys().compactMap { try row(key: $0) }
  }
}
