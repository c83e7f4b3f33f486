internal import DMModel
internal import DMStore

/// The counts of a participant, as computed from the rows that they count.
struct ParticipantCounts: Equatable {
  var read: Int
  var blocked: Int
  var mentions: Int
  /// Nil for NULL, which stands for the last activity of the conversation.
  var lastActivity: Timestamp?
}

/// The columns of a participant's row that are checked.
struct ParticipantRow {
  let user: UserKey
  let handle: String
  let counts: ParticipantCounts
  let deliveredSeq: Int
  let leftSeq: Int?
}

extension ConversationAudit {
  /// The columns of a participant.
  private enum ParticipantColumn: Int32, QueryColumn {
    case user, handle, readCount, blockedCount, mentionCount, lastActivity, deliveredSeq, leftSeq
  }

  func participants() throws -> [ParticipantRow] {
    var rows = try store.connection.prepare(
      """
      SELECT p.user, coalesce(u.handle, 'row ' || p.user) AS handle, p.read_count, p.blocked_count, p.mention_count,
        p.last_activity, p.delivered_seq, p.left_seq
      FROM participant p LEFT JOIN user u ON u.id = p.user WHERE p.conversation = ? ORDER BY p.user
      """)
    rows.bind(key)
    assert(rows.has(ParticipantColumn.self))
    var result: [ParticipantRow] = []
    while try rows.step() {
      let counts = ParticipantCounts(
        read: rows.int(ParticipantColumn.readCount), blocked: rows.int(ParticipantColumn.blockedCount),
        mentions: rows.int(ParticipantColumn.mentionCount),
        lastActivity: rows.isNull(ParticipantColumn.lastActivity) ? nil : rows.timestamp(ParticipantColumn.lastActivity)
      )
      result.append(
        ParticipantRow(
          user: rows.userKey(ParticipantColumn.user), handle: rows.text(ParticipantColumn.handle), counts: counts,
          deliveredSeq: rows.int(ParticipantColumn.deliveredSeq),
          leftSeq: rows.optionalInt(ParticipantColumn.leftSeq)))
    }
    return result
  }

  /// Computes the counts of a participant.
  ///
  /// - Parameter read: the participant's read ranges, ascending and disjoint.
  func counts(of row: ParticipantRow, read: [SeqRange], participants: Int) throws -> ParticipantCounts {
    let last = row.leftSeq ?? end.lastSeq
    let blocked = try store.blocks.users(by: row.user)
    var hidden = 0
    for user in blocked {
      let unread = difference(of: said[user] ?? [], minus: read)
      hidden += unread.reduce(0) { $0 + max(0, min($1.upperBound, last) - $1.lowerBound + 1) }
    }
    var activity: Timestamp? = try lastActivity(of: row.user, upTo: last)
    // In a large group, the row of a participant may have NULL, which stands for the last activity of the conversation.
    if row.counts.lastActivity == nil, participants > Conversations.smallGroup, activity == end.lastActivity {
      activity = nil
    }
    return ParticipantCounts(
      read: read.reduce(0) { $0 + $1.count }, blocked: hidden, mentions: try mentionCount(of: row.user),
      lastActivity: activity)
  }

  private func lastActivity(of user: UserKey, upTo seq: Int) throws -> Timestamp {
    // An imported conversation may have a last activity before it has a message.
    if end.lastSeq == 0 { return end.lastActivity }
    var newest = try store.connection.prepare(
      """
      SELECT created_at FROM message WHERE conversation = ?1 AND seq <= ?2
      AND sender NOT IN (SELECT blocked FROM block WHERE user = ?3) ORDER BY seq DESC LIMIT 1
      """)
    newest.bind(key)
    newest.bind(seq)
    newest.bind(user)
    return try newest.step() ? newest.timestamp(0) : createdAt
  }

  private func mentionCount(of user: UserKey) throws -> Int {
    var count = try store.connection.prepare(
      """
      SELECT count(*) FROM mention x JOIN message m ON m.conversation = x.conversation AND m.seq = x.seq
      WHERE x.conversation = ?1 AND x.user = ?2 AND m.sender NOT IN (SELECT blocked FROM block WHERE user = ?2)
      AND coalesce((SELECT to_seq FROM read_range r WHERE r.conversation = ?1 AND r.user = ?2 AND r.from_seq <= x.seq
        ORDER BY r.from_seq DESC LIMIT 1), 0) < x.seq
      """)
    count.bind(key)
    count.bind(user)
    return try count.step() ? count.int(0) : 0
  }

