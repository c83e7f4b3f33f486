package import DMModel
internal import DMSystem

extension Messages {
  package struct NewMessage {
    package var id: Identifier? = nil
    package let sender: UserKey
    package var text: String? = nil
    package var nonce: String? = nil
    package var replyTo: Identifier? = nil
    /// The user who sent the original of a forwarded message.
    package var forwardedFrom: UserKey? = nil
    /// The time of an imported message; nil for a new one.
    package var at: Timestamp? = nil
    /// The lifetime in microseconds; nil for that of the conversation.
    package var lifetime: Int64? = nil
    package var systemKind: Message.SystemKind? = nil
    package var subject: String? = nil
    package var mentions: [UserKey] = []
    package var attachments: [Attachments.Row] = []

    package init(
      id: Identifier? = nil, sender: UserKey, text: String? = nil, nonce: String? = nil, replyTo: Identifier? = nil,
      forwardedFrom: UserKey? = nil, at: Timestamp? = nil, lifetime: Int64? = nil,
      systemKind: Message.SystemKind? = nil,
      subject: String? = nil, mentions: [UserKey] = [], attachments: [Attachments.Row] = []
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

  /// Adds a message at the end of a conversation, updates `row`, and logs the change unless the message is imported.
  ///
  /// `time(after:now:)` determines the time of a new message; its lifetime starts at the time of the clock.
  ///
  /// - Returns: the message's id, the time at which it expires, and its attachments.
  package func insert(_ message: NewMessage, into row: inout Conversations.Row) throws -> (
    id: Identifier, expiresAt: Timestamp?, attachments: [Attachment]
  ) {
    let seq = row.lastSeq + 1
    let now = message.at ?? .now
    let time = message.at ?? Self.time(after: row.lastActivity, now: now)
    let id = message.id ?? Identifier(at: time, random: store.random.next())
    // Announcements and imported messages ignore the conversation's lifetime.
    let lifetime = message.lifetime ?? (message.systemKind == nil && message.at == nil ? row.expireAfter : nil)
    let expiresAt = lifetime.map { Timestamp(microseconds: now.microseconds + $0) }
    let key = try insertRow(message, id, Address(conversation: row.key, seq: seq), at: time, expiresAt)
    row.lastSeq = seq
    row.newMessage = key
    row.lastActivity = time
    if let text = message.text { try store.searchIndex.add(text, of: key) }
    for user in message.mentions {
      try store.mentions.insert(of: user, in: row.key, seq)
      if message.at == nil { try store.mentions.countNew(of: user, by: message.sender, in: row.key) }
    }
    if message.at == nil {
      try store.changes.append(.message, conversation: row.key, user: message.sender, seqs: seq...seq, at: time)
    }
    if message.attachments.isEmpty { return (id, expiresAt, []) }
    return (id, expiresAt, try store.attachments.attach(message.attachments, to: key, by: message.sender, at: time))
  }

  private func insertRow(
    _ message: NewMessage, _ id: Identifier, _ address: Address, at time: Timestamp, _ expiresAt: Timestamp?
  ) throws -> MessageKey {
    let mentions = message.mentions.isEmpty ? nil : try message.mentions.map { try store.users.handle($0).description }
    let names = mentions?.joined(separator: " ")
    var insert = try DigestedInsert(
      into: .message, as: "insert message", unsealed: "attachment_count", store.connection)
    insert.add(address.conversation.number)
    insert.add(Int64(address.seq))
    insert.add(message.sender.number)
    insert.add(time.microseconds)
    insert.add(nil as Int64?)  // edited_at
    insert.add(expiresAt?.microseconds)
    insert.add(nil as Int64?)  // deleted_at
    insert.add(message.systemKind?.number)
    insert.add(id)
    insert.add(message.text)
    insert.add(message.nonce)
    insert.add(message.replyTo)
    insert.add(message.subject)
    insert.add(names)
    insert.add(later: message.forwardedFrom?.number)
    var statement = insert.digested()
    statement.bind(message.attachments.count)
    try statement.run()
    return MessageKey(number: store.connection.lastInsertedRow)
  }

  /// The microseconds by which a clock may be set back without the times of a conversation going back.
  package static let tolerance: Int64 = 60_000_000

  /// The time of a new message: now, or a microsecond after the last message if the clock was set back a little.
  ///
  /// If the last message is more than a minute ahead of the clock, the clock was wrong then, and the time is `now`.
  package static func time(after last: Timestamp, now: Timestamp) -> Timestamp {
    if last.microseconds - now.microseconds > tolerance { return now }
    return max(now, Timestamp(microseconds: last.microseconds + 1))
  }
}
