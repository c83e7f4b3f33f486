package import DMModel

// Reads: message.

extension Messages {
  /// The messages of a range that a user sent.
  package func seqs(of sender: UserKey, _ range: SeqRange, in conversation: ConversationKey) throws -> [SeqRange] {
    var statement = try store.connection.prepare(
      "SELECT seq, seq FROM message WHERE conversation = ?1 AND sender = ?2 AND seq BETWEEN ?3 AND ?4 ORDER BY seq")
    return try store.readState.ranges(&statement, sender, conversation, range)
  }

  /// The messages of a range that others sent and that a user sees.
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

  /// The senders of a range of messages, in the order of their first messages, each with the messages that a user sees.
  ///
  /// - Parameters:
  ///   - only: the only sender to return; nil for all.
  ///   - other: a sender to leave out; nil for none.
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
