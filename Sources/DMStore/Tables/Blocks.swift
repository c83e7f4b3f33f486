package import DMModel

// Reads: block, conversation, message, participant.
// Writes: block, participant.

/// The blocks: which users each user blocks, and which messages are hidden for that reason.
package struct Blocks {
  let store: Store

  package func users(by user: UserKey) throws -> [UserKey] {
    var statement = try store.connection.prepare("SELECT blocked FROM block WHERE user = ? ORDER BY at, blocked")
    statement.bind(user)
    return try statement.userKeys()
  }

  package func blockers(of user: UserKey) throws -> [UserKey] {
    var statement = try store.connection.prepare("SELECT user FROM block WHERE blocked = ?")
    statement.bind(user)
    return try statement.userKeys()
  }

  /// The users in a conversation who block any user.
  ///
  /// The blocked user may be outside the conversation, because the sender of an imported announcement need not be a
  /// participant.
  package func blockers(in conversation: ConversationKey) throws -> [UserKey] {
    var statement = try store.connection.prepare(
      "SELECT DISTINCT b.user FROM block b JOIN participant p ON p.conversation = ?1 AND p.user = b.user")
    statement.bind(conversation)
    return try statement.userKeys()
  }

  /// Whether the store has any blocks.
  func hasBlocks() throws -> Bool {
    var any = try store.connection.prepare("SELECT 1 FROM block LIMIT 1")
    return try any.step()
  }

  /// For each participant who blocks other participants of the conversation, the participants that they block.
  ///
  /// Linear in the number of participants if the store has any blocks.
  package func all(among conversation: ConversationKey) throws -> [UserKey: Set<UserKey>] {
    guard try hasBlocks() else { return [:] }
    var statement = try store.connection.prepare(
      """
      SELECT b.user, b.blocked FROM participant p CROSS JOIN block b ON b.user = p.user
      CROSS JOIN participant o ON o.conversation = p.conversation AND o.user = b.blocked WHERE p.conversation = ?
      """)
    statement.bind(conversation)
    var blocks: [UserKey: Set<UserKey>] = [:]
    while try statement.step() { blocks[statement.userKey(0), default: []].insert(statement.userKey(1)) }
    return blocks
  }

  package func hasBlocked(_ other: UserKey, by user: UserKey) throws -> Bool {
    var statement = try store.connection.prepare("SELECT 1 FROM block WHERE user = ? AND blocked = ?")
    statement.bind(user)
    statement.bind(other)
    return try statement.step()
  }

  /// Adds or removes a block.
  ///
  /// - Returns: whether the block was added or removed; false if nothing changed.
  package func set(_ isBlocked: Bool, of other: UserKey, by user: UserKey, at time: Timestamp) throws -> Bool {
    var statement =
      isBlocked
      ? try store.connection.prepare("INSERT INTO block (user, blocked, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
      : try store.connection.prepare("DELETE FROM block WHERE user = ? AND blocked = ?")
    statement.bind(user)
    statement.bind(other)
    if isBlocked { statement.bind(time) }
    try statement.run()
    guard store.connection.changes > 0 else { return false }
    try store.hubOwnStates.note(nil, by: user)
    return true
  }

  /// Updates the values of a conversation that depend on a user's blocks: the counts of hidden messages and of
  /// mentions, and the time of the last activity.
  ///
  /// Linear in the number of messages that the user has not read.
  package func apply(of user: UserKey, in conversation: ConversationKey) throws {
    guard let row = try store.conversations.row(key: conversation),
      let membership = try store.members.membership(of: user, in: conversation)
    else { return }
    let all = 1...max(1, membership.leftSeq ?? row.lastSeq)
    let unread = difference(
      of: all, minus: try store.readState.readRanges(of: user, in: conversation, overlapping: all))
    var blocked = 0
    var mentioned = 0
    for gap in unread where row.lastSeq > 0 {
      blocked += try blockedMessages(by: user, in: conversation, gap).count
      mentioned += try store.mentions.count(user, in: conversation, gap)
    }
    let activity = try lastActivity(of: user, in: row, upTo: all.upperBound)
    var update = try store.connection.prepare(
      """
      UPDATE participant SET blocked_count = ?1, mention_count = ?2, last_activity = ?3,
        is_blocked = EXISTS (SELECT 1 FROM conversation c JOIN block b ON b.user = ?5
          AND b.blocked = iif(c.direct_low = ?5, c.direct_high, c.direct_low) WHERE c.id = ?4 AND c.direct_low NOT NULL)
      WHERE conversation = ?4 AND user = ?5
      """)
    update.bind(blocked)
    update.bind(mentioned)
    update.bind(activity)
    update.bind(conversation)
    update.bind(user)
    try update.run()
  }

  /// Updates the values that depend on blocks, after users have joined: for these users, and for the users who block
  /// them.
  package func apply(toThoseWhoJoined users: [UserKey], _ conversation: ConversationKey) throws {
    guard try hasBlocks() else { return }
    for user in users {
      if try !self.users(by: user).isEmpty { try apply(of: user, in: conversation) }
      for blocker in try blockers(of: user) { try apply(of: blocker, in: conversation) }
    }
  }

  /// The messages of a range whose senders the user blocks.
  func blockedMessages(by user: UserKey, in conversation: ConversationKey, _ range: SeqRange) throws -> [SeqRange] {
    var statement = try store.connection.prepare(
      """
      SELECT seq, seq FROM message WHERE conversation = ?1 AND seq BETWEEN ?3 AND ?4
      AND sender IN (SELECT blocked FROM block WHERE user = ?2) ORDER BY seq
      """)
    return try store.readState.ranges(&statement, user, conversation, range)
  }

  /// The time of the newest message that is not from a blocked user.
  ///
  /// Nil if this time is that of the conversation's last activity, and the user is a participant of a large group and
  /// blocks none of its participants: then the row of the participant has NULL.
  private func lastActivity(of user: UserKey, in row: Conversations.Row, upTo end: Int) throws -> Timestamp? {
    var statement = try store.connection.prepare(
      """
      SELECT coalesce((SELECT created_at FROM message WHERE conversation = ?1 AND seq <= ?3
          AND sender NOT IN (SELECT blocked FROM block WHERE user = ?2) ORDER BY seq DESC LIMIT 1), c.created_at),
        (SELECT count(*) FROM participant WHERE conversation = ?1) > ?4
          AND (SELECT left_seq IS NULL FROM participant WHERE conversation = ?1 AND user = ?2)
          AND NOT EXISTS (SELECT 1 FROM block b JOIN participant o ON o.user = b.blocked AND o.conversation = ?1
            WHERE b.user = ?2)
      FROM conversation c WHERE id = ?1
      """)
    statement.bind(row.key)
    statement.bind(user)
    statement.bind(end)
    statement.bind(Conversations.smallGroup)
    guard try statement.step() else { return nil }
    return statement.bool(1) && statement.timestamp(0) == row.lastActivity ? nil : statement.timestamp(0)
  }
}
