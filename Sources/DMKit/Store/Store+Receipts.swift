extension Store {
  /// Adds a receipt for what of a range a user has none for yet, and lays it over those of the others.
  func addReceipts(_ range: SeqRange, of user: Int64, in conversation: Int64, at time: Timestamp) throws {
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
    _ range: SeqRange, by user: Int64, over layers: [[ReadMark]], in conversation: Int64,
    delivered: (_ ignored: Set<Int64>) throws -> [SeqRange]
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
  func receipts(in conversation: Int64, overlapping range: SeqRange) throws -> [(user: Int64, range: SeqRange)] {
    var statement = try connection.prepare(
      """
      SELECT r.user, r.from_seq, r.to_seq FROM participant p CROSS JOIN receipt r
      ON r.conversation = p.conversation AND r.user = p.user AND r.from_seq <= ?3
      AND r.from_seq >= coalesce((SELECT max(from_seq) FROM receipt
        WHERE conversation = p.conversation AND user = p.user AND from_seq <= ?2), ?2)
      AND r.to_seq >= ?2 WHERE p.conversation = ?1 ORDER BY p.user, r.from_seq
      """)
    statement.bind(conversation)
    statement.bind(range.lowerBound)
    statement.bind(range.upperBound)
    var found: [(user: Int64, range: SeqRange)] = []
    while try statement.step() { found.append((statement.int64(0), try statement.seqs(1, 2))) }
    return found
  }

  private func receiptRanges(of user: Int64, in conversation: Int64, overlapping range: SeqRange) throws -> [SeqRange] {
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
  func readMarks(in conversation: Int64, near range: SeqRange) throws -> [ReadMark] {
    var statement = try connection.prepare(
      "SELECT from_seq, to_seq, reader FROM read_mark WHERE conversation = ? AND to_seq >= ? ORDER BY to_seq")
    statement.bind(conversation)
    statement.bind(range.lowerBound - 1)
    var near: [ReadMark] = []
    while try statement.step(), statement.int(0) <= range.upperBound + 1 {
      near.append(ReadMark(range: try statement.seqs(0, 1), reader: statement.optionalInt64(2)))
    }
    return near
  }

  private func overlay(_ range: SeqRange, by user: Int64, on near: [ReadMark], in conversation: Int64) throws {
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

  /// Who has read a message and when, oldest first.
  ///
  /// Its sender is left out.
  func receipts(for place: Place) throws -> [(user: Int64, range: SeqRange, at: Timestamp)] {
    var statement = try connection.prepare(
      """
      SELECT r.user, r.from_seq, r.to_seq, r.at FROM participant p
      JOIN receipt r ON r.conversation = p.conversation AND r.user = p.user AND r.from_seq =
        (SELECT max(from_seq) FROM receipt WHERE conversation = p.conversation AND user = p.user AND from_seq <= ?2)
      WHERE p.conversation = ?1 AND r.to_seq >= ?2
      AND p.user <> (SELECT sender FROM message WHERE conversation = ?1 AND seq = ?2) ORDER BY r.at, r.user
      """)
    statement.bind(place.conversation)
    statement.bind(place.seq)
    var result: [(user: Int64, range: SeqRange, at: Timestamp)] = []
    while try statement.step() {
      result.append((statement.int64(0), try statement.seqs(1, 2), statement.timestamp(3)))
    }
    return result
  }
}
