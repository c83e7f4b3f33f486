package import DMModel

// Reads: block, change, former, hidden_range, message, participant, read_mark, read_range, receipt.
// Writes: participant, read_mark, receipt.

extension ReadState {
  /// The users who have not read a message.
  ///
  /// The result has participants of the conversation, and users who left it after the message was sent.
  func unreadBy(_ seq: Int, in conversation: ConversationKey) throws -> [UserKey] {
    var statement = try store.connection.prepare(
      """
      SELECT user FROM participant p WHERE conversation = ?1 AND (left_seq IS NULL OR left_seq >= ?2)
      AND coalesce((SELECT to_seq FROM read_range r WHERE r.conversation = ?1 AND r.user = p.user AND r.from_seq <= ?2
        ORDER BY r.from_seq DESC LIMIT 1), 0) < ?2
      """)
    statement.bind(conversation)
    statement.bind(seq)
    return try statement.userKeys()
  }

  /// Adds receipts of a user for those parts of a range for which the user has no receipt.
  ///
  /// Also adds these parts to `read_mark`.
  package func addReceipts(_ range: SeqRange, of user: UserKey, in conversation: ConversationKey, at time: Timestamp)
    throws
  {
    for gap in difference(of: range, minus: try receiptRanges(of: user, in: conversation, overlapping: range)) {
      let marks = try readMarks(in: conversation, near: gap)
      let changes = try statusChanges(gap, by: user, over: [marks], in: conversation) { _ in [] }
      try store.changes.append(.readReceipt, conversation: conversation, user: user, seqs: gap, at: time)
      var insert = try store.connection.prepare(
        """
        INSERT INTO receipt (conversation, user, from_seq, to_seq, at, rev)
        SELECT ?, ?, ?, ?, ?, coalesce(max(rev), 0) FROM change
        """)
      insert.bind(conversation)
      insert.bind(user)
      insert.bind(gap.lowerBound)
      insert.bind(gap.upperBound)
      insert.bind(time)
      try insert.run()
      try overlay(gap, by: user, on: marks, in: conversation)
      try store.changes.append(changes, by: user, conversation: conversation, at: time)
    }
  }

  /// The changes of status that a receipt of a user for a range will cause.
  ///
  /// Call this before the receipt is written.
  ///
  /// A sender who blocks participants gets additional changes, for messages that until now only users blocked by the
  /// sender had read or received.
  ///
  /// - Parameter delivered: returns the messages that already have the status 'delivered', given the participants whose
  ///   receipts do not count. Empty for a read receipt.
  func statusChanges(
    _ range: SeqRange, by user: UserKey, over layers: [[ReadMark]], in conversation: ConversationKey,
    delivered: (_ ignored: Set<UserKey>) throws -> [SeqRange]
  ) throws -> [StatusChange] {
    let changes = StatusChange.changes(range, by: user, over: layers)
    var added: [StatusChange] = []
    for (sender, blocked) in try store.blocks.all(among: conversation).sorted(by: { $0.key < $1.key })
    where sender != user && !blocked.contains(user) {
      let ignored = blocked.union([sender])
      let read = try receipts(in: conversation, overlapping: range).filter { !ignored.contains($0.user) }.map(\.range)
      let logged = changes.filter { $0.senders == .allBut(user) || $0.senders == .only(sender) }.map(\.range)
      let reported = (read + logged + (try delivered(ignored))).sorted { $0.lowerBound < $1.lowerBound }
      added += difference(of: range, minus: coalesced(reported)).map { StatusChange(range: $0, senders: .only(sender)) }
    }
    return changes + added
  }

  /// The receipts in a conversation that overlap a range, sorted by user and then by message number.
  ///
  /// - Parameter viewer: the user who sees the receipts. A former participant sees their own receipts, and those that
  ///   others sent before the participant left. Nil for all receipts.
  package func receipts(
    in conversation: ConversationKey, overlapping range: SeqRange, as viewer: UserKey? = nil
  ) throws -> [(user: UserKey, range: SeqRange, at: Timestamp)] {
    var statement = try store.connection.prepare(
      """
      SELECT r.user, r.from_seq, r.to_seq, r.at FROM participant p CROSS JOIN receipt r
      ON r.conversation = p.conversation AND r.user = p.user AND r.from_seq <= ?3
      AND r.from_seq >= coalesce((SELECT max(from_seq) FROM receipt
        WHERE conversation = p.conversation AND user = p.user AND from_seq <= ?2), ?2)
      AND r.to_seq >= ?2 AND (r.user = ?4 OR r.rev <= coalesce(
        (SELECT left_rev FROM former WHERE user = ?4 AND conversation = ?1), r.rev))
      WHERE p.conversation = ?1 ORDER BY p.user, r.from_seq
      """)
    statement.bind(conversation)
    statement.bind(range.lowerBound)
    statement.bind(range.upperBound)
    statement.bind(viewer)
    var found: [(user: UserKey, range: SeqRange, at: Timestamp)] = []
    while try statement.step() {
      found.append((statement.userKey(0), try statement.seqs(1, 2), statement.timestamp(3)))
    }
    return found
  }