  // MARK: Ranges

  /// The ranges that a table has for each user, without those that are out of bounds or overlap.
  ///
  /// - Parameters:
  ///   - findings: gets a finding for each range that is left out, or that touches another one although it must not; nil
  ///     to report none.
  ///   - touching: whether two ranges of one user may touch.
  func ranges(in table: String, _ findings: Findings?, touching: Bool) throws -> [UserKey: [SeqRange]] {
    var rows = try store.connection.prepare(
      text: "SELECT user, from_seq, to_seq FROM \(table) WHERE conversation = ? ORDER BY user, from_seq")
    rows.bind(key)
    var result: [UserKey: [SeqRange]] = [:]
    while try rows.step() {
      let (user, from, to) = (rows.userKey(0), rows.int(1), rows.int(2))
      let before = result[user]?.last?.upperBound ?? -1
      guard from >= 1, from <= to, to <= end.lastSeq else {
        findings?.add(.ranges, id.description, "'\(table)' has \(from)..\(to), where there are no messages")
        continue
      }
      guard from > before else {
        findings?.add(.ranges, id.description, "'\(table)' has the number \(from) twice of one user")
        continue
      }
      if !touching, from == before + 1 {
        findings?.add(.ranges, id.description, "'\(table)' has two ranges of one user that meet at \(from)")
      }
      result[user, default: []].append(from...to)
    }
    return result
  }

  func checkRanges(_ findings: Findings) throws {
    let read = try ranges(in: "read_range", findings, touching: false)
    let hidden = try ranges(in: "hidden_range", findings, touching: true)
    let receipts = try ranges(in: "receipt", findings, touching: true)
    let rows = try participants()
    for row in rows {
      let read = read[row.user] ?? []
      let expected = try counts(of: row, read: read, participants: rows.count)
      compare(row, expected, findings)
      for (what, ranges) in settled(for: row, hidden: hidden[row.user] ?? []) {
        if let first = difference(of: ranges, minus: read).first {
          findings.add(
            .ranges, "\(id):\(first.lowerBound)",
            "\(what) '\(row.handle)' has to count as read and does not", .repairFinding)
        }
      }
      for (what, seq) in [("got", row.deliveredSeq), ("seen before they left", row.leftSeq ?? 0)]
      where !(0...end.lastSeq).contains(seq) {
        findings.add(.ranges, id.description, "'\(row.handle)' cannot have \(what) the number \(seq)")
      }
    }
    try checkMarks(receipts, findings)
  }

  /// The messages that must count as read for a participant, up to the last one that they can see.
  private func settled(for row: ParticipantRow, hidden: [SeqRange]) -> [(what: String, ranges: [SeqRange])] {
    let last = row.leftSeq ?? end.lastSeq
    return [
      ("what is hidden from", hidden), ("what was said by", said[row.user] ?? []),
      ("what is deleted or said by the system, for", quiet),
    ].map { what, ranges in
      (what, ranges.filter { $0.lowerBound <= last }.map { $0.lowerBound...min($0.upperBound, last) })
    }
  }

  /// The messages that a participant has read, and those that must count as read; ascending and disjoint.
  func readRanges(of row: ParticipantRow, _ read: [SeqRange], hidden: [SeqRange]) -> [SeqRange] {
    let all = read + settled(for: row, hidden: hidden).flatMap(\.ranges)
    return coalesced(all.sorted { $0.lowerBound < $1.lowerBound })
  }

  private func compare(_ row: ParticipantRow, _ expected: ParticipantCounts, _ findings: Findings) {
    func check(_ what: String, _ stored: String, _ right: String) {
      if stored == right { return }
      findings.add(.counts, id.description, "\(what) of '\(row.handle)' is \(stored) instead of \(right)")
    }
    check("the count of read messages", "\(row.counts.read)", "\(expected.read)")
    check("the count of blocked messages", "\(row.counts.blocked)", "\(expected.blocked)")
    check("the count of mentions", "\(row.counts.mentions)", "\(expected.mentions)")
    check(
      "the last activity", row.counts.lastActivity?.description ?? "none", expected.lastActivity?.description ?? "none")
  }
}
