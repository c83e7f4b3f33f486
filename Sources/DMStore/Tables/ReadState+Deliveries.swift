package import DMModel

// Reads: former, participant.
// Writes: participant.

extension ReadState {
  /// Stores up to which number messages were delivered to a user; it never goes back.
  ///
  /// - Returns: the newly delivered messages; nil if there are none.
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

  /// The deliveries to users other than one, as marks: the messages delivered to several, then those delivered to one
  /// only.
  private func deliveryMarks(in conversation: ConversationKey, besides user: UserKey) throws -> [ReadMark] {
    let furthest = try furthestDelivered(in: conversation, besides: user)
    guard let first = furthest.first else { return [] }
    let several = furthest.count > 1 ? furthest[1].seq : 0
    let marks = several > 0 ? [ReadMark(range: 1...several, reader: nil)] : []
    return several < first.seq ? marks + [ReadMark(range: (several + 1)...first.seq, reader: first.user)] : marks
  }

  /// The two participants with the highest delivered message, of all or of all but one.
  ///
  /// Linear in the participants; sorting in SQLite costs more than everything else that a follower does.
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

  /// The participants who received any message, each with the highest delivered one.
  ///
  /// - Parameter viewer: the user who looks; a former participant sees what others had received when they left. Nil for
  ///   what all have received.
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

  package func deliveredSeq(to user: UserKey, in conversation: ConversationKey) throws -> Int {
    var statement = try store.connection.prepare(
      "SELECT delivered_seq FROM participant WHERE conversation = ? AND user = ?")
    statement.bind(conversation)
    statement.bind(user)
    return try statement.step() ? statement.int(0) : 0
  }
}
