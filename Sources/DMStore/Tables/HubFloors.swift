package import DMModel

// Reads: change, consumer, conversation, hub_base, hub_conversation, hub_floor, hub_own_state, hub_page, message, outbox, participant, read_range, report.
// Writes: hub_floor, hub_page.

/// The floors of conversations, in a linked store that does not keep all messages.
///
/// The store has all messages from the floor of a conversation on. Of the messages below it, some are in the store, and
/// all are on the hub.
package struct HubFloors {
  let store: Store

  package struct Row: Equatable {
    /// The number of the first message that was kept.
    package let seq: Int
    /// The time of that message.
    package let at: Timestamp
    /// When messages below the floor were last fetched.
    package let fetchedAt: Timestamp
    /// The messages below the floor that the user had deleted for themselves when the log was last pulled again.
    package let hidden: [SeqRange]
  }

  private enum Column: Int32, QueryColumn { case seq, at, fetchedAt, hidden }

  /// The floor of a conversation; nil if the store has kept all its messages.
  package func row(_ conversation: ConversationKey) throws -> Row? {
    guard store.isLinked else { return nil }
    var statement = try store.connection.prepare(
      "SELECT seq, at, fetched_at, hidden FROM hub_floor WHERE conversation = ?")
    statement.bind(conversation)
    assert(statement.has(Column.self))
    guard try statement.step() else { return nil }
    return Row(
      seq: statement.int(Column.seq), at: statement.timestamp(Column.at),
      fetchedAt: statement.timestamp(Column.fetchedAt),
      hidden: numberPairs(statement.text(Column.hidden)))
  }

  /// The conversations with a floor.
  package func all() throws -> [ConversationKey] {
    guard store.isLinked else { return [] }
    var statement = try store.connection.prepare("SELECT conversation FROM hub_floor ORDER BY conversation")
    return try statement.conversationKeys()
  }

  /// Raises the floor of a conversation to a message.
  package func set(_ seq: Int, at time: Timestamp, of conversation: ConversationKey) throws {
    var insert = try store.connection.prepare(
      """
      INSERT INTO hub_floor (conversation, seq, at) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET seq = excluded.seq, at = excluded.at
      """)
    insert.bind(conversation)
    insert.bind(seq)
    insert.bind(time)
    try insert.run()
  }

  /// Stores which messages the user has deleted for themselves, because the log is pulled again, with the messages below
  /// the floor.
  package func keep(hidden: [SeqRange], of conversation: ConversationKey, at time: Timestamp) throws {
    var update = try store.connection.prepare("UPDATE hub_floor SET hidden = ?, fetched_at = ? WHERE conversation = ?")
    update.bind(hidden.map { "\($0.lowerBound) \($0.upperBound)" }.joined(separator: " "))
    update.bind(time)
    update.bind(conversation)
    try update.run()
  }

  /// The numbers of a range below the floor of which this store has no message.
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

  /// Records that messages below the floor were fetched, or that the hub has none of them.
  package func finish(_ page: Page, at time: Timestamp) throws {
    var delete = try store.connection.prepare(
      "DELETE FROM hub_page WHERE conversation = ? AND from_seq = ? AND to_seq <= ?")
    delete.bind(page.conversation)
    delete.bind(page.seqs.lowerBound)
    delete.bind(page.seqs.upperBound)
    try delete.run()
    var update = try store.connection.prepare("UPDATE hub_floor SET fetched_at = ? WHERE conversation = ?")
    update.bind(time)
    update.bind(page.conversation)
    try update.run()
  }

  // MARK: Raising floors

  /// Records that messages which were fetched below the floor are gone again.
  package func noteTrim(_ conversation: ConversationKey) throws {
    var update = try store.connection.prepare("UPDATE hub_floor SET fetched_at = 0 WHERE conversation = ?")
    update.bind(conversation)
    try update.run()
  }

  /// The conversations of which more messages are here than the store keeps, with the number of each one's last message.
  ///
  /// - Parameters:
  ///   - count: how many messages a conversation may have from its floor on.
  ///   - time: messages below a floor are kept if they were fetched after this time.
  package func exceeding(_ count: Int, fetchedBefore time: Timestamp) throws -> [ConversationKey] {
    var statement = try store.connection.prepare(
      """
      SELECT h.conversation FROM hub_conversation h JOIN conversation c ON c.id = h.conversation
      LEFT JOIN hub_floor f ON f.conversation = h.conversation
      WHERE c.last_seq - coalesce(f.seq, 1) >= ? OR f.fetched_at BETWEEN 1 AND ?
      """)
    statement.bind(count)
    statement.bind(time)
    return try statement.conversationKeys()
  }

  /// The highest number that the floor of a conversation may have now; 1 if all its messages must stay.
  ///
  /// A message stays as long as the user has not read it, a consumer has not got it, or what the user decided about the
  /// conversation is not on the hub. So do the messages after such a message.
  package func highest(_ conversation: ConversationKey, of user: UserKey) throws -> Int {
    var statement = try store.connection.prepare(
      """
      SELECT min(
        (SELECT to_seq + 1 FROM read_range WHERE conversation = ?1 AND user = ?2 AND from_seq = 1),
        (SELECT m.seq FROM conversation c JOIN message m ON m.id = c.last_message WHERE c.id = ?1),
        coalesce((SELECT min(c.from_seq) FROM change c WHERE c.conversation = ?1 AND c.kind IN (?3, ?4)
          AND c.rev > (SELECT min(rev) FROM consumer)), 1 << 40))
      FROM hub_conversation h JOIN participant p ON p.conversation = h.conversation AND p.user = ?2
      WHERE h.conversation = ?1 AND h.rev >= h.known AND h.fault IS NULL AND p.left_seq IS NULL
      AND NOT EXISTS (SELECT 1 FROM hub_own_state o WHERE o.conversation = ?1 AND o.is_changed)
      """)
    statement.bind(conversation)
    statement.bind(user)
    statement.bind(Changes.Kind.message.rawValue)
    statement.bind(Changes.Kind.edited.rawValue)
    return try statement.step() ? max(1, statement.optionalInt(0) ?? 1) : 1
  }

  /// The number of the first message of a conversation that is not older than a time; nil if all are older.
  package func first(notBefore time: Timestamp, in conversation: ConversationKey) throws -> Int? {
    var statement = try store.connection.prepare(
      "SELECT min(seq) FROM message WHERE conversation = ? AND created_at >= ?")
    statement.bind(conversation)
    statement.bind(time)
    return try statement.step() ? statement.optionalInt(0) : nil
  }

  /// The next messages below a number that may be removed, ascending.
  ///
  /// Announcements stay, and messages to which a later one replies, or to which an operation of this store refers: it
  /// may have to be done again if the hub is restored. So do messages that the user has marked as unread.
  package func removable(below seq: Int, of conversation: ConversationKey, readBy user: UserKey, limit: Int) throws
    -> [Messages.Row]
  {
    var statement = try store.connection.prepare(
      """
      SELECT seq FROM message m WHERE conversation = ?1 AND seq < ?2 AND system_kind IS NULL
      AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.target = m.uuid)
      AND NOT EXISTS (SELECT 1 FROM hub_base b WHERE b.message = m.id)
      AND EXISTS (SELECT 1 FROM read_range r WHERE r.conversation = ?1 AND r.user = ?4
        AND m.seq BETWEEN r.from_seq AND r.to_seq)
      AND NOT EXISTS (SELECT 1 FROM report r WHERE r.message = m.id)
      AND m.uuid NOT IN (SELECT reply_to FROM message WHERE conversation = ?1 AND seq >= ?2 AND reply_to NOT NULL)
      ORDER BY seq LIMIT ?3
      """)
    statement.bind(conversation)
    statement.bind(seq)
    statement.bind(limit)
    statement.bind(user)
    var seqs: [Int] = []
    while try statement.step() { seqs.append(statement.int(0)) }
    return try seqs.compactMap { try store.messages.row(at: Messages.Address(conversation: conversation, seq: $0)) }
  }
}

/// The ranges in a text of numbers, in pairs.
private func numberPairs(_ text: String) -> [SeqRange] {
  let numbers = text.split(separator: " ").compactMap { Int($0) }
  return stride(from: 0, to: numbers.count - 1, by: 2).compactMap { index in
    numbers[index] <= numbers[index + 1] ? numbers[index]...numbers[index + 1] : nil
  }
}
