package import DMModel

// Reads: block, change, consumer, conversation, hidden_range, hub_base, hub_conversation, hub_floor, hub_own_state, hub_page, message, message_alias, outbox, participant, read_range, report.
// Writes: hub_floor, hub_page.

/// The floors of conversations, in a linked store that does not keep all messages.
///
/// The floor of a conversation is a message number. The store has all messages from the floor on. Messages below the
/// floor may be missing in the store; the hub has all of them.
package struct HubFloors {
  let store: Store

  package struct Row: Equatable {
    /// The floor: the number of the first message that was kept.
    package let seq: Int
    /// The time of the first message that was kept.
    package let at: Timestamp
    /// When messages below the floor were last fetched; 1 after the floor was raised; 0 after the messages below it were
    /// removed.
    package let fetchedAt: Timestamp
    /// The messages that the user had deleted for themselves when the log began to be pulled again.
    package let hidden: [SeqRange]
  }

  private enum Column: Int32, QueryColumn { case seq, at, fetchedAt, hidden }

  /// The floor of a conversation; nil if the store has kept all its messages.
  package func row(_ conversation: ConversationKey) throws -> Row? { try row(conversation, isPast: false) }

  /// The floor that a conversation had before its log began to be pulled again; nil if it had none.
  package func past(_ conversation: ConversationKey) throws -> Row? { try row(conversation, isPast: true) }

  private func row(_ conversation: ConversationKey, isPast: Bool) throws -> Row? {
    guard store.isLinked else { return nil }
    var statement = try store.connection.prepare(
      "SELECT seq, at, fetched_at, hidden FROM hub_floor WHERE conversation = ? AND is_past = ?")
    statement.bind(conversation)
    statement.bind(isPast)
    assert(statement.has(Column.self))
    guard try statement.step() else { return nil }
    return Row(
      seq: statement.int(Column.seq), at: statement.timestamp(Column.at),
      fetchedAt: statement.timestamp(Column.fetchedAt), hidden: numberPairs(statement.text(Column.hidden)))
  }

  /// The conversations with a floor; with a time, only those whose first kept message is later than this time.
  package func all(laterThan time: Timestamp? = nil) throws -> [ConversationKey] {
    guard store.isLinked else { return [] }
    var statement = try store.connection.prepare(
      "SELECT conversation FROM hub_floor WHERE NOT is_past AND (?1 IS NULL OR at > ?1) ORDER BY conversation")
    statement.bind(time)
    return try statement.conversationKeys()
  }

  /// Raises the floor of a conversation to a message.
  ///
  /// Messages below the new floor may then be removed.
  package func set(_ seq: Int, at time: Timestamp, of conversation: ConversationKey) throws {
    var insert = try store.connection.prepare(
      """
      INSERT INTO hub_floor (conversation, seq, at, fetched_at) VALUES (?, ?, ?, 1)
      ON CONFLICT DO UPDATE SET seq = excluded.seq, at = excluded.at, fetched_at = 1, is_past = 0, hidden = NULL
      """)
    insert.bind(conversation)
    insert.bind(seq)
    insert.bind(time)
    try insert.run()
  }

  /// Records that a conversation no longer has a floor, because its log is pulled again from the beginning.
  ///
  /// - Parameter hidden: the messages that the user has deleted for themselves.
  package func end(_ conversation: ConversationKey, hidden: [SeqRange]) throws {
    let all = coalesced((hidden + (try past(conversation)?.hidden ?? [])).sorted { $0.lowerBound < $1.lowerBound })
    var update = try store.connection.prepare("UPDATE hub_floor SET is_past = 1, hidden = ? WHERE conversation = ?")
    update.bind(all.map { "\($0.lowerBound) \($0.upperBound)" }.joined(separator: " "))
    update.bind(conversation)
    try update.run()
  }

  /// Deletes the record of the floor that a conversation had before its log was pulled again.
  package func forgetPast(_ conversation: ConversationKey) throws {
    var delete = try store.connection.prepare("DELETE FROM hub_floor WHERE conversation = ? AND is_past")
    delete.bind(conversation)
    try delete.run()
  }

  /// The parts of a range that are below the floor and of which this store has no messages.
  ///
  /// Linear in the number of messages that are below the floor and in the range.
  package func absent(_ range: SeqRange, in conversation: ConversationKey) throws -> [SeqRange] {
    guard let floor = try row(conversation), range.lowerBound < floor.seq else { return [] }
    let below = range.clamped(to: 1...(floor.seq - 1))
    var statement = try store.connection.prepare(
      "SELECT seq FROM message WHERE conversation = ? AND seq BETWEEN ? AND ? ORDER BY seq")
    statement.bind(conversation)
    statement.bind(below.lowerBound)
    statement.bind(below.upperBound)
    var (absent, next): ([SeqRange], Int) = ([], below.lowerBound)
    while try statement.step() {
      let seq = statement.int(0)
      if seq > next { absent.append(next...(seq - 1)) }
      next = seq + 1
    }
    if next <= below.upperBound { absent.append(next...below.upperBound) }
    return absent
  }

  // MARK: Pages

  /// Messages below a floor that a program wants to read.
  package struct Page: Equatable {
    package let conversation: ConversationKey
    package let seqs: SeqRange

    package init(conversation: ConversationKey, seqs: SeqRange) {
      self.conversation = conversation
      self.seqs = seqs
    }
  }

  package func wanted() throws -> [Page] {
    guard store.isLinked else { return [] }
    var statement = try store.connection.prepare("SELECT conversation, from_seq, to_seq FROM hub_page")
    var pages: [Page] = []
    while try statement.step() {
      pages.append(Page(conversation: statement.conversationKey(0), seqs: try statement.seqs(1, 2)))
    }
    return pages
  }

  /// Records that a program wants to read messages below a floor.
  package func want(_ page: Page) throws {
    var insert = try store.connection.prepare(
      """
      INSERT INTO hub_page (conversation, from_seq, to_seq) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET to_seq = max(to_seq, excluded.to_seq)
      """)
    insert.bind(page.conversation)
    insert.bind(page.seqs.lowerBound)
    insert.bind(page.seqs.upperBound)
    try insert.run()
    store.rings = true
  }

  /// Records that messages below the floor are about to be fetched.
  ///
  /// A request is removed at its fifth attempt, so that a request that the hub cannot answer is not repeated for ever.
  package func begin(_ page: Page, at time: Timestamp) throws {
    var begin = try store.connection.prepare(
      "UPDATE hub_page SET attempts = attempts + 1 WHERE conversation = ? AND from_seq = ?")
    begin.bind(page.conversation)
    begin.bind(page.seqs.lowerBound)
    try begin.run()
    try store.connection.execute("DELETE FROM hub_page WHERE attempts > 4")
    var update = try store.connection.prepare("UPDATE hub_floor SET fetched_at = ? WHERE conversation = ?")
    update.bind(time)
    update.bind(page.conversation)
    try update.run()
  }

  /// Removes a request that was answered.
  package func finish(_ page: Page) throws {
    var delete = try store.connection.prepare(
      "DELETE FROM hub_page WHERE conversation = ? AND from_seq = ? AND to_seq <= ?")
    delete.bind(page.conversation)
    delete.bind(page.seqs.lowerBound)
    delete.bind(page.seqs.upperBound)
    try delete.run()
  }

  // MARK: Raising floors

  /// Records that all messages below the floor that may be removed were removed.
  package func noteTrim(_ conversation: ConversationKey) throws {
    var update = try store.connection.prepare(
      "UPDATE hub_floor SET fetched_at = 0 WHERE conversation = ? AND fetched_at <> 0")
    update.bind(conversation)
    try update.run()
  }

  /// The conversations of which the store has more messages than it should keep.
  ///
  /// - Parameters:
  ///   - count: how many messages a conversation may have from its floor on.
  ///   - time: messages below a floor are kept if they were fetched after this time.
  package func exceeding(_ count: Int, fetchedBefore time: Timestamp) throws -> [ConversationKey] {
    var statement = try store.connection.prepare(
      """
      SELECT h.conversation FROM hub_conversation h JOIN conversation c ON c.id = h.conversation
      LEFT JOIN hub_floor f ON f.conversation = h.conversation
      WHERE NOT coalesce(f.is_past, 0) AND (c.last_seq - coalesce(f.seq, 1) >= ? OR f.fetched_at BETWEEN 1 AND ?)
      """)
    statement.bind(count)
    statement.bind(time)
    return try statement.conversationKeys()
  }

  /// For each conversation, the number of the first message with a change that a consumer has not received.
  ///
  /// Linear in the number of changes since the position of the slowest consumer.
  package func awaited() throws -> [ConversationKey: Int] {
    let kinds: [Changes.Kind] = [.message, .edited, .deleted, .deletedForMe, .reaction, .pinned]
    var statement = try store.connection.prepare(
      """
      SELECT conversation, min(from_seq) FROM change WHERE rev > (SELECT min(rev) FROM consumer) AND from_seq NOT NULL
      AND conversation NOT NULL AND kind IN (SELECT value FROM json_each(?)) GROUP BY conversation
      """)
    statement.bind("[\(kinds.map { "\($0.rawValue)" }.joined(separator: ","))]")
    var found: [ConversationKey: Int] = [:]
    while try statement.step() { found[statement.conversationKey(0)] = statement.int(1) }
    return found
  }

  /// The highest number that the floor of a conversation may have now; 1 if all its messages must stay.
  ///
  /// An unread message and all messages after it stay, unless the user blocks its sender. All messages stay if the user
  /// has left, if the log is not pulled to its end, or if the hub lacks a decision of the user about the conversation, such
  /// as a pin.
  package func highest(_ conversation: ConversationKey, of user: UserKey) throws -> Int {
    var statement = try store.connection.prepare(
      """
      SELECT (SELECT m.seq FROM conversation c JOIN message m ON m.id = c.last_message WHERE c.id = ?1)
      FROM hub_conversation h JOIN participant p ON p.conversation = h.conversation AND p.user = ?2
      WHERE h.conversation = ?1 AND h.rev >= h.known AND h.fault IS NULL AND p.left_seq IS NULL
      AND NOT EXISTS (SELECT 1 FROM hub_own_state o WHERE o.conversation = ?1 AND o.is_changed)
      """)
    statement.bind(conversation)
    statement.bind(user)
    guard try statement.step(), let last = statement.optionalInt(0), last > 1 else { return 1 }
    let read = try store.readState.readRanges(of: user, in: conversation, overlapping: 1...last)
    let blocked = try store.blocks.blockedMessages(by: user, in: conversation, 1...last)
    let settled = coalesced((read + blocked).sorted { $0.lowerBound < $1.lowerBound })
    guard let first = settled.first, first.lowerBound == 1 else { return 1 }
    return min(last, first.upperBound + 1)
  }

  /// The number of the first message of a conversation that is not older than a time; nil if all are older.
  package func first(notBefore time: Timestamp, in conversation: ConversationKey) throws -> Int? {
    var statement = try store.connection.prepare(
      "SELECT min(seq) FROM message WHERE conversation = ? AND created_at >= ?")
    statement.bind(conversation)
    statement.bind(time)
    return try statement.step() ? statement.optionalInt(0) : nil
  }

  /// The messages with numbers below `seq` that the store may remove: the first `limit` of them, in ascending order.
  ///
  /// These messages stay: announcements; unread or reported messages; messages to which a message from `seq` on
  /// replies; the last message of the conversation; and the last message whose sender the user does not block. Messages
  /// to which an operation of this store refers stay, because the operation may have to be repeated if the hub is
  /// restored. Messages that the user has deleted for themselves stay, because another machine of the user may send
  /// them again to a restored hub, where only their ids show that they are the same messages.
  package func removable(below seq: Int, of conversation: ConversationKey, by user: UserKey, limit: Int) throws
    -> [Messages.Address]
  {
    var statement = try store.connection.prepare(
      """
      SELECT seq FROM message m WHERE conversation = ?1 AND seq < ?2 AND system_kind IS NULL
      AND uuid NOT IN (SELECT target FROM outbox WHERE target NOT NULL
        UNION ALL SELECT a.message FROM message_alias a JOIN outbox o ON o.target = a.uuid)
      AND NOT EXISTS (SELECT 1 FROM hub_base b WHERE b.message = m.id)
      AND NOT EXISTS (SELECT 1 FROM hidden_range h WHERE h.conversation = ?1 AND h.user = ?4 AND h.is_deleted
        AND m.seq BETWEEN h.from_seq AND h.to_seq)
      AND NOT EXISTS (SELECT 1 FROM report r WHERE r.message = m.id)
      AND EXISTS (SELECT 1 FROM read_range r WHERE r.conversation = ?1 AND r.user = ?4
        AND m.seq BETWEEN r.from_seq AND r.to_seq)
      AND uuid NOT IN (SELECT reply_to FROM message WHERE conversation = ?1 AND seq >= ?2 AND reply_to NOT NULL)
      AND id IS NOT (SELECT last_message FROM conversation WHERE id = ?1)
      AND id IS NOT (SELECT id FROM message WHERE conversation = ?1
        AND sender NOT IN (SELECT blocked FROM block WHERE user = ?4) ORDER BY seq DESC LIMIT 1)
      ORDER BY seq LIMIT ?3
      """)
    statement.bind(conversation)
    statement.bind(seq)
    statement.bind(limit)
    statement.bind(user)
    var found: [Messages.Address] = []
    while try statement.step() { found.append(Messages.Address(conversation: conversation, seq: statement.int(0))) }
    return found
  }
}

/// The ranges in a text of numbers; each pair of numbers is the first and the last number of a range.
private func numberPairs(_ text: String) -> [SeqRange] {
  let numbers = text.split(separator: " ").compactMap { Int($0) }
  return stride(from: 0, to: numbers.count - 1, by: 2).compactMap { index in
    numbers[index] <= numbers[index + 1] ? numbers[index]...numbers[index + 1] : nil
  }
}
