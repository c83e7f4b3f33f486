package import DMModel

// Reads: block, change, conversation, former, participant, user.
// Writes: former, participant.

/// The current and former participants of conversations, and the state that each of them decides for themselves.
package struct Members {
  let store: Store

  /// The conversations that both users are in or were in.
  package func sharedConversations(_ one: UserKey, _ other: UserKey) throws -> [ConversationKey] {
    var statement = try store.connection.prepare(
      """
      SELECT p.conversation FROM participant p JOIN participant o ON o.conversation = p.conversation AND o.user = ?2
      WHERE p.user = ?1 ORDER BY p.conversation
      """)
    statement.bind(one)
    statement.bind(other)
    return try statement.conversationKeys()
  }

  /// The current or former membership of a user in a conversation.
  package struct Membership: Equatable {
    package let isOwner: Bool
    /// The number of the last message that a former participant may see; nil for a current participant.
    package let leftSeq: Int?
    /// The number of the last message that was delivered to the user.
    package let deliveredSeq: Int
  }

  /// The membership of a user; nil if the user was never in the conversation.
  package func membership(of user: UserKey, in conversation: ConversationKey) throws -> Membership? {
    var statement = try store.connection.prepare(
      "SELECT is_owner, left_seq, delivered_seq FROM participant WHERE conversation = ? AND user = ?")
    statement.bind(conversation)
    statement.bind(user)
    guard try statement.step() else { return nil }
    return Membership(
      isOwner: statement.bool(0), leftSeq: statement.optionalInt(1), deliveredSeq: statement.int(2))
  }

  /// Whether a user is or was in a conversation.
  package func participates(_ user: UserKey, in conversation: ConversationKey) throws -> Bool {
    try membership(of: user, in: conversation) != nil
  }

  /// Whether a user is in a conversation now.
  package func isParticipant(_ user: UserKey, of conversation: ConversationKey) throws -> Bool {
    try membership(of: user, in: conversation).map { $0.leftSeq == nil } ?? false
  }

  package func participantKeys(of conversation: ConversationKey) throws -> [UserKey] {
    var statement = try store.connection.prepare(
      "SELECT user FROM participant WHERE conversation = ? AND left_seq IS NULL")
    statement.bind(conversation)
    return try statement.userKeys()
  }

  /// The handles and display names of the current and former participants, in the order of joining.
  package func names(in conversation: ConversationKey) throws -> [(handle: Handle, displayName: String?)] {
    var statement = try store.connection.prepare(
      """
      SELECT u.handle, u.display_name FROM participant p JOIN user u ON u.id = p.user WHERE p.conversation = ?
      ORDER BY p.joined_at, p.user
      """)
    statement.bind(conversation)
    var result: [(Handle, String?)] = []
    while try statement.step() { result.append((Handle(stored: statement.text(0)), statement.optionalText(1))) }
    return result
  }

  /// Makes a user a participant who sees all messages of the conversation.
  ///
  /// If the user is or was a participant, nothing happens.
  ///
  /// In a large conversation, this reads as few rows as in a small group.
  ///
  /// - Parameter time: the time at which the user joined; nil for the time at which the conversation was created.
  package func join(_ conversation: ConversationKey, _ user: UserKey, at time: Timestamp? = nil) throws {
    do {
      // NB: in a row where last_activity is NULL, `RETURNING last_activity IS NULL` returns 0 in SQLite 3.40.1.
      var statement = try store.connection.prepare(
        """
        INSERT INTO participant (conversation, user, joined_at, last_activity)
        SELECT c.id, ?2, coalesce(?3, created_at), iif(EXISTS (SELECT 1 FROM participant p
          WHERE p.conversation = c.id AND p.last_activity IS NULL), NULL, c.last_activity)
        FROM conversation c WHERE c.id = ?1 ON CONFLICT DO NOTHING RETURNING typeof(last_activity) = 'null'
        """)
      statement.bind(conversation)
      statement.bind(user)
      statement.bind(time)
      guard try statement.step(), !statement.bool(0) else { return }
      _ = try statement.step()
    }
    var enlarge = try store.connection.prepare(
      """
      UPDATE participant SET last_activity = NULL WHERE conversation = ?1 AND left_seq IS NULL
      AND NOT EXISTS (SELECT 1 FROM block b JOIN participant o ON o.user = b.blocked AND o.conversation = ?1
        WHERE b.user = participant.user)
      AND (SELECT count(*) FROM participant WHERE conversation = ?1) > ?2
      """)
    enlarge.bind(conversation)
    enlarge.bind(Conversations.smallGroup)
    try enlarge.run()
  }

  /// Makes a former participant a participant again.
  package func rejoin(_ row: Conversations.Row, _ user: UserKey, at time: Timestamp) throws {
    do {
      var statement = try store.connection.prepare(
        """
        UPDATE participant SET left_seq = NULL, joined_at = ?1, is_owner = 0, is_deleted = 0,
          last_activity = iif(last_activity IS NULL, NULL, ?4)
        WHERE conversation = ?2 AND user = ?3
        """)
      statement.bind(time)
      statement.bind(row.key)
      statement.bind(user)
      statement.bind(row.lastActivity)
      try statement.run()
    }
    try store.hubOwnStates.note(row.key, by: user)
    try deleteFormer(user, of: row.key)
  }

  /// Ends the membership of a user.
  ///
  /// The user may still see the messages up to the present last message.
  package func leave(_ row: Conversations.Row, _ user: UserKey) throws {
    do {
      var statement = try store.connection.prepare(
        """
        UPDATE participant SET left_seq = ?1, last_activity = coalesce(last_activity, ?2), is_owner = 0, draft_text = NULL
        WHERE conversation = ?3 AND user = ?4
        """)
      statement.bind(row.lastSeq)
      statement.bind(row.lastActivity)
      statement.bind(row.key)
      statement.bind(user)
      try statement.run()
    }
    try store.hubOwnStates.note(row.key, by: user)
    try insertFormer(user, of: row.key)
  }

  /// Whether a conversation has an owner.
  package func hasOwner(_ conversation: ConversationKey) throws -> Bool {
    var statement = try store.connection.prepare("SELECT 1 FROM participant WHERE conversation = ? AND is_owner")
    statement.bind(conversation)
    return try statement.step()
  }

  /// The participant who joined first; nil if there are no participants.
  package func longestMember(of conversation: ConversationKey) throws -> UserKey? {
    var statement = try store.connection.prepare(
      "SELECT user FROM participant WHERE conversation = ? AND left_seq IS NULL ORDER BY joined_at, user LIMIT 1")
    statement.bind(conversation)
    return try statement.step() ? statement.userKey(0) : nil
  }

  /// Makes these users the only owners of a conversation.
  ///
  /// If the list is empty, nothing changes.
  package func setOwners(_ users: [UserKey], of conversation: ConversationKey) throws {
    if users.isEmpty { return }
    do {
      var clear = try store.connection.prepare(
        "UPDATE participant SET is_owner = 0 WHERE conversation = ? AND is_owner")
      clear.bind(conversation)
      try clear.run()
    }
    for user in users { try setOwner(user, of: conversation) }
  }

  package func setOwner(_ user: UserKey, of conversation: ConversationKey) throws {
    var statement = try store.connection.prepare(
      "UPDATE participant SET is_owner = 1 WHERE conversation = ? AND user = ?")
    statement.bind(conversation)
    statement.bind(user)
    try statement.run()
  }
}

