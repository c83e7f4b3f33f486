package import DMModel
internal import DMSystem

// Reads: mention, message, participant, read_range.

extension Messages {
  /// A position in the order of all messages.
  ///
  /// Messages are sorted by time; messages with the same time, by arrival.
  package struct TimelinePosition {
    package var createdAt: Timestamp
    package var key: MessageKey

    package static func start(of time: Timestamp) -> TimelinePosition {
      TimelinePosition(createdAt: time, key: MessageKey(number: 0))
    }
    package var next: TimelinePosition {
      TimelinePosition(createdAt: createdAt, key: MessageKey(number: key.number + 1))
    }
  }

  /// The conditions for the messages of a timeline that a user sees.
  package struct TimelineFilter {
    package let user: UserKey
    /// The conversations; nil for all conversations that the user is in.
    package let conversations: [ConversationKey]?
    /// The sender; nil for all senders.
    package let sender: UserKey?
    /// Only messages that mention the user.
    package let mentionsOnly: Bool
    /// The end of the time range.
    ///
    /// The range does not include this time.
    package let before: Timestamp
    /// The key of the last message of the history.
    ///
    /// A stream delivers the messages after it.
    package let lastKey: MessageKey
    package let unreadOnly: Bool
    /// If there is a time, conversations that are muted at this time are left out.
    package let unmutedAt: Timestamp?

    package init(
      user: UserKey, conversations: [ConversationKey]?, sender: UserKey?, mentionsOnly: Bool, before: Timestamp,
      lastKey: MessageKey, unreadOnly: Bool, unmutedAt: Timestamp?
    ) {
      self.user = user
      self.conversations = conversations
      self.sender = sender
      self.mentionsOnly = mentionsOnly
      self.before = before
      self.lastKey = lastKey
      self.unreadOnly = unreadOnly
      self.unmutedAt = unmutedAt
    }
  }

  /// Reads the next `limit` messages from a position on.
  ///
  /// Returns the messages that the user sees, in order, and the position after the last message that was read; nil if
  /// there are no more messages.
  package func timeline(_ filter: TimelineFilter, from position: TimelinePosition, limit: Int, as viewer: Viewer) throws
    -> (messages: [Message], next: TimelinePosition)?
  {
    var statement = try store.connection.prepare(as: "timeline", Self.timelineSQL)
    bind(filter, to: &statement)
    statement.bind(position.createdAt)
    statement.bind(position.key)
    statement.bind(limit)
    var messages: [Message] = []
    messages.reserveCapacity(limit)
    var next: TimelinePosition?
    while try statement.step() {
      if let message = try message(statement, from: 0, as: viewer) { messages.append(message) }
      next = TimelinePosition(createdAt: statement.timestamp(5), key: statement.messageKey(8)).next
    }
    return next.map { (messages, $0) }
  }

  /// The position of the oldest of the newest `count` messages that a user sees.
  ///
  /// If that message is older than `since`, the result is the position of `since`.
  package func start(ofNewest count: Int, _ filter: TimelineFilter, since: Timestamp, as viewer: Viewer) throws
    -> TimelinePosition
  {
    var statement = try store.connection.prepare(
      as: "timeline-start",
      """
      SELECT m.created_at, m.id, m.seq, m.conversation, m.sender, m.deleted_at IS NOT NULL, m.expires_at
      FROM message m INDEXED BY message_created
      WHERE \(Self.timelineCondition) AND m.created_at >= ?9 ORDER BY m.created_at DESC, m.id DESC
      """)
    bind(filter, to: &statement)
    statement.bind(since)
    var left = count
    while try statement.step() {
      guard
        try viewer.sees(
          statement.int(2), in: statement.conversationKey(3), from: statement.userKey(4), isGone: statement.bool(5),
          expiresAt: statement.optionalTimestamp(6))
      else { continue }
      left -= 1
      if left == 0 { return TimelinePosition(createdAt: statement.timestamp(0), key: statement.messageKey(1)) }
    }
    return .start(of: since)
  }

  /// Reads the next messages of a timeline.
  static let timelineSQL = """
    SELECT \(columns) FROM message m INDEXED BY message_created
    WHERE \(timelineCondition) AND (m.created_at, m.id) >= (?9, ?10) ORDER BY m.created_at, m.id LIMIT ?11
    """

  /// The SQL conditions of a filter on a message `m`, with the parameters 1 to 8.
  ///
  /// The conditions do not check whether the user is in the conversation. The viewer checks it, and caches the result
  /// for each conversation.
  private static let timelineCondition = """
    m.created_at < ?2 AND m.id <= ?3
    AND (NOT ?4 OR m.seq > coalesce((SELECT to_seq FROM read_range r WHERE r.conversation = m.conversation
      AND r.user = ?1 AND r.from_seq <= m.seq ORDER BY r.from_seq DESC LIMIT 1), 0))
    AND (?5 IS NULL OR m.conversation IN (SELECT value FROM json_each(?5)))
    AND (?6 IS NULL OR NOT EXISTS (SELECT 1 FROM participant p WHERE p.conversation = m.conversation AND p.user = ?1
      AND p.muted_until > ?6))
    AND (?7 IS NULL OR m.sender = ?7)
    AND (NOT ?8 OR EXISTS (SELECT 1 FROM mention n WHERE n.conversation = m.conversation AND n.user = ?1
      AND n.seq = m.seq))
    """

