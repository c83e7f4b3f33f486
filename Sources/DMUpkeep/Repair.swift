package import DMModel
internal import DMStore

/// The result of a repair.
package struct Repaired: Equatable, Sendable {
  /// The number of messages indexed again.
  package let indexedCount: Int
  /// The number of conversations with a wrong last number, last message or last activity.
  package let conversationsCount: Int
  /// The number of rows about current and former participants that were wrong.
  package let participantsCount: Int
  /// The number of messages with wrong counts.
  package let messagesCount: Int
  /// The number of changes that were committed and are missing from the change log.
  package let lostChangesCount: Int
  /// The time of the previous repair; nil if there was none.
  package let lastUsedAt: Timestamp?
}

extension Upkeep {
  /// Rebuilds the search index, removes the vectors of messages, corrects all columns that can be computed from the
  /// messages, and accepts the loss of changes that are missing from the change log.
  ///
  /// Texts, receipts and digests are not changed. Read ranges are changed only if they are invalid, or lack messages
  /// that must count as read.
  package func repair() throws -> Repaired {
    let store = try store()
    let lastUsedAt = try lastUse(of: .repair)
    return try store.write(isBulk: true, acceptsLoss: true) {
      let lost = try store.acceptLoss()
      try progress("indexing the messages")
      try store.searchIndex.rebuild()
      // Vectors are not compared with their texts here; the next search computes them again.
      try store.vectors.removeAll()
      let counts = try correctCounts(in: store)
      try note(.repair, in: store)
      return Repaired(
        indexedCount: Int(try store.pragma("SELECT count(*) FROM message WHERE text IS NOT NULL")),
        conversationsCount: counts.conversations, participantsCount: counts.participants,
        messagesCount: counts.messages, lostChangesCount: lost, lastUsedAt: lastUsedAt)
    }
  }

  /// Corrects counts and other computed columns; runs within a write transaction.
  ///
  /// - Returns: the numbers of rows that were wrong.
  @discardableResult
  func correctCounts(in store: Store) throws -> (conversations: Int, participants: Int, messages: Int) {
    let conversations = try conversations(in: store)
    var participants = try participants(in: store)
    try store.connection.execute(
      """
      UPDATE participant SET is_blocked = NOT is_blocked
      WHERE (conversation, user) IN (SELECT p.conversation, p.user \(Self.wrongFlags))
      """)
    participants += store.connection.changes
    participants += try store.unreadFlags.correctAll()
    participants += try store.members.correctFormers()
    try PinAudit.repair(store)
    try store.connection.execute(
      """
      UPDATE message AS m SET \(Self.countedRows.map { "\($0)_count = \(Self.counted($0))" }.joined(separator: ", "))
      WHERE \(Self.countedRows.map { "(\(Self.isMiscounted($0)))" }.joined(separator: " OR "))
      """)
    return (conversations, participants, store.connection.changes)
  }

  /// Corrects the last number, message and activity of conversations.
  ///
  /// - Returns: the number of rows that were wrong.
  private func conversations(in store: Store) throws -> Int {
    var wrong: [(key: ConversationKey, end: ConversationAudit.End)] = []
    try ConversationAudit.forEach(in: store) { audit in
      try progress("counting")
      try audit.readMessages(nil)
      if audit.stored != audit.end { wrong.append((audit.key, audit.end)) }
    }
    // Rows must not be changed by one statement while another reads them (sqlite.org/isolation.html).
    for (key, end) in wrong {
      var update = try store.connection.prepare(
        "UPDATE conversation SET last_seq = ?, last_message = ?, last_activity = ? WHERE id = ?")
      update.bind(end.lastSeq)
      update.bind(end.lastMessage)
      update.bind(end.lastActivity)
      update.bind(key)
      try update.run()
    }
    return wrong.count
  }

  /// Corrects the read ranges and counts of participants; the rows of the conversations must be correct already.
  private func participants(in store: Store) throws -> Int {
    var wrong: [(conversation: ConversationKey, user: UserKey, counts: ParticipantCounts)] = []
    try ConversationAudit.forEach(in: store) { audit in
      try progress("counting")
      try audit.readMessages(nil)
      let faults = Findings()
      let read = try audit.ranges(in: "read_range", faults, touching: false)
      let hidden = try audit.ranges(in: "hidden_range", nil, touching: true)
      let rows = try audit.participants()
      for row in rows {
        let stored = read[row.user] ?? []
        let right = audit.readRanges(of: row, stored, hidden: hidden[row.user] ?? [])
        let isRight = right == stored && faults.isEmpty
        if !isRight { try store.readState.setReadRanges(right, of: row.user, in: audit.key) }
        let counts = try audit.counts(of: row, read: right, participants: rows.count)
        if counts != row.counts || !isRight { wrong.append((audit.key, row.user, counts)) }
      }
    }
    for (conversation, user, counts) in wrong {
      var update = try store.connection.prepare(
        """
        UPDATE participant SET read_count = ?, blocked_count = ?, mention_count = ?, last_activity = ?
        WHERE conversation = ? AND user = ?
        """)
      update.bind(counts.read)
      update.bind(counts.blocked)
      update.bind(counts.mentions)
      update.bind(counts.lastActivity?.microseconds)
      update.bind(conversation)
      update.bind(user)
      try update.run()
    }
    return wrong.count
  }
}
