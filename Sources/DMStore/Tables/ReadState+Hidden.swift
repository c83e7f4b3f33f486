package import DMModel
internal import DMSystem

// Reads: hidden_range.
// Writes: hidden_range.

extension ReadState {
  /// Hides a range of messages from a user, because the user has deleted them for themselves, or was not in the
  /// conversation then.
  ///
  /// Hidden messages count as read.
  ///
  /// - Returns: the parts of the range that were not hidden before.
  @discardableResult
  package func hide(_ range: SeqRange, from user: UserKey, in conversation: ConversationKey, isDeleted: Bool) throws
    -> [SeqRange]
  {
    var before = try store.connection.prepare(
      """
      SELECT from_seq, to_seq FROM hidden_range WHERE conversation = ?1 AND user = ?2 AND to_seq >= ?3 AND from_seq <= ?4
      AND from_seq >= coalesce((SELECT max(from_seq) FROM hidden_range
        WHERE conversation = ?1 AND user = ?2 AND from_seq <= ?3), 0)
      ORDER BY from_seq
      """)
    let added = difference(of: range, minus: try ranges(&before, user, conversation, range))
    for part in added {
      let joined = try takeNeighbors(of: part, user, conversation, isDeleted: isDeleted)
      try insertHidden(joined, user, conversation, isDeleted: isDeleted)
    }
    if isDeleted {
      // Messages that were hidden because the user was not in the conversation now count as deleted. Otherwise they
      // would be shown if the user were added again with the history.
      var delete = try store.connection.prepare(
        """
        UPDATE hidden_range SET is_deleted = 1 WHERE conversation = ?1 AND user = ?2
        AND from_seq BETWEEN ?3 AND ?4 AND to_seq <= ?4 AND NOT is_deleted
        """)
      delete.bind(conversation)
      delete.bind(user)
      delete.bind(range.lowerBound)
      delete.bind(range.upperBound)
      try delete.run()
      try store.hubOwnStates.note(conversation, by: user)
    }
    _ = try markRead(range, by: user, in: conversation)
    return added
  }

  private func insertHidden(
    _ range: SeqRange, _ user: UserKey, _ conversation: ConversationKey, isDeleted: Bool
  ) throws {
    var insert = try store.connection.prepare(
      """
      INSERT INTO hidden_range (conversation, user, from_seq, to_seq, is_deleted, is_unseen)
      VALUES (?1, ?2, ?3, ?4, ?5, NOT ?5)
      """)
    insert.bind(conversation)
    insert.bind(user)
    insert.bind(range.lowerBound)
    insert.bind(range.upperBound)
    insert.bind(isDeleted)
    try insert.run()
  }

  /// Removes the hidden ranges that adjoin a range and have the same reason, and returns the range extended by them.
  ///
  /// So messages that are deleted one by one become one range.
  private func takeNeighbors(of range: SeqRange, _ user: UserKey, _ conversation: ConversationKey, isDeleted: Bool)
    throws
    -> SeqRange
  {
    var take = try store.connection.prepare(
      """
      DELETE FROM hidden_range WHERE conversation = ?1 AND user = ?2 AND is_deleted = ?5 AND is_unseen <> ?5
      AND (from_seq = ?4 + 1 OR to_seq = ?3 - 1 AND from_seq = (SELECT max(from_seq) FROM hidden_range
        WHERE conversation = ?1 AND user = ?2 AND from_seq < ?3))
      RETURNING from_seq, to_seq
      """)
    take.bind(conversation)
    take.bind(user)
    take.bind(range.lowerBound)
    take.bind(range.upperBound)
    take.bind(isDeleted)
    var all = range
    while try take.step() {
      all = min(all.lowerBound, take.int(0))...max(all.upperBound, take.int(1))
    }
    return all
  }

  /// Shows messages again that a user had deleted for themselves.
  ///
  /// - Returns: whether any of the messages was hidden.
  package func showAgain(_ range: SeqRange, to user: UserKey, in conversation: ConversationKey) throws -> Bool {
    var hidden: [SeqRange] = []
    do {
      var take = try store.connection.prepare(
        """
        DELETE FROM hidden_range WHERE conversation = ?1 AND user = ?2 AND is_deleted AND NOT is_unseen
        AND to_seq >= ?3 AND from_seq <= ?4
        AND from_seq >= coalesce((SELECT max(from_seq) FROM hidden_range
          WHERE conversation = ?1 AND user = ?2 AND from_seq <= ?3), 0)
        RETURNING from_seq, to_seq
        """)
      take.bind(conversation)
      take.bind(user)
      take.bind(range.lowerBound)
      take.bind(range.upperBound)
      while try take.step() { hidden.append(try take.seqs(0, 1)) }
    }
    for part in hidden.flatMap({ difference(of: $0, minus: [range]) }) {
      try insertHidden(part, user, conversation, isDeleted: true)
    }
    return !hidden.isEmpty
  }

  /// Shows a user the messages that were sent before they joined or while they were away.
  package func showHistory(to user: UserKey, in conversation: ConversationKey) throws {
    var show = try store.connection.prepare(
      "DELETE FROM hidden_range WHERE conversation = ? AND user = ? AND NOT is_deleted")
    show.bind(conversation)
    show.bind(user)
    try show.run()
    var deliver = try store.connection.prepare(
      "UPDATE hidden_range SET is_unseen = 0 WHERE conversation = ? AND user = ? AND is_unseen")
    deliver.bind(conversation)
    deliver.bind(user)
    try deliver.run()
  }

  /// The reason why a message is hidden from a user.
  package enum HiddenReason: Int64 {
    case anyReason
    /// The user has deleted the message for themselves.
    case deleted
    /// The message was sent while the user was not in the conversation.
    case neverSeen
  }

  /// The messages of a conversation that are hidden from a user for one reason.
  package func hidden(_ reason: HiddenReason, from user: UserKey, in conversation: ConversationKey) throws -> [SeqRange]
  {
    var statement = try store.connection.prepare(
      """
      SELECT from_seq, to_seq FROM hidden_range WHERE conversation = ?1 AND user = ?2
      AND (?3 = 0 OR ?3 = 1 AND is_deleted OR ?3 = 2 AND is_unseen) ORDER BY from_seq
      """)
    statement.bind(conversation)
    statement.bind(user)
    statement.bind(reason.rawValue)
    var found: [SeqRange] = []
    while try statement.step() { found.append(try statement.seqs(0, 1)) }
    return coalesced(found)
  }
}

extension ReadState {
  /// Whether the store has any hidden ranges.
  func hasHidden() throws -> Bool {
    var any = try store.connection.prepare("SELECT 1 FROM hidden_range LIMIT 1")
    return try any.step()
  }
}
