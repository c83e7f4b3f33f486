package import DMModel
internal import DMSystem

extension Store {
  /// A message as its row says, without a check of who may see it.
  package struct StoredMessage {
    let key: MessageKey
    let place: Place
    let sender: UserKey
    let text: String?
    let mentions: [String]
  }

  package func storedMessage(at place: Place) throws -> StoredMessage? {
    var statement = try connection.prepare(
      "SELECT id, sender, text, mentions FROM message WHERE conversation = ? AND seq = ?")
    statement.bind(place.conversation)
    statement.bind(place.seq)
    guard try statement.step() else { return nil }
    return StoredMessage(
      key: statement.messageKey(0), place: place, sender: statement.userKey(1), text: statement.optionalText(2),
      mentions: statement.text(3).utf8.split(separator: 0x20).map { String(Substring($0)) })
  }

  /// Leaves of a message a tombstone: its text is overwritten, and nobody counts it any more.
  ///
  /// Linear in the participants, most of all in those who have not read it.
  package func bury(_ message: StoredMessage, at time: Timestamp) throws {
    let (conversation, seq) = (message.place.conversation, message.place.seq)
    for user in try unreadBy(seq, in: conversation) { _ = try cover(seq...seq, by: user, in: conversation) }
    if !message.mentions.isEmpty { try setMentions([], of: message) }
    if let text = message.text { try unindex(text, of: message.key) }
    try removeAttachments(of: message.key)
    do {
      var reactions = try connection.prepare("DELETE FROM reaction WHERE message = ?")
      reactions.bind(message.key)
      try reactions.run()
    }
    do {
      var update = try connection.prepare(
        """
        UPDATE message SET text = NULL, edited_at = NULL, reaction_count = 0, attachment_count = 0, deleted_at = ?
        WHERE id = ?
        """)
      update.bind(time)
      update.bind(message.key)
      try update.run()
    }
    try seal(message.key.number, of: .message)
    var last = try connection.prepare(
      """
      UPDATE conversation SET last_message = (SELECT id FROM message WHERE conversation = ?1 AND deleted_at IS NULL
        ORDER BY seq DESC LIMIT 1) WHERE id = ?1 AND last_message = ?2
      """)
    last.bind(conversation)
    last.bind(message.key)
    try last.run()
    try append(.deleted, conversation: conversation, user: message.sender, seqs: seq...seq, at: .now)
  }

  /// Messages that have expired and that nobody has buried yet, oldest first.
  package func expiredMessages(now: Timestamp, limit: Int = -1) throws -> [(
    conversation: ConversationKey, seq: Int, sender: UserKey, at: Timestamp
  )] {
    var statement = try connection.prepare(
      """
      SELECT conversation, seq, sender, expires_at FROM message
      WHERE expires_at <= ? AND deleted_at IS NULL ORDER BY expires_at LIMIT ?
      """)
    statement.bind(now)
    statement.bind(limit)
    var found: [(conversation: ConversationKey, seq: Int, sender: UserKey, at: Timestamp)] = []
    while try statement.step() {
      found.append((statement.conversationKey(0), statement.int(1), statement.userKey(2), statement.timestamp(3)))
    }
    return found
  }

  /// When the next message expires.
  package func nextExpiry() throws -> Timestamp? {
    var statement = try connection.prepare(
      "SELECT expires_at FROM message WHERE expires_at IS NOT NULL AND deleted_at IS NULL ORDER BY expires_at LIMIT 1")
    return try statement.step() ? statement.timestamp(0) : nil
  }

  /// How many expired messages a write buries at the most besides what it is for, and for how many microseconds it goes
  /// on doing so: others wait for it.
  private static let burials = (count: 500, time: 20_000 as Int64)

  /// Buries what has expired, the oldest first; the rest is left for the next write.
  ///
  /// - Returns: how many messages.
  @discardableResult
  package func buryExpired(now: Timestamp = .now) throws -> Int {
    let end = monotonicMicroseconds() + Self.burials.time
    var count = 0
    for message in try expiredMessages(now: now, limit: Self.burials.count)
    where count == 0 || monotonicMicroseconds() < end {
      let place = Place(conversation: message.conversation, seq: message.seq)
      if let stored = try storedMessage(at: place) { try bury(stored, at: message.at) }
      count += 1
    }
    return count
  }

  /// Hides a range from a user; what is hidden counts as read.
  ///
  /// - Returns: the parts that were not hidden yet.
  @discardableResult
  package func hide(_ range: SeqRange, from user: UserKey, in conversation: ConversationKey, isDeleted: Bool) throws
    -> [SeqRange]
  {
    var before = try connection.prepare(
      """
      SELECT from_seq, to_seq FROM hidden_range WHERE conversation = ?1 AND user = ?2 AND to_seq >= ?3 AND from_seq <= ?4
      AND from_seq >= coalesce((SELECT max(from_seq) FROM hidden_range
        WHERE conversation = ?1 AND user = ?2 AND from_seq <= ?3), 0)
      ORDER BY from_seq
      """)
    let added = gaps(in: range, left: try ranges(&before, user, conversation, range))
    for part in added {
      let joined = try takeNeighbors(of: part, user, conversation, isDeleted: isDeleted)
      var insert = try connection.prepare(
        "INSERT INTO hidden_range (conversation, user, from_seq, to_seq, is_deleted) VALUES (?, ?, ?, ?, ?)")
      insert.bind(conversation)
      insert.bind(user)
      insert.bind(joined.lowerBound)
      insert.bind(joined.upperBound)
      insert.bind(isDeleted)
      try insert.run()
    }
    if isDeleted {
      // What was hidden already is deleted, too: being added again with the history does not bring it back.
      var delete = try connection.prepare(
        """
        UPDATE hidden_range SET is_deleted = 1 WHERE conversation = ? AND user = ? AND from_seq >= ? AND to_seq <= ?
        AND NOT is_deleted
        """)
      delete.bind(conversation)
      delete.bind(user)
      delete.bind(range.lowerBound)
      delete.bind(range.upperBound)
      try delete.run()
    }
    _ = try cover(range, by: user, in: conversation)
    return added
  }

  /// A range together with those that it touches, which are taken away: a user who deletes message after message leaves
  /// one.
  private func takeNeighbors(of range: SeqRange, _ user: UserKey, _ conversation: ConversationKey, isDeleted: Bool)
    throws
    -> SeqRange
  {
    var take = try connection.prepare(
      """
      DELETE FROM hidden_range WHERE conversation = ?1 AND user = ?2 AND is_deleted = ?5
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

  /// Shows a user again what was said before they joined or while they were away.
  package func showHistory(to user: UserKey, in conversation: ConversationKey) throws {
    var delete = try connection.prepare(
      "DELETE FROM hidden_range WHERE conversation = ? AND user = ? AND NOT is_deleted")
    delete.bind(conversation)
    delete.bind(user)
    try delete.run()
  }
}