extension Members {
  /// A query that returns the present state of a group, once for each former participant.
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

  /// A subquery that returns the number of the last message delivered to each participant, as a JSON object.
  private static func delivered(_ conversation: String) -> String {
    """
    (SELECT json_group_object(d.user, d.delivered_seq) FROM participant d
      WHERE d.conversation = \(conversation) AND d.delivered_seq > 0)
    """
  }

  /// Stores the present state of a conversation for a user who has just left, because the user continues to see this
  /// state.
  func insertFormer(_ user: UserKey, of conversation: ConversationKey) throws {
    var insert = try store.connection.prepare(
      as: "former", "\(Self.into) \(Self.present) AND p.conversation = ? AND p.user = ?")
    insert.bind(conversation)
    insert.bind(user)
    try insert.run()
  }

  func deleteFormer(_ user: UserKey, of conversation: ConversationKey) throws {
    let urls = try formerAvatarURLs(of: conversation)
    var delete = try store.connection.prepare("DELETE FROM former WHERE user = ? AND conversation = ?")
    delete.bind(user)
    delete.bind(conversation)
    try delete.run()
    for url in urls { try store.pictures.release(url) }
  }

  /// The URLs of the pictures that former participants see.
  func formerAvatarURLs(of conversation: ConversationKey) throws -> [String] {
    var rows = try store.connection.prepare(
      "SELECT DISTINCT avatar_url FROM former WHERE conversation = ? AND avatar_url IS NOT NULL")
    rows.bind(conversation)
    var urls: [String] = []
    while try rows.step() { urls.append(rows.text(0)) }
    return urls
  }

  /// A query that returns former participants without a row in `former`, and rows in `former` of users who are not
  /// former participants.
  package static let wrongFormers = """
    SELECT conversation, user FROM (SELECT conversation, user FROM participant WHERE left_seq IS NOT NULL
      EXCEPT SELECT conversation, user FROM former)
    UNION ALL SELECT conversation, user FROM (SELECT conversation, user FROM former
      EXCEPT SELECT conversation, user FROM participant WHERE left_seq IS NOT NULL)
    """

  /// Adds missing rows to `former`, with the group's present state; a dump of an older store lacks such rows.
  ///
  /// Deletes rows of users who are not former participants. Completes rows of older versions.
  ///
  /// - Returns: the number of rows that were added, deleted or completed.
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

  /// Completes rows of `former` that an older version wrote without the state of the receipts.
  ///
  /// Uses the present state of the receipts.
  ///
  /// - Returns: the number of completed rows.
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
