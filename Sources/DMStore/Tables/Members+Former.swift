internal import DMModel

// Reads: change, conversation, former, participant, user.
// Writes: former.

extension Members {
  /// The current state of a group, for each former participant.
  private static let present = """
    SELECT p.user, c.id, c.title, c.avatar_url, c.expire_after, coalesce((SELECT group_concat(u.handle, ' ')
      FROM participant o JOIN user u ON u.id = o.user WHERE o.conversation = c.id AND o.left_seq IS NULL), ''),
      \(lastRev), \(delivered("c.id"))
    FROM participant p JOIN conversation c ON c.id = p.conversation WHERE p.left_seq IS NOT NULL
    """

  private static let into = """
    INSERT INTO former (user, conversation, title, avatar_url, expire_after, participants, left_rev, delivered)
    """
  private static let lastRev = "coalesce((SELECT max(rev) FROM change), 0)"

  /// The last message that each participant has received, as JSON.
  private static func delivered(_ conversation: String) -> String {
    """
    (SELECT json_group_object(d.user, d.delivered_seq) FROM participant d
      WHERE d.conversation = \(conversation) AND d.delivered_seq > 0)
    """
  }

  /// Stores the state of a conversation that a user who has just left continues to see.
  func insertFormer(_ user: UserKey, of conversation: ConversationKey) throws {
    var insert = try store.connection.prepare(
      as: "former", "\(Self.into) \(Self.present) AND p.conversation = ? AND p.user = ?")
    insert.bind(conversation)
    insert.bind(user)
    try insert.run()
  }

  func deleteFormer(_ user: UserKey, of conversation: ConversationKey) throws {
    var delete = try store.connection.prepare("DELETE FROM former WHERE user = ? AND conversation = ?")
    delete.bind(user)
    delete.bind(conversation)
    try delete.run()
  }

  /// Former participants without a row in `former`, and rows of users who are not former participants.
  package static let wrongFormers = """
    SELECT conversation, user FROM (SELECT conversation, user FROM participant WHERE left_seq IS NOT NULL
      EXCEPT SELECT conversation, user FROM former)
    UNION ALL SELECT conversation, user FROM (SELECT conversation, user FROM former
      EXCEPT SELECT conversation, user FROM participant WHERE left_seq IS NOT NULL)
    """

  /// Stores the current state of a group where a row is missing, as in a dump of an older store, and deletes rows of
  /// users who are not former participants.
  ///
  /// - Returns: the number of rows that were wrong.
  package func correctFormers() throws -> Int {
    try store.connection.execute(
      """
      DELETE FROM former WHERE (conversation, user) NOT IN
        (SELECT conversation, user FROM participant WHERE left_seq IS NOT NULL)
      """)
    let deleted = store.connection.changes
    try store.connection.execute(
      "\(Self.into) \(Self.present) AND (p.conversation, p.user) NOT IN (SELECT conversation, user FROM former)")
    return try deleted + store.connection.changes + completeFormers()
  }

  /// Stores which receipts there are now for former participants in rows of an older version, which did not note it.
  ///
  /// - Returns: their number.
  @discardableResult
  func completeFormers() throws -> Int {
    try store.connection.execute(
      """
      UPDATE former SET left_rev = \(Self.lastRev), delivered = \(Self.delivered("former.conversation"))
      WHERE left_rev IS NULL
      """)
    return store.connection.changes
  }
}
