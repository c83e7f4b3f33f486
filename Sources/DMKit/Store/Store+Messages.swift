extension Store {
  /// What `message(_:from:as:)` reads, in its order.
  static let messageColumns =
    "m.uuid, m.conversation, m.seq, m.sender, m.text, m.created_at, m.reply_to, m.nonce"

  func message(_ row: borrowing Statement, from first: Int32, as statuses: StatusReader) throws -> Message {
    let conversation = row.int64(first + 1)
    let seq = row.int(first + 2)
    let sender = row.int64(first + 3)
    return Message(
      id: row.identifier(first), conversationID: try conversationID(conversation), seq: seq,
      sender: try handle(sender), text: row.optionalText(first + 4), createdAt: row.timestamp(first + 5),
      status: try statuses.status(of: seq, in: conversation, from: sender),
      replyTo: row.optionalIdentifier(first + 6), nonce: row.optionalText(first + 7))
  }

  /// Where a message stands: its conversation and number.
  struct Place: Equatable {
    let conversation: Int64
    let seq: Int
  }

  func place(of id: Identifier) throws -> Place? {
    var statement = try connection.prepare("SELECT conversation, seq FROM message WHERE uuid = ?")
    statement.bind(id)
    return try statement.step() ? Place(conversation: statement.int64(0), seq: statement.int(1)) : nil
  }

  func identifier(of place: Place) throws -> Identifier? {
    var statement = try connection.prepare("SELECT uuid FROM message WHERE conversation = ? AND seq = ?")
    statement.bind(place.conversation)
    statement.bind(place.seq)
    return try statement.step() ? statement.identifier(0) : nil
  }

  func message(at place: Place, as statuses: StatusReader) throws -> Message? {
    try messages(in: place.conversation, place.seq...place.seq, as: statuses).first
  }

  /// The plus keeps SQLite from going through the conversation by number instead (optoverview.html, section 4).
  static let placeOfNonce: StaticString = """
    SELECT seq FROM message WHERE conversation = ?1 AND nonce = ?2 AND (?3 IS NULL OR sender = ?3)
    ORDER BY +seq DESC LIMIT 1
    """

  /// The message that bears a nonce: a sender's, or the newest of anybody's.
  func place(of nonce: String, from sender: Int64?, in conversation: Int64) throws -> Place? {
    var statement = try connection.prepare(Self.placeOfNonce)
    statement.bind(conversation)
    statement.bind(nonce)
    statement.bind(sender)
    return try statement.step() ? Place(conversation: conversation, seq: statement.int(0)) : nil
  }

  func messages(in conversation: Int64, _ seqs: SeqRange, as statuses: StatusReader) throws -> [Message] {
    var statement = try connection.prepare(
      as: "messages",
      """
      SELECT \(Self.messageColumns) FROM message m
      WHERE conversation = ? AND seq BETWEEN ? AND ? ORDER BY seq
      """)
    statement.bind(conversation)
    statement.bind(seqs.lowerBound)
    statement.bind(seqs.upperBound)
    var messages: [Message] = []
    messages.reserveCapacity(seqs.count)
    while try statement.step() { messages.append(try message(statement, from: 0, as: statuses)) }
    return messages
  }

  /// The number of the first message that is not older than a moment; one past the last when all are.
  ///
  /// Times grow with numbers, so it takes as many look-ups as the logarithm of the conversation.
  func firstSeq(notBefore time: Timestamp, in conversation: ConversationRow) throws -> Int {
    var (lower, upper) = (1, conversation.lastSeq + 1)
    while lower < upper {
      let middle = (lower + upper) / 2
      var statement = try connection.prepare("SELECT created_at FROM message WHERE conversation = ? AND seq = ?")
      statement.bind(conversation.key)
      statement.bind(middle)
      if try statement.step(), statement.timestamp(0) < time { lower = middle + 1 } else { upper = middle }
    }
    return lower
  }

  struct NewMessage {
    var id: Identifier? = nil
    let sender: Int64
    let text: String?
    let nonce: String?
    let replyTo: Identifier?
    /// Nil for the present.
    var at: Timestamp? = nil
  }

  /// Adds a message at the end of a conversation, of which it brings `row` up to date, and logs it
  /// unless it is history.
  ///
  /// The time is never earlier than a microsecond after the message before, whatever the clock says.
  func insert(_ message: NewMessage, into row: inout ConversationRow) throws -> Identifier {
    let seq = row.lastSeq + 1
    let earliest = Timestamp(microseconds: row.lastActivity.microseconds + 1)
    let time = message.at ?? max(.now, earliest)
    let id = message.id ?? Identifier(at: time)
    var insert = try connection.prepare(
      """
      INSERT INTO message (uuid, conversation, seq, sender, created_at, text, nonce, reply_to)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """)
    insert.bind(id)
    insert.bind(row.key)
    insert.bind(seq)
    insert.bind(message.sender)
    insert.bind(time)
    insert.bind(message.text)
    insert.bind(message.nonce)
    insert.bind(message.replyTo)
    try insert.run()
    row.lastSeq = seq
    row.newMessage = connection.lastInsertedRow
    row.lastActivity = time
    if message.at == nil {
      try append(.message, conversation: row.key, user: message.sender, seqs: seq...seq, at: time)
    }
    return id
  }

  /// Writes the end of a conversation into its row and those of its participants, and that its last
  /// `added` messages are no news to a user, or to anybody.
  func update(_ row: ConversationRow, added: Int, readBy user: Int64?) throws {
    var end = try connection.prepare(
      "UPDATE conversation SET last_seq = ?, last_message = ?, last_activity = ? WHERE id = ?")
    end.bind(row.lastSeq)
    end.bind(row.newMessage)
    end.bind(row.lastActivity)
    end.bind(row.key)
    try end.run()
    var participants = try connection.prepare(
      """
      UPDATE participant SET last_activity = iif(last_activity IS NULL, NULL, ?1),
        read_count = read_count + iif(coalesce(user = ?4, 1), ?3, 0)
      WHERE conversation = ?2 AND (last_activity IS NOT NULL OR coalesce(user = ?4, 1))
      """)
    participants.bind(row.lastActivity)
    participants.bind(row.key)
    participants.bind(added)
    participants.bind(user)
    try participants.run()
  }

  /// Adds new messages to what a user has read; the count of them is `update`'s.
  func extendReadRanges(by range: SeqRange, of user: Int64, in conversation: Int64) throws {
    do {
      var extend = try connection.prepare(
        """
        UPDATE read_range SET to_seq = ?1 WHERE conversation = ?3 AND user = ?4 AND to_seq = ?2 - 1
        AND from_seq = (SELECT max(from_seq) FROM read_range WHERE conversation = ?3 AND user = ?4)
        """)
      extend.bind(range.upperBound)
      extend.bind(range.lowerBound)
      extend.bind(conversation)
      extend.bind(user)
      try extend.run()
    }
    if connection.changes > 0 { return }
    try insertReadRange(range, of: user, in: conversation)
  }
}