  private func bind(_ filter: TimelineFilter, to statement: inout Statement) {
    statement.bind(filter.user)
    statement.bind(filter.before)
    statement.bind(filter.lastKey)
    statement.bind(filter.unreadOnly)
    statement.bind(filter.conversations.map(jsonArray))
    statement.bind(filter.unmutedAt)
    statement.bind(filter.sender)
    statement.bind(filter.mentionsOnly)
  }

  /// Finds the newest messages of a range that a user sees, at most `count` of them.
  ///
  /// Returns the number of the first of these messages, and how many there are.
  package func start(ofNewest count: Int, in range: SeqRange, of conversation: ConversationKey, as viewer: Viewer)
    throws
    -> (seq: Int, count: Int)
  {
    var statement = try store.connection.prepare(
      """
      SELECT seq, sender, deleted_at IS NOT NULL, expires_at FROM message
      WHERE conversation = ? AND seq BETWEEN ? AND ? ORDER BY seq DESC
      """)
    statement.bind(conversation)
    statement.bind(range.lowerBound)
    statement.bind(range.upperBound)
    var (first, found) = (range.lowerBound, 0)
    while found < count, try statement.step() {
      guard
        try viewer.sees(
          statement.int(0), in: conversation, from: statement.userKey(1), isGone: statement.bool(2),
          expiresAt: statement.optionalTimestamp(3))
      else { continue }
      found += 1
      first = statement.int(0)
    }
    return (first, found)
  }

  /// Finds the newest messages that a user sees, at most `count` of them.
  ///
  /// Returns the count of these messages, and the number of the first one, or nil if there are fewer than `count`.
  ///
  /// Linear in `count` and in the number of messages between these messages that the user does not see.
  package func end(_ count: Int, of row: Conversations.Row, as viewer: Viewer) throws -> (seq: Int?, count: Int) {
    guard row.lastVisibleSeq > 0 else { return (nil, 0) }
    let start = try start(ofNewest: count, in: 1...row.lastVisibleSeq, of: row.key, as: viewer)
    return (start.count == count ? start.seq : nil, start.count)
  }

  /// The key of the last stored message.
  ///
  /// A new message gets a higher key than all messages in the store.
  package func lastMessageKey() throws -> MessageKey {
    var statement = try store.connection.prepare("SELECT max(id) FROM message")
    return MessageKey(number: try statement.step() ? statement.int64(0) : 0)
  }

  package func time(of address: Address) throws -> Timestamp {
    var statement = try store.connection.prepare("SELECT created_at FROM message WHERE conversation = ? AND seq = ?")
    statement.bind(address.conversation)
    statement.bind(address.seq)
    return try statement.step() ? statement.timestamp(0) : .now
  }
}

extension Messages {
  /// The messages of a range that one user has sent.
  package func seqs(of sender: UserKey, _ range: SeqRange, in conversation: ConversationKey) throws -> [SeqRange] {
    var statement = try store.connection.prepare(
      "SELECT seq, seq FROM message WHERE conversation = ?1 AND sender = ?2 AND seq BETWEEN ?3 AND ?4 ORDER BY seq")
    return try store.readState.ranges(&statement, sender, conversation, range)
  }

  /// The messages of a range that other users have sent and that the viewer sees.
  package func seqsOfOthers(_ range: SeqRange, as viewer: Viewer, in conversation: ConversationKey) throws
    -> [SeqRange]
  {
    var statement = try store.connection.prepare(
      """
      SELECT seq, seq FROM message WHERE conversation = ?1 AND seq BETWEEN ?3 AND ?4
      AND sender <> ?2 AND deleted_at IS NULL ORDER BY seq
      """)
    let others = try store.readState.ranges(&statement, viewer.user, conversation, range)
    return try coalesced(
      difference(of: others, minus: store.readState.unreachable(range, as: viewer, in: conversation)))
  }

  /// The senders of the messages of a range, in the order of their first messages.
  ///
  /// Each sender comes with their messages in the range that the viewer sees.
  ///
  /// - Parameters:
  ///   - only: the only sender to return; nil for all senders.
  ///   - other: a sender to leave out; nil to leave out none.
  package func senders(
    of seqs: SeqRange, in conversation: ConversationKey, only: UserKey? = nil, besides other: UserKey? = nil,
    as viewer: Viewer
  ) throws -> [(sender: UserKey, first: Int, seqs: [SeqRange])] {
    var statement = try store.connection.prepare(
      """
      SELECT seq, sender, deleted_at IS NOT NULL, expires_at FROM message
      WHERE conversation = ? AND seq BETWEEN ? AND ? ORDER BY seq
      """)
    statement.bind(conversation)
    statement.bind(seqs.lowerBound)
    statement.bind(seqs.upperBound)
    var indices: [UserKey: Int] = [:]
    var found: [(sender: UserKey, first: Int, seqs: [SeqRange])] = []
    while try statement.step() {
      let (seq, sender) = (statement.int(0), statement.userKey(1))
      if sender == other || only.map({ $0 != sender }) == true { continue }
      let index = indices[sender] ?? found.count
      if index == found.count {
        found.append((sender, seq, []))
        indices[sender] = index
      }
      guard
        try viewer.sees(
          seq, in: conversation, from: sender, isGone: statement.bool(2), expiresAt: statement.optionalTimestamp(3))
      else { continue }
      if let last = found[index].seqs.last, last.upperBound + 1 == seq {
        found[index].seqs[found[index].seqs.count - 1] = last.lowerBound...seq
      } else {
        found[index].seqs.append(seq...seq)
      }
    }
    return found
  }
}
