package import DMModel
internal import DMSystem

/// TODO
package struct Messages {
  let store: Store

  /// The conversation and number of a message by its key.
  package func place(ofMessage key: MessageKey) throws -> Place? {
    var statement = try store.connection.prepare("SELECT conversation, seq FROM message WHERE id = ?")
    statement.bind(key)
    return try statement.step() ? Place(conversation: statement.conversationKey(0), seq: statement.int(1)) : nil
  }

  /// The numbers of the messages of a conversation that carry something, the newest first.
  package func placesOfAttachments(in conversation: ConversationKey) throws -> [Int] {
    var statement = try store.connection.prepare(
      "SELECT seq FROM message WHERE conversation = ? AND attachment_count > 0 ORDER BY seq DESC")
    statement.bind(conversation)
    var seqs: [Int] = []
    while try statement.step() { seqs.append(statement.int(0)) }
    return seqs
  }

  /// What `message(_:from:as:)` reads, in its order.
  static let messageColumns = """
    m.uuid, m.conversation, m.seq, m.sender, m.text, m.created_at, m.reply_to, m.nonce, m.id, m.edited_at, m.expires_at,
    m.deleted_at, m.system_kind, m.subject, m.mentions, m.reaction_count, m.attachment_count,
    m.forwarded_from
    """

  /// A message as a user sees it; nil for one that they do not see.
  package func message(_ row: borrowing Statement, from first: Int32, as viewer: Viewer) throws -> Message? {
    let conversation = row.conversationKey(first + 1)
    let seq = row.int(first + 2)
    let sender = row.userKey(first + 3)
    let expiresAt = row.optionalTimestamp(first + 10)
    guard try viewer.sees(seq, in: conversation, from: sender, isGone: !row.isNull(first + 11), expiresAt: expiresAt)
    else { return nil }
    // Nobody has made a tombstone of it yet, but that is what is there to be seen.
    let isOver = viewer.extras == .tombstones && row.isNull(first + 11) && expiresAt.map { $0 <= viewer.now } == true
    let surroundings = viewer.surroundings
    let status = try viewer.statuses.status(of: seq, in: conversation, from: sender)
    // What is gone counts as read.
    let isUnread =
      try sender != viewer.user && !isOver && row.isNull(first + 11) && !surroundings.isRead(seq, in: conversation)
    let readByCount = status == .read ? try viewer.statuses.readerCount(of: seq, in: conversation, from: sender) : 0
    let readBy =
      viewer.includesReaders
      ? try viewer.statuses.readers(of: seq, in: conversation, from: sender).map(store.users.handle) : nil
    let replyTo = try row.optionalIdentifier(first + 6).map { try surroundings.reply($0, as: viewer) }
    func common() throws -> Message {
      Message(
        row.identifier(first), conversationID: try store.conversations.id(conversation),
        conversation: try surroundings.label(of: conversation), seq: seq, sender: try store.users.handle(sender),
        senderName: try surroundings.displayName(of: sender), isMine: sender == viewer.user, isUnread: isUnread,
        readByCount: readByCount, readBy: readBy, text: isOver ? nil : row.optionalText(first + 4),
        createdAt: row.timestamp(first + 5), status: status, replyTo: replyTo, nonce: row.optionalText(first + 7),
        expiresAt: expiresAt, deletedAt: isOver ? expiresAt : nil)
    }
    if isOver
      || row.isNull(first + 9) && row.isNull(first + 11) && row.isNull(first + 12) && row.isNull(first + 14)
        && row.int64(first + 15) == 0 && row.int64(first + 16) == 0 && row.isNull(first + 17)
    {
      // Returned as it is made: to copy one costs as much as to read it.
      return try common()
    }
    var message = try common()
    message.editedAt = row.optionalTimestamp(first + 9)
    message.deletedAt = row.optionalTimestamp(first + 11)
    message.systemKind = row.optionalInt64(first + 12).flatMap(Message.SystemKind.init(number:))
    message.subject = row.optionalText(first + 13)
    message.mentions = row.text(first + 14).utf8.split(separator: 0x20).map { Handle(stored: String(Substring($0))) }
    message.forwardedFrom = try row.optionalUserKey(first + 17).map(store.users.handle)
    if row.int64(first + 16) > 0 { message.attachments = try store.attachments.all(of: row.messageKey(first + 8)) }
    if row.int64(first + 15) > 0 {
      message.reactions = try store.reactions.all(to: row.messageKey(first + 8), as: viewer)
    }
    return message
  }

  /// Where a message stands: its conversation and number.
  package struct Place: Equatable {
    package let conversation: ConversationKey
    package let seq: Int

    package init(conversation: ConversationKey, seq: Int) {
      self.conversation = conversation
      self.seq = seq
    }
  }

  package func place(of id: Identifier) throws -> Place? {
    var statement = try store.connection.prepare("SELECT conversation, seq FROM message WHERE uuid = ?")
    statement.bind(id)
    return try statement.step() ? Place(conversation: statement.conversationKey(0), seq: statement.int(1)) : nil
  }

  package func identifier(of place: Place) throws -> Identifier? {
    var statement = try store.connection.prepare("SELECT uuid FROM message WHERE conversation = ? AND seq = ?")
    statement.bind(place.conversation)
    statement.bind(place.seq)
    return try statement.step() ? statement.identifier(0) : nil
  }

  /// Looks whether the last message of a conversation is there, so that a reader of all messages comes to an end.
  ///
  /// - Throws: `store_damaged`.
  package func checkEnd(of row: Conversations.Row) throws {
    guard row.lastSeq > 0, try identifier(of: Place(conversation: row.key, seq: row.lastSeq)) == nil else { return }
    throw DMError(
      .storeDamaged,
      "the conversation '\(row.typed)' does not have its last message, number \(row.lastSeq); 'dm-doctor repair' corrects that",
      subject: row.typed)
  }

  package func seen(at place: Place, as viewer: Viewer) throws -> Message? {
    try seen(in: place.conversation, place.seq...place.seq, as: viewer).first
  }

  /// The plus keeps SQLite from going through the conversation by number instead (optoverview.html, section 4).
  static let placeOfNonce: StaticString = """
    SELECT seq FROM message WHERE conversation = ?1 AND nonce = ?2 AND (?3 IS NULL OR sender = ?3)
    ORDER BY +seq DESC LIMIT 1
    """

  /// The message that bears a nonce: a sender's, or the newest of anybody's.
  package func place(of nonce: String, from sender: UserKey?, in conversation: ConversationKey) throws -> Place? {
    var statement = try store.connection.prepare(Self.placeOfNonce)
    statement.bind(conversation)
    statement.bind(nonce)
    statement.bind(sender)
    return try statement.step() ? Place(conversation: conversation, seq: statement.int(0)) : nil
  }

  /// Those of a range that a user sees.
  package func seen(in conversation: ConversationKey, _ seqs: SeqRange, as viewer: Viewer) throws -> [Message] {
    var statement = try store.connection.prepare(
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
    while try statement.step() {
      if let message = try message(statement, from: 0, as: viewer) { messages.append(message) }
    }
    return messages
  }

  /// The newest message up to a number that a user sees.
  ///
  /// Linear in the later messages that the user does not see, except those hidden in ranges.
  func newestMessage(in conversation: ConversationKey, upTo seq: Int, as viewer: Viewer) throws -> Message? {
    var place: Int? = seq
    while let end = place {
      if let stretch = try viewer.stretch(of: end, in: conversation) {
        place = stretch.lowerBound > 1 ? min(end, stretch.lowerBound) - 1 : nil
        continue
      }
      place = nil
      var statement = try store.connection.prepare(
        as: "newest",
        """
        SELECT \(Self.messageColumns) FROM message m
        WHERE conversation = ? AND seq <= ? AND deleted_at IS NULL ORDER BY seq DESC
        """)
      statement.bind(conversation)
      statement.bind(end)
      while place == nil, try statement.step() {
        if let message = try message(statement, from: 0, as: viewer) { return message }
        if try viewer.stretch(of: statement.int(2), in: conversation) != nil { place = statement.int(2) }
      }
    }
    return nil
  }

  /// The numbers of the messages that were said at a moment or later, ascending.
  ///
  /// Each is judged by its own time, because a clock that was set back makes times go back. Costs in proportion to the
  /// conversation, or to what was said anywhere since then, whichever is less.
  package func seqs(notBefore time: Timestamp, in row: Conversations.Row) throws -> [SeqRange] {
    var seqs = try seqsByTime(notBefore: time, in: row)
    if seqs == nil {
      var statement = try store.connection.prepare(
        "SELECT seq FROM message WHERE conversation = ? AND seq <= ? AND created_at >= ? ORDER BY seq")
      statement.bind(row.key)
      statement.bind(row.lastSeq)
      statement.bind(time)
      var found: [Int] = []
      while try statement.step() { found.append(statement.int(0)) }
      seqs = found
    }
    return coalesced((seqs ?? []).map { $0...$0 })
  }

  /// The same, found among all messages of that time; nil when those are more than the conversation has.
  private func seqsByTime(notBefore time: Timestamp, in row: Conversations.Row) throws -> [Int]? {
    var statement = try store.connection.prepare(
      "SELECT conversation, seq FROM message INDEXED BY message_created WHERE created_at >= ?")
    statement.bind(time)
    var (seqs, left): ([Int], Int) = ([], row.lastSeq)
    while try statement.step() {
      left -= 1
      if left < 0 { return nil }
      if statement.conversationKey(0) == row.key, statement.int(1) <= row.lastSeq { seqs.append(statement.int(1)) }
    }
    return seqs.sorted()
  }
}
