package import DMModel

// Reads: conversation, own_name, participant.
// Writes: own_name.

extension Conversations {
  /// The conversation to which a user has given this name.
  package func row(ownName name: String, of user: UserKey) throws -> Row? {
    var statement = try store.connection.prepare("SELECT conversation FROM own_name WHERE user = ? AND name = ?")
    statement.bind(user)
    statement.bind(name)
    return try statement.step() ? try row(key: statement.conversationKey(0)) : nil
  }

  /// Gives a conversation a name that only the user sees and that is unique for them; nil removes it.
  package func setOwnName(_ name: String?, of user: UserKey, in conversation: ConversationKey) throws {
    do {
      var delete = try store.connection.prepare("DELETE FROM own_name WHERE user = ? AND conversation = ?")
      delete.bind(user)
      delete.bind(conversation)
      try delete.run()
    }
    guard let name else { return }
    var insert = try store.connection.prepare("INSERT INTO own_name (user, conversation, name) VALUES (?, ?, ?)")
    insert.bind(user)
    insert.bind(conversation)
    insert.bind(name)
    try insert.run()
  }

  /// The groups without a title that have exactly these users.
  ///
  /// Linear in the conversations of the first user.
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
