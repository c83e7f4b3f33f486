package import DMModel

extension Store {
  /// Adds a receipt for what of a range a user has none for yet, and lays it over those of the others.
  package func addReceipts(_ range: SeqRange, of user: UserKey, in conversation: ConversationKey, at time: Timestamp)
    throws
  {
    for gap in gaps(in: range, left: try receiptRanges(of: user, in: conversation, overlapping: range)) {
      let marks = try readMarks(in: conversation, near: gap)
      let changes = try statusChanges(gap, by: user, over: [marks], in: conversation) { _ in [] }
      var insert = try connection.prepare(
        "INSERT INTO receipt (conversation, user, from_seq, to_seq, at) VALUES (?, ?, ?, ?, ?)")
      insert.bind(conversation)
      insert.bind(user)
      insert.bind(gap.lowerBound)
      insert.bind(gap.upperBound)
      insert.bind(time)
      try insert.run()
      try overlay(gap, by: user, on: marks, in: conversation)
      try append(.readReceipt, conversation: conversation, user: user, seqs: gap, at: time)
      try append(changes, by: user, conversation: conversation, at: time)
    }
  }

  /// What a receipt of a user for a range changes, before it is written.
  ///
  /// For a sender who blocks participants it changes more: what only those have read or got.
  ///
  /// - Parameter delivered: what counts as having come as far besides reading, when some participants do not count.
  func statusChanges(
    _ range: SeqRange, by user: UserKey, over layers: [[ReadMark]], in conversation: ConversationKey,
    delivered: (_ ignored: Set<UserKey>) throws -> [SeqRange]
  ) throws -> [StatusChange] {
    let changes = StatusChange.changes(range, by: user, over: layers)
    var added: [StatusChange] = []
    for (sender, blocked) in try blocks(among: conversation).sorted(by: { $0.key < $1.key })
    where sender != user && !blocked.contains(user) {
      let ignored = blocked.union([sender])
      let read = try receipts(in: conversation, overlapping: range).filter { !ignored.contains($0.user) }.map(\.range)
      let logged = changes.filter { $0.senders == .allBut(user) || $0.senders == .only(sender) }.map(\.range)
      let covered = (read + logged + (try delivered(ignored))).sorted { $0.lowerBound < $1.lowerBound }
      added += gaps(in: range, left: coalesced(covered)).map { StatusChange(range: $0, senders: .only(sender)) }
    }
    return changes + added
  }

  /// The receipts of a conversation that overlap a range, in the order of users and numbers.
  package func receipts(in conversation: ConversationKey, overlapping range: SeqRange) throws
    -> [(user: UserKey, range: SeqRange, at: Timestamp)]
  {
    var statement = try connection.prepare(
      """
      SELECT r.user, r.from_seq, r.to_seq, r.at FROM participant p CROSS JOIN receipt r
      ON r.conversation = p.conversation AND r.user = p.user AND r.from_seq <= ?3
      AND r.from_seq >= coalesce((SELECT max(from_seq) FROM receipt
        WHERE conversation = p.conversation AND user = p.user AND from_seq <= ?2), ?2)
      AND r.to_seq >= ?2 WHERE p.conversation = ?1 ORDER BY p.user, r.from_seq
      """)
    statement.bind(conversation)
    statement.bind(range.lowerBound)
    statement.bind(range.upperBound)
    var found: [(user: UserKey, range: SeqRange, at: Timestamp)] = []
    while try statement.step() {
      found.append((statement.userKey(0), try statement.seqs(1, 2), statement.timestamp(3)))
    }
    return found
  }

  /// The senders of a range of messages, in the order of their first ones, each with what a user sees of their messages.
  ///
  /// - Parameters:
  ///   - only: nil for all senders.
  ///   - other: a sender who is left out; nil for none.
  package func senders(
    of seqs: SeqRange, in conversation: ConversationKey, only: UserKey? = nil, besides other: UserKey? = nil,
    as viewer: Viewer
  ) throws -> [(sender: UserKey, first: Int, seqs: [SeqRange])] {
    var statement = try connection.prepare(
      """
      SELECT seq, sender, deleted_at IS NOT NULL, expires_at FROM message
      WHERE conversation = ? AND seq BETWEEN ? AND ? ORDER BY seq
      """)
    statement.bind(conversation)
    statement.bind(seqs.lowerBound)
    statement.bind(seqs.upperBound)
    var places: [UserKey: Int] = [:]
    var found: [(sender: UserKey, first: Int, seqs: [SeqRange])] = []
    while try statement.step() {
      let (seq, sender) = (statement.int(0), statement.userKey(1))
      if sender == other || only.map({ $0 != sender }) == true { continue }
      let place = places[sender] ?? found.count
      if place == found.count {
        found.append((sender, seq, []))
        places[sender] = place
      }
      guard
        try viewer.sees(
          seq, in: conversation, from: sender, isGone: statement.bool(2), expiresAt: statement.optionalTimestamp(3))
      else { continue }
      if let last = found[place].seqs.last, last.upperBound + 1 == seq {
        found[place].seqs[found[place].seqs.count - 1] = last.lowerBound...seq
      } else {
        found[place].seqs.append(seq...seq)
      }
    }
    return found
  }

