extension Store {
  /// What a row of the change log says.
  ///
  /// The numbers stand in stores: they are never reused.
  enum Change: Int64 {
    case message = 1
    /// Others may see it.
    case readReceipt = 2
    case deliveryReceipt = 3
    case conversation = 4
    case user = 5
    /// One's own read state, without a receipt.
    case readState = 6
  }

  func append(
    _ change: Change, conversation: Int64? = nil, user: Int64? = nil, seqs: SeqRange? = nil, at time: Timestamp
  ) throws {
    var statement = try connection.prepare(
      "INSERT INTO change (at, kind, conversation, user, from_seq, to_seq) VALUES (?, ?, ?, ?, ?, ?)")
    statement.bind(time)
    statement.bind(change.rawValue)
    statement.bind(conversation)
    statement.bind(user)
    statement.bind(seqs.map { Int64($0.lowerBound) })
    statement.bind(seqs.map { Int64($0.upperBound) })
    try statement.run()
  }
}
