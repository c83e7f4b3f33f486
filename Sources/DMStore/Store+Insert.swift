package import DMModel

extension Store {
  package struct NewMessage {
    package var id: Identifier? = nil
    package let sender: UserKey
    package var text: String? = nil
    package var nonce: String? = nil
    package var replyTo: Identifier? = nil
    /// Who said it first.
    package var forwardedFrom: UserKey? = nil
    /// Nil for the present.
    package var at: Timestamp? = nil
    /// Microseconds that it lives; nil for what the conversation says.
    package var lifetime: Int64? = nil
    package var systemKind: Message.SystemKind? = nil
    package var subject: String? = nil
    package var mentions: [UserKey] = []
    package var attachments: [StoredAttachment] = []

    package init(
      id: Identifier? = nil, sender: UserKey, text: String? = nil, nonce: String? = nil, replyTo: Identifier? = nil,
      forwardedFrom: UserKey? = nil, at: Timestamp? = nil, lifetime: Int64? = nil,
      systemKind: Message.SystemKind? = nil,
      subject: String? = nil, mentions: [UserKey] = [], attachments: [StoredAttachment] = []
    ) {
      self.id = id
      self.sender = sender
      self.text = text
      self.nonce = nonce
      self.replyTo = replyTo
      self.forwardedFrom = forwardedFrom
      self.at = at
      self.lifetime = lifetime
      self.systemKind = systemKind
      self.subject = subject
      self.mentions = mentions
      self.attachments = attachments
    }
  }