  private func receiptRanges(of user: UserKey, in conversation: ConversationKey, overlapping range: SeqRange) throws
    -> [SeqRange]
  {
    var statement = try connection.prepare(
      """
      SELECT from_seq, to_seq FROM receipt WHERE conversation = ?1 AND user = ?2 AND from_seq <= ?4
      AND from_seq >= coalesce((SELECT max(from_seq) FROM receipt
        WHERE conversation = ?1 AND user = ?2 AND from_seq <= ?3), ?3)
      AND to_seq >= ?3 ORDER BY from_seq
      """)
    return try ranges(&statement, user, conversation, range)
  }

  /// The marks that overlap a range or touch it, ascending.
  func readMarks(in conversation: ConversationKey, near range: SeqRange) throws -> [ReadMark] {
    var statement = try connection.prepare(
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
      var delete = try connection.prepare(
        "DELETE FROM read_mark WHERE conversation = ? AND to_seq BETWEEN ? AND ?")
      delete.bind(conversation)
      delete.bind(first.range.upperBound)
      delete.bind(last.range.upperBound)
      try delete.run()
    }
    for mark in ReadMark.overlay(near, with: range, by: user) {
      var insert = try connection.prepare(
        "INSERT INTO read_mark (conversation, to_seq, from_seq, reader) VALUES (?, ?, ?, ?)")
      insert.bind(conversation)
      insert.bind(mark.range.upperBound)
      insert.bind(mark.range.lowerBound)
      insert.bind(mark.reader)
      try insert.run()
    }
  }
}

extension Store {
  /// Whether a user's reading adds receipts, which others see.
  package func sendsReadReceipts(_ user: UserKey) throws -> Bool {
    var statement = try connection.prepare("SELECT sends_read_receipts FROM user WHERE id = ?")
    statement.bind(user)
    return try !statement.step() || statement.bool(0)
  }

  /// The messages of others that a user has read without a receipt.
  ///
  /// - Parameter read: what the user has read of the range, ascending.
  package func privatelyRead(
    _ range: SeqRange, of user: UserKey, in conversation: ConversationKey, among read: [SeqRange]
  ) throws -> [SeqRange] {
    let read = read.filter(range.overlaps).map { $0.clamped(to: range) }
    if read.isEmpty { return [] }
    return try gaps(in: read, left: receiptRanges(of: user, in: conversation, overlapping: range)).flatMap { gap in
      var statement = try connection.prepare(
        """
        SELECT seq, seq FROM message WHERE conversation = ?1 AND seq BETWEEN ?3 AND ?4
        AND sender <> ?2 AND deleted_at IS NULL AND system_kind IS NULL ORDER BY seq
        """)
      return try ranges(&statement, user, conversation, gap)
    }
  }

  /// When messages of a range were delivered, by user, as far as the change log has it.
  package func deliveries(
    in conversation: ConversationKey, overlapping range: SeqRange
  ) throws -> [UserKey: [(range: SeqRange, at: Timestamp)]] {
    var statement = try connection.prepare(
      """
      SELECT user, from_seq, to_seq, at FROM change
      WHERE kind = ? AND conversation = ? AND from_seq <= ? AND to_seq >= ? ORDER BY rev
      """)
    statement.bind(Change.deliveryReceipt.rawValue)
    statement.bind(conversation)
    statement.bind(range.upperBound)
    statement.bind(range.lowerBound)
    var found: [UserKey: [(range: SeqRange, at: Timestamp)]] = [:]
    while try statement.step() {
      found[statement.userKey(0), default: []].append((try statement.seqs(1, 2), statement.timestamp(3)))
    }
    return found
  }

  /// What was said of a conversation while a user was not in it.
  package func neverSeen(by user: UserKey, in conversation: ConversationKey) throws -> [SeqRange] {
    var statement = try connection.prepare(
      """
      SELECT from_seq, to_seq FROM hidden_range
      WHERE conversation = ? AND user = ? AND NOT is_deleted ORDER BY from_seq
      """)
    statement.bind(conversation)
    statement.bind(user)
    var found: [SeqRange] = []
    while try statement.step() { found.append(try statement.seqs(0, 1)) }
    return coalesced(found)
  }
}