  func receiptRanges(of user: UserKey, in conversation: ConversationKey, overlapping range: SeqRange) throws
    -> [SeqRange]
  {
    var statement = try store.connection.prepare(
      """
      SELECT from_seq, to_seq FROM receipt WHERE conversation = ?1 AND user = ?2 AND from_seq <= ?4
      AND from_seq >= coalesce((SELECT max(from_seq) FROM receipt
        WHERE conversation = ?1 AND user = ?2 AND from_seq <= ?3), ?3)
      AND to_seq >= ?3 ORDER BY from_seq
      """)
    return try ranges(&statement, user, conversation, range)
  }

  /// The rows of `read_mark` whose ranges overlap or adjoin a range, ascending.
  func readMarks(in conversation: ConversationKey, near range: SeqRange) throws -> [ReadMark] {
    var statement = try store.connection.prepare(
      "SELECT from_seq, to_seq, reader FROM read_mark WHERE conversation = ? AND to_seq >= ? ORDER BY to_seq")
    statement.bind(conversation)
    statement.bind(range.lowerBound - 1)
    var near: [ReadMark] = []
    while try statement.step(), statement.int(0) <= range.upperBound + 1 {
      near.append(ReadMark(range: try statement.seqs(0, 1), reader: statement.optionalUserKey(2)))
    }
    return near
  }

  private func overlay(_ range: SeqRange, by user: UserKey, on near: [ReadMark], in conversation: ConversationKey)
    throws
  {
    if let first = near.first, let last = near.last {
      var delete = try store.connection.prepare(
        "DELETE FROM read_mark WHERE conversation = ? AND to_seq BETWEEN ? AND ?")
      delete.bind(conversation)
      delete.bind(first.range.upperBound)
      delete.bind(last.range.upperBound)
      try delete.run()
    }
    for mark in ReadMark.overlay(near, with: range, by: user) {
      var insert = try store.connection.prepare(
        "INSERT INTO read_mark (conversation, to_seq, from_seq, reader) VALUES (?, ?, ?, ?)")
      insert.bind(conversation)
      insert.bind(mark.range.upperBound)
      insert.bind(mark.range.lowerBound)
      insert.bind(mark.reader)
      try insert.run()
    }
  }

  /// The messages of other users that a user has read without a receipt.
  ///
  /// - Parameter read: the user's read ranges, ascending.
  package func privatelyRead(
    _ range: SeqRange, of user: UserKey, in conversation: ConversationKey, among read: [SeqRange]
  ) throws -> [SeqRange] {
    let read = read.filter(range.overlaps).map { $0.clamped(to: range) }
    if read.isEmpty { return [] }
    return try difference(of: read, minus: receiptRanges(of: user, in: conversation, overlapping: range)).flatMap {
      gap in
      var statement = try store.connection.prepare(
        """
        SELECT seq, seq FROM message WHERE conversation = ?1 AND seq BETWEEN ?3 AND ?4
        AND sender <> ?2 AND deleted_at IS NULL AND system_kind IS NULL ORDER BY seq
        """)
      return try ranges(&statement, user, conversation, gap)
    }
  }
}

extension ReadState {
  /// Stores the number of the last message that was delivered to a user.
  ///
  /// The number never decreases.
  ///
  /// - Returns: the range of messages that are now delivered and were not before; nil if there are none.
  package func markDelivered(_ seq: Int, to user: UserKey, in conversation: ConversationKey, at time: Timestamp) throws
    -> SeqRange?
  {
    let before = try deliveredSeq(to: user, in: conversation)
    guard before < seq else { return nil }
    let new = (before + 1)...seq
    let layers = [try readMarks(in: conversation, near: new), try deliveryMarks(in: conversation, besides: user)]
    let changes = try statusChanges(new, by: user, over: layers, in: conversation) { ignored in
      let furthest = try delivered(in: conversation).filter { $0.user != user && !ignored.contains($0.user) }
        .reduce(0) { max($0, $1.seq) }
      return furthest > 0 ? [1...furthest] : []
    }
    do {
      var statement = try store.connection.prepare(
        "UPDATE participant SET delivered_seq = ?1 WHERE conversation = ?2 AND user = ?3")
      statement.bind(seq)
      statement.bind(conversation)
      statement.bind(user)
      try statement.run()
    }
    try store.changes.append(.deliveryReceipt, conversation: conversation, user: user, seqs: new, at: time)
    try store.changes.append(changes, by: user, conversation: conversation, at: time)
    return new
  }