  /// Adds a message at the end of a conversation, of which it brings `row` up to date, and logs it
  /// unless it is history.
  ///
  /// See `time(after:now:)` for the time of what is said now; it expires by the clock.
  ///
  /// - Returns: its id, when it expires, and what it carries.
  package func insert(_ message: NewMessage, into row: inout ConversationRow) throws -> (
    id: Identifier, expiresAt: Timestamp?, attachments: [Attachment]
  ) {
    let seq = row.lastSeq + 1
    let now = message.at ?? .now
    let time = message.at ?? Self.time(after: row.lastActivity, now: now)
    let id = message.id ?? Identifier(at: time, random: random.next())
    // What is announced stays, and so does what is imported.
    let lifetime = message.lifetime ?? (message.systemKind == nil && message.at == nil ? row.expireAfter : nil)
    let expiresAt = lifetime.map { Timestamp(microseconds: now.microseconds + $0) }
    let mentions = message.mentions.isEmpty ? nil : try message.mentions.map { try handle($0).description }
    let names = mentions?.joined(separator: " ")
    var digest = Digest()
    for number in [
      row.key.number, Int64(seq), message.sender.number, time.microseconds, nil, expiresAt?.microseconds, nil,
      message.systemKind?.number,
    ] {
      digest.add(number)
    }
    digest.add(text: id.bytes)
    digest.add(text: message.text?.utf8)
    digest.add(text: message.nonce?.utf8)
    digest.add(text: message.replyTo?.bytes)
    digest.add(text: message.subject?.utf8)
    digest.add(text: names?.utf8)
    if let user = message.forwardedFrom { digest.add(user.number) }
    do {
      var insert = try connection.prepare(
        """
        INSERT INTO message (uuid, conversation, seq, sender, created_at, text, nonce, reply_to, expires_at, system_kind,
          subject, mentions, attachment_count, digest, forwarded_from) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
      insert.bind(id)
      insert.bind(row.key)
      insert.bind(seq)
      insert.bind(message.sender)
      insert.bind(time)
      insert.bind(message.text)
      insert.bind(message.nonce)
      insert.bind(message.replyTo)
      insert.bind(expiresAt?.microseconds)
      insert.bind(message.systemKind?.number)
      insert.bind(message.subject)
      insert.bind(names)
      insert.bind(message.attachments.count)
      insert.bind(digest.stored)
      insert.bind(message.forwardedFrom)
      try insert.run()
    }
    let key = MessageKey(number: connection.lastInsertedRow)
    row.lastSeq = seq
    row.newMessage = key
    row.lastActivity = time
    if let text = message.text { try index(text, of: key) }
    for user in message.mentions {
      try insertMention(of: user, in: row.key, seq)
      if message.at == nil { try countMention(of: user, by: message.sender, in: row.key) }
    }
    if message.at == nil {
      try append(.message, conversation: row.key, user: message.sender, seqs: seq...seq, at: time)
    }
    if message.attachments.isEmpty { return (id, expiresAt, []) }
    return (id, expiresAt, try attach(message.attachments, to: key, by: message.sender, at: time))
  }

  /// Microseconds by which a clock may be set back without the times of a conversation going back.
  package static let tolerance: Int64 = 60_000_000

  /// The time of a message after one of another time: a microsecond later when the clock was set back a little.
  ///
  /// When the last message is more than a minute ahead of the clock, the clock counts: it was wrong then.
  package static func time(after last: Timestamp, now: Timestamp) -> Timestamp {
    if last.microseconds - now.microseconds > tolerance { return now }
    return max(now, Timestamp(microseconds: last.microseconds + 1))
  }

  /// Writes the end of a conversation into its row and those of its participants, and that the last `added`
  /// messages are no news to one user, or to anybody.
  ///
  /// - Parameters:
  ///   - sender: the user who said it; those who block them are told nothing.
  ///   - isSaid: whether it brings back what was archived or deleted.
  package func update(_ row: ConversationRow, added: Int, readBy user: UserKey?, sender: UserKey?, isSaid: Bool) throws
  {
    do {
      var end = try connection.prepare(
        "UPDATE conversation SET last_seq = ?, last_message = ?, last_activity = ? WHERE id = ?")
      end.bind(row.lastSeq)
      end.bind(row.newMessage)
      end.bind(row.lastActivity)
      end.bind(row.key)
      try end.run()
    }
    let blockers = try sender.map { try self.blockers(of: $0) } ?? []
    var participants = try connection.prepare(
      """
      UPDATE participant SET last_activity = iif(last_activity IS NULL, NULL, ?1),
        read_count = read_count + iif(coalesce(user = ?4, 1), ?3, 0),
        is_archived = is_archived AND NOT (?5 AND coalesce(muted_until, 0) <= ?6), is_deleted = is_deleted AND NOT ?5
      WHERE conversation = ?2 AND left_seq IS NULL
      AND (last_activity IS NOT NULL OR coalesce(user = ?4, 1) OR ?5 AND (is_archived OR is_deleted))
      AND (?7 IS NULL OR user NOT IN (SELECT value FROM json_each(?7)))
      """)
    participants.bind(row.lastActivity)
    participants.bind(row.key)
    participants.bind(added)
    participants.bind(user)
    participants.bind(isSaid)
    participants.bind(Timestamp.now)
    participants.bind(blockers.isEmpty ? nil : jsonArray(blockers))
    try participants.run()
    for blocker in blockers {
      // What counts as read by all does so for the blocker too.
      var hide = try connection.prepare(
        """
        UPDATE participant SET blocked_count = blocked_count + ?3, read_count = read_count + ?4
        WHERE conversation = ?1 AND user = ?2 AND left_seq IS NULL
        """)
      hide.bind(row.key)
      hide.bind(blocker)
      hide.bind(user == nil ? 0 : added)
      hide.bind(user == nil ? added : 0)
      try hide.run()
    }
  }

  /// Adds new messages to what a user has read; the count of them is `update`'s.
  package func extendReadRanges(by range: SeqRange, of user: UserKey, in conversation: ConversationKey) throws {
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

  /// Says in a conversation what was done to it, a message for each subject; all of them count as read by all.
  ///
  /// Linear in the participants.
  package func announce(
    _ kind: Message.SystemKind, _ subjects: [String?], by user: UserKey, in row: inout ConversationRow
  ) throws {
    let seqs = (row.lastSeq + 1)...(row.lastSeq + subjects.count)
    for subject in subjects {
      _ = try insert(NewMessage(sender: user, systemKind: kind, subject: subject), into: &row)
    }
    try update(row, added: subjects.count, readBy: nil, sender: user, isSaid: false)
    for participant in try participantKeys(of: row.key) { try extendReadRanges(by: seqs, of: participant, in: row.key) }
  }
}
