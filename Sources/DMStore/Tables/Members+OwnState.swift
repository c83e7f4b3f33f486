package import DMModel

// Reads: block, conversation, message, participant, user.
// Writes: participant.

extension Members {
  /// The keys of a user's conversations: all conversations, or only those with unread messages, even if only of blocked users.
  package func conversationKeys(of user: UserKey, unreadOnly: Bool) throws -> [ConversationKey] {
    var statement = try store.connection.prepare(
      """
      SELECT p.conversation FROM participant p JOIN conversation c ON c.id = p.conversation
      WHERE p.user = ? AND (NOT ? OR coalesce(p.left_seq, c.last_seq) > p.read_count) ORDER BY p.conversation
      """)
    statement.bind(user)
    statement.bind(unreadOnly)
    return try statement.conversationKeys()
  }

  /// Whether a user has muted a conversation at a time.
  package func isMuted(_ conversation: ConversationKey, for user: UserKey, at time: Timestamp) throws -> Bool {
    var statement = try store.connection.prepare(
      "SELECT 1 FROM participant WHERE conversation = ? AND user = ? AND muted_until > ?")
    statement.bind(conversation)
    statement.bind(user)
    statement.bind(time)
    return try statement.step()
  }

  /// A part of the state that each participant decides for themselves.
  package enum OwnState {
    case pinned(Bool)
    case archived(Bool)
    case mutedUntil(Timestamp?)
    case draft(String?)
    /// Whether lists leave out the conversation until a new message arrives.
    case deleted(Bool)
  }

  /// Sets a part of a user's own state of a conversation.
  ///
  /// - Returns: for `deleted`, whether the state has changed; otherwise whether the user is or was a participant.
  @discardableResult
  package func set(_ state: OwnState, of user: UserKey, in conversation: ConversationKey) throws -> Bool {
    var statement =
      switch state {
      case .pinned:
        try store.connection.prepare("UPDATE participant SET is_pinned = ? WHERE conversation = ? AND user = ?")
      case .archived:
        try store.connection.prepare("UPDATE participant SET is_archived = ? WHERE conversation = ? AND user = ?")
      case .mutedUntil:
        try store.connection.prepare("UPDATE participant SET muted_until = ? WHERE conversation = ? AND user = ?")
      case .draft:
        try store.connection.prepare("UPDATE participant SET draft_text = ? WHERE conversation = ? AND user = ?")
      case .deleted:
        try store.connection.prepare(
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
    guard store.connection.changes > 0 else { return false }
    try store.hubOwnStates.note(conversation, by: user)
    return true
  }

  /// Takes conversations out of the archive of all participants who have not muted them.
  ///
  /// Lists conversations again for participants who have deleted them.
  ///
  /// - Parameters:
  ///   - now: the present time. A mute that has ended before does not count.
  ///   - others: participants whose state does not change.
  package func bringBack(_ conversations: [ConversationKey], mutedAt now: Timestamp, except others: [UserKey]) throws {
    for conversation in conversations {
      for user in try awayUsers(from: conversation, mutedAt: now) where !others.contains(user) {
        var update = try store.connection.prepare(
          """
          UPDATE participant SET is_archived = is_archived AND coalesce(muted_until, 0) > ?1, is_deleted = 0
          WHERE conversation = ?2 AND user = ?3
          """)
        update.bind(now)
        update.bind(conversation)
        update.bind(user)
        try update.run()
        try store.hubOwnStates.note(conversation, by: user)
      }
    }
  }

  /// The participants who archived or deleted a conversation that a new message lists again.
  private func awayUsers(from conversation: ConversationKey, mutedAt now: Timestamp) throws -> [UserKey] {
    var statement = try store.connection.prepare(
      """
      SELECT user FROM participant WHERE conversation = ?1 AND left_seq IS NULL
      AND (is_archived AND coalesce(muted_until, 0) <= ?2 OR is_deleted)
      """)
    statement.bind(conversation)
    statement.bind(now)
    var users: [UserKey] = []
    while try statement.step() { users.append(statement.userKey(0)) }
    return users
  }

  package typealias OwnFields = (
    isPinned: Bool, isArchived: Bool, isDeleted: Bool, mutedUntil: Timestamp?, draft: String?, hasLeft: Bool
  )

  /// The parts of a user's own state that the table `participant` has; nil if the user never was a participant.
  package func ownFields(of user: UserKey, in conversation: ConversationKey) throws -> OwnFields? {
    var statement = try store.connection.prepare(
      """
      SELECT is_pinned, is_archived, is_deleted, muted_until, draft_text, left_seq FROM participant
      WHERE conversation = ? AND user = ?
      """)
    statement.bind(conversation)
    statement.bind(user)
    guard try statement.step() else { return nil }
    return (
      statement.bool(0), statement.bool(1), statement.bool(2), statement.optionalTimestamp(3),
      statement.optionalText(4), !statement.isNull(5)
    )
  }

  /// Whether a message after the given number takes the conversation out of the user's archive, provided that the user
  /// has not muted the conversation.
  package func isBroughtBack(_ conversation: ConversationKey, by user: UserKey, after seq: Int) throws -> Bool {
    var statement = try store.connection.prepare(
      """
      SELECT 1 FROM message WHERE conversation = ? AND seq > ? AND system_kind IS NULL
      AND sender NOT IN (SELECT blocked FROM block WHERE user = ?) LIMIT 1
      """)
    statement.bind(conversation)
    statement.bind(seq)
    statement.bind(user)
    return try statement.step()
  }

  package func draft(of user: UserKey, in conversation: ConversationKey) throws -> String? {
    var statement = try store.connection.prepare(
      "SELECT draft_text FROM participant WHERE conversation = ? AND user = ?")
    statement.bind(conversation)
    statement.bind(user)
    return try statement.step() ? statement.optionalText(0) : nil
  }

  /// Whether a user shares one of these conversations with another user, and does not block that user.
  ///
  /// Nil stands for all conversations.
  package func sharesConversation(_ user: UserKey, _ other: Handle, among conversations: [ConversationKey]?) throws
    -> Bool
  {
    var statement = try store.connection.prepare(
      """
      SELECT 1 FROM user u CROSS JOIN participant o ON o.user = u.id AND o.left_seq IS NULL
      CROSS JOIN participant p ON p.conversation = o.conversation AND p.user = ?1 AND p.left_seq IS NULL
      WHERE u.handle = ?2 AND NOT EXISTS (SELECT 1 FROM block WHERE user = ?1 AND blocked = u.id) AND (?3 IS NULL OR p.conversation IN (SELECT value FROM json_each(?3))) LIMIT 1
      """)
    statement.bind(user)
    statement.bind(other.description)
    statement.bind(conversations.map(jsonArray))
    return try statement.step()
  }
}
