extension Store {
  /// Adds a receipt for what of a range a user has none for yet, and lays it over those of the others.
  func addReceipts(_ range: SeqRange, of user: Int64, in conversation: Int64, at time: Timestamp) throws {
    for gap in gaps(in: range, left: try receiptRanges(of: user, in: conversation, overlapping: range)) {
      var insert = try connection.prepare(
        "INSERT INTO receipt (conversation, user, from_seq, to_seq, at) VALUES (?, ?, ?, ?, ?)")
      insert.bind(conversation)
      insert.bind(user)
      insert.bind(gap.lowerBound)
      insert.bind(gap.upperBound)
      insert.bind(time)
      try insert.run()
      let marks = try readMarks(in: conversation, near: gap)
      try overlay(gap, by: user, on: marks, in: conversation)
      try append(.readReceipt, conversation: conversation, user: user, seqs: gap, at: time)
      try append(StatusChange.changes(gap, by: user, over: [marks]), by: user, conversation: conversation, at: time)
    }
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