  /// The deliveries to all users but one, in the form of read marks: first the messages that were delivered to several
  /// users, then those that were delivered to only one.
  private func deliveryMarks(in conversation: ConversationKey, besides user: UserKey) throws -> [ReadMark] {
    let furthest = try furthestDelivered(in: conversation, besides: user)
    guard let first = furthest.first else { return [] }
    let several = furthest.count > 1 ? furthest[1].seq : 0
    let marks = several > 0 ? [ReadMark(range: 1...several, reader: nil)] : []
    return several < first.seq ? marks + [ReadMark(range: (several + 1)...first.seq, reader: first.user)] : marks
  }

  /// The two participants whose last delivered messages have the highest numbers; if `user` is given, leaves out this user.
  ///
  /// Linear in the number of participants. The participants are not sorted in SQLite, because that would cost more than
  /// everything else that a follower does.
  func furthestDelivered(in conversation: ConversationKey, besides user: UserKey? = nil) throws -> [(
    user: UserKey, seq: Int
  )] {
    var statement = try store.connection.prepare(
      "SELECT user, delivered_seq FROM participant WHERE conversation = ? AND delivered_seq > 0")
    statement.bind(conversation)
    var furthest: [(user: UserKey, seq: Int)] = []
    while try statement.step() {
      let next = (user: statement.userKey(0), seq: statement.int(1))
      if next.user == user || furthest.count == 2 && furthest[1].seq >= next.seq { continue }
      furthest.insert(next, at: furthest.first.map { $0.seq >= next.seq } ?? false ? 1 : 0)
      if furthest.count > 2 { furthest.removeLast() }
    }
    return furthest
  }

  /// The participants who have received any message, each with the number of the last message delivered to them.
  ///
  /// - Parameter viewer: the user who sees this. A former participant sees what had been delivered to the others when
  ///   the participant left. Nil for the present state.
  package func delivered(in conversation: ConversationKey, as viewer: UserKey? = nil) throws -> [(
    user: UserKey, seq: Int
  )] {
    var statement = try store.connection.prepare(
      """
      SELECT user, delivered_seq FROM participant WHERE conversation = ?1 AND delivered_seq > 0
      AND (user = ?2 OR NOT EXISTS (SELECT 1 FROM former WHERE user = ?2 AND conversation = ?1))
      UNION ALL SELECT CAST(d.key AS INTEGER), CAST(d.value AS INTEGER) FROM former f, json_each(f.delivered) d
      WHERE f.user = ?2 AND f.conversation = ?1 AND CAST(d.key AS INTEGER) <> ?2 AND CAST(d.value AS INTEGER) > 0
      """)
    statement.bind(conversation)
    statement.bind(viewer)
    var found: [(user: UserKey, seq: Int)] = []
    while try statement.step() { found.append((statement.userKey(0), statement.int(1))) }
    return found
  }

  /// The number of the newest message of other users that is not yet recorded as delivered to `user`.
  ///
  /// Messages of users that `user` blocks, and messages hidden from `user`, do not count. Nil if there is none.
  ///
  /// Linear in the number of messages after the result, or after `first` if there is no result.
  ///
  /// - Parameter first: the lowest message number that the result may be.
  package func lastReceived(by user: UserKey, in conversation: ConversationKey, from first: Int) throws -> Int? {
    var statement = try store.connection.prepare(
      """
      SELECT seq FROM message WHERE conversation = ?1 AND seq >= ?3 AND sender <> ?2
      AND deleted_at IS NULL AND system_kind IS NULL
      AND sender NOT IN (SELECT blocked FROM block WHERE user = ?2)
      AND NOT EXISTS (SELECT 1 FROM hidden_range h WHERE h.conversation = ?1 AND h.user = ?2
        AND seq BETWEEN h.from_seq AND h.to_seq)
      ORDER BY seq DESC LIMIT 1
      """)
    statement.bind(conversation)
    statement.bind(user)
    statement.bind(max(first, try deliveredSeq(to: user, in: conversation) + 1))
    return try statement.step() ? statement.int(0) : nil
  }

  package func deliveredSeq(to user: UserKey, in conversation: ConversationKey) throws -> Int {
    var statement = try store.connection.prepare(
      "SELECT delivered_seq FROM participant WHERE conversation = ? AND user = ?")
    statement.bind(conversation)
    statement.bind(user)
    return try statement.step() ? statement.int(0) : 0
  }
}
