package import DMModel
internal import DMSystem

extension Messages {
  /// The source of a new message, which determines the time of the message and the time at which it expires.
  package enum Origin: Equatable, Sendable {
    /// This store: the message gets the present time, and expires after its own lifetime or that of its conversation.
    case here
    /// An import: the message has the time in the imported line, and is history.
    case imported(at: Timestamp)
    /// The hub, which has numbered the message and decided its time and the time at which it expires.
    case hub(at: Timestamp, expiresAt: Timestamp?)
  }

  package struct NewMessage {
    package var id: Identifier? = nil
    package let sender: UserKey
    package var text: String? = nil
    package var nonce: String? = nil
    package var replyTo: Identifier? = nil
    /// For a forwarded message, the user who sent the original message.
    package var forwardedFrom: UserKey? = nil
    package var origin = Origin.here
    /// The lifetime in microseconds; nil for the conversation's lifetime or, for an imported message, no expiry.
    ///
    /// The lifetime is ignored for a message from the hub.
    package var lifetime: Int64? = nil
    package var systemKind: Message.SystemKind? = nil
    package var subject: String? = nil
    package var mentions: [UserKey] = []
    package var attachments: [Attachments.Row] = []
    package var preview: LinkPreviews.Placed? = nil

    package init(
      id: Identifier? = nil, sender: UserKey, text: String? = nil, nonce: String? = nil, replyTo: Identifier? = nil,
      forwardedFrom: UserKey? = nil, origin: Origin = .here, lifetime: Int64? = nil,
      systemKind: Message.SystemKind? = nil,
      subject: String? = nil, mentions: [UserKey] = [], attachments: [Attachments.Row] = [],
      preview: LinkPreviews.Placed? = nil
    ) {
      self.id = id
      self.sender = sender
      self.text = text
      self.nonce = nonce
      self.replyTo = replyTo
      self.forwardedFrom = forwardedFrom
      self.origin = origin
      self.lifetime = lifetime
      self.systemKind = systemKind
      self.subject = subject
      self.mentions = mentions
      self.attachments = attachments
      self.preview = preview
    }
  }

  /// Adds a message at the end of a conversation, and updates `row`.
  ///
  /// Logs the change, unless the message is imported.
  ///
  /// - Returns: the id of the message, the time at which the message expires, and its attachments.
  package func insert(_ message: NewMessage, into row: inout Conversations.Row) throws -> (
    id: Identifier, expiresAt: Timestamp?, attachments: [Attachment]
  ) {
    let seq = row.lastSeq + 1
    let (time, expiresAt) = times(of: message, in: row)
    let isNew = if case .imported = message.origin { false } else { true }
    let id = message.id ?? Identifier(at: time, random: store.random.next())
    let key = try insertRow(message, id, Address(conversation: row.key, seq: seq), at: time, expiresAt)
    row.lastSeq = seq
    row.newMessage = key
    row.lastActivity = time
    if let text = message.text { try store.searchIndex.add(text, of: key) }
    for user in message.mentions {
      try store.mentions.insert(of: user, in: row.key, seq)
      if isNew { try store.mentions.countNew(of: user, by: message.sender, in: row.key) }
    }
    if isNew {
      try store.changes.append(.message, conversation: row.key, user: message.sender, seqs: seq...seq, at: time)
    }
    if let preview = message.preview { try store.linkPreviews.insert(preview, of: key) }
    if message.attachments.isEmpty { return (id, expiresAt, []) }
    return (id, expiresAt, try store.attachments.attach(message.attachments, to: key, by: message.sender, at: time))
  }

  /// Adds a message that the store had not kept, with its original number.
  ///
  /// The message counts as read by its sender. The mentions in the message count for the users who have not read it.
  package func insertAgain(_ message: NewMessage, at seq: Int, of row: Conversations.Row) throws -> Row? {
    var (message, before) = (message, row)
    let mentioned = message.mentions
    message.mentions = []
    before.lastSeq = seq - 1
    _ = try insert(message, into: &before)
    _ = try store.readState.markRead(seq...seq, by: message.sender, in: row.key)
    try findLast(of: row.key)
    guard let stored = try self.row(at: Address(conversation: row.key, seq: seq)) else { return nil }
    if mentioned.isEmpty { return stored }
    try store.mentions.set(mentioned, of: stored)
    try store.writeDigest(of: stored.key, in: .message)
    return stored
  }

  /// The time of a message that is added to a conversation, and the time at which the message expires.
  ///
  /// For `Origin.here`, `time(after:now:)` computes the time of the message, but the lifetime starts at the present
  /// time.
  private func times(of message: NewMessage, in row: Conversations.Row) -> (Timestamp, expiresAt: Timestamp?) {
    func end(_ start: Timestamp, _ lifetime: Int64?) -> Timestamp? {
      lifetime.map { Timestamp(microseconds: start.microseconds + $0) }
    }
    switch message.origin {
    case .here:
      let now = Timestamp.now
      // The conversation's lifetime does not apply to announcements.
      let lifetime = message.lifetime ?? (message.systemKind == nil ? row.expireAfter : nil)
      return (Self.time(after: row.lastActivity, now: now), end(now, lifetime))
    case .imported(let time): return (time, end(time, message.lifetime))
    case .hub(let time, let expiresAt): return (time, expiresAt)
    }
  }

  private func insertRow(
    _ message: NewMessage, _ id: Identifier, _ address: Address, at time: Timestamp, _ expiresAt: Timestamp?
  ) throws -> MessageKey {
    let mentions = message.mentions.isEmpty ? nil : try message.mentions.map { try store.users.handle($0).description }
    let names = mentions?.joined(separator: " ")
    var insert = try DigestedInsert(
      into: .message, as: "insert message", undigested: "attachment_count", store.connection)
    insert.add(address.conversation.number)
    insert.add(Int64(address.seq))
    insert.add(message.sender.number)
    insert.add(time.microseconds)
    insert.add(nil as Int64?)  // edited_at
    insert.add(expiresAt?.microseconds)
    insert.add(nil as Int64?)  // deleted_at
    insert.add(message.systemKind.flatMap(\.number))
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

  /// If the clock is set back by at most this number of microseconds, the times of a conversation still ascend.
  package static let tolerance: Int64 = 60_000_000

  /// The time of a new message: the present time or, if the clock was set back a little, a microsecond after the last
  /// message.
  ///
  /// If the last message is more than a minute ahead of the clock, the time of that message counts as wrong, and the
  /// result is `now`.
  package static func time(after last: Timestamp, now: Timestamp) -> Timestamp {
    if last.microseconds - now.microseconds > tolerance { return now }
    return max(now, Timestamp(microseconds: last.microseconds + 1))
  }
}
