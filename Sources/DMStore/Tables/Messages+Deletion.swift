package import DMModel
internal import DMSystem

// Reads: message.
// Writes: conversation, message, reaction.

extension Messages {
  /// A message as it is stored.
  ///
  /// This type does not check who may see the message.
  package struct Row {
    package let key: MessageKey
    package let address: Address
    package let sender: UserKey
    package let text: String?
    package let mentions: [Handle]
  }

  package func row(at address: Address) throws -> Row? {
    var statement = try store.connection.prepare(
      "SELECT id, sender, text, mentions FROM message WHERE conversation = ? AND seq = ?")
    statement.bind(address.conversation)
    statement.bind(address.seq)
    guard try statement.step() else { return nil }
    return Row(
      key: statement.messageKey(0), address: address, sender: statement.userKey(1), text: statement.optionalText(2),
      mentions: statement.text(3).utf8.split(separator: 0x20).map { Handle(stored: String(Substring($0))) })
  }

  /// Turns a message into a tombstone.
  ///
  /// The text is overwritten, and the message no longer counts as unread.
  ///
  /// Linear in the number of participants. Participants who have not read the message cost most.
  package func makeTombstone(of message: Row, at time: Timestamp) throws {
    let (conversation, seq) = (message.address.conversation, message.address.seq)
    for user in try store.readState.unreadBy(seq, in: conversation) {
      _ = try store.readState.markRead(seq...seq, by: user, in: conversation)
    }
    if !message.mentions.isEmpty { try store.mentions.set([], of: message) }
    if let text = message.text { try store.searchIndex.remove(text, of: message.key) }
    try store.vectors.remove([message.key])
    try store.attachments.remove(of: message.key)
    try store.linkPreviews.remove(of: message.key)
    try store.pins.remove(message.address)
    if store.isLinked {
      try store.hubUnreadable.delete(message.key)
      try store.hubBases.end(of: message)
    }
    do {
      var reactions = try store.connection.prepare("DELETE FROM reaction WHERE message = ?")
      reactions.bind(message.key)
      try reactions.run()
    }
    do {
      var update = try store.connection.prepare(
        """
        UPDATE message SET text = NULL, edited_at = NULL, reaction_count = 0, attachment_count = 0, deleted_at = ?
        WHERE id = ?
        """)
      update.bind(time)
      update.bind(message.key)
      try update.run()
    }
    try store.writeDigest(of: message.key, in: .message)
    try findLast(of: conversation, insteadOf: message.key)
    try store.changes.append(.deleted, conversation: conversation, user: message.sender, seqs: seq...seq, at: .now)
  }

  /// Records the last message of a conversation that is in the store and is not a tombstone.
  ///
  /// - Parameter key: if another message is recorded as the last one, nothing changes; nil to search in any case.
  func findLast(of conversation: ConversationKey, insteadOf key: MessageKey? = nil) throws {
    var last = try store.connection.prepare(
      """
      UPDATE conversation SET last_message = (SELECT id FROM message WHERE conversation = ?1 AND deleted_at IS NULL
        ORDER BY seq DESC LIMIT 1) WHERE id = ?1 AND (?2 IS NULL OR last_message = ?2)
      """)
    last.bind(conversation)
    last.bind(key)
    try last.run()
  }

  /// Removes a message from this store, because the hub has it.
  ///
  /// The number of the message is not used again, and still counts as read. No change is logged.
  package func discard(_ message: Row) throws {
    try store.mentions.set([], of: message)
    if let text = message.text { try store.searchIndex.remove(text, of: message.key) }
    try store.vectors.remove([message.key])
    try store.attachments.remove(of: message.key)
    try store.linkPreviews.remove(of: message.key)
    try store.hubUnreadable.delete(message.key)
    for statement in ["DELETE FROM reaction WHERE message = ?", "DELETE FROM message WHERE id = ?"] {
      var delete = try store.connection.prepare(text: statement)
      delete.bind(message.key)
      try delete.run()
    }
  }

  /// The messages that have expired and are not yet tombstones, in the order in which they expired.
  package func expiredMessages(now: Timestamp, limit: Int = -1) throws -> [(
    conversation: ConversationKey, seq: Int, sender: UserKey, at: Timestamp
  )] {
    var statement = try store.connection.prepare(
      """
      SELECT conversation, seq, sender, expires_at FROM message
      WHERE expires_at <= ? AND deleted_at IS NULL ORDER BY expires_at LIMIT ?
      """)
    statement.bind(now)
    statement.bind(limit)
    var found: [(conversation: ConversationKey, seq: Int, sender: UserKey, at: Timestamp)] = []
    while try statement.step() {
      found.append((statement.conversationKey(0), statement.int(1), statement.userKey(2), statement.timestamp(3)))
    }
    return found
  }

  /// The time at which the next message expires; nil if no message will expire.
  package func nextExpiry() throws -> Timestamp? {
    var statement = try store.connection.prepare(
      "SELECT expires_at FROM message WHERE expires_at IS NOT NULL AND deleted_at IS NULL ORDER BY expires_at LIMIT 1")
    return try statement.step() ? statement.timestamp(0) : nil
  }

  /// The maximum number of expired messages that one write turns into tombstones, and the maximum time for this in
  /// microseconds.
  ///
  /// There is a limit because other processes wait for the write to end.
  private static let expiryBatch = (count: 500, time: 20_000 as Int64)

  /// Turns expired messages into tombstones, in the order in which they expired.
  ///
  /// Messages beyond the limit are left for the next write.
  ///
  /// - Returns: the number of messages that became tombstones.
  @discardableResult
  package func deleteExpired(now: Timestamp) throws -> Int {
    let end = monotonicMicroseconds() + Self.expiryBatch.time
    var count = 0
    for message in try expiredMessages(now: now, limit: Self.expiryBatch.count)
    where count == 0 || monotonicMicroseconds() < end {
      let address = Address(conversation: message.conversation, seq: message.seq)
      if let stored = try row(at: address) { try makeTombstone(of: stored, at: message.at) }
      count += 1
    }
    return count
  }

  /// Corrects the time at which a message was last edited.
  ///
  /// No change is logged.
  package func set(editedAt time: Timestamp?, of message: Row) throws {
    do {
      var update = try store.connection.prepare(
        "UPDATE message SET edited_at = ?1 WHERE id = ?2 AND edited_at IS NOT ?1")
      update.bind(time)
      update.bind(message.key)
      try update.run()
    }
    if store.connection.changes > 0 { try store.writeDigest(of: message.key, in: .message) }
  }

  /// Replaces the text and the mentions of a message.
  package func edit(_ message: Row, to text: String?, mentioning users: [UserKey], at time: Timestamp?) throws {
    if let old = message.text { try store.searchIndex.remove(old, of: message.key) }
    try store.vectors.remove([message.key])
    if let text { try store.searchIndex.add(text, of: message.key) }
    do {
      var update = try store.connection.prepare("UPDATE message SET text = ?, edited_at = ? WHERE id = ?")
      update.bind(text)
      update.bind(time)
      update.bind(message.key)
      try update.run()
    }
    try store.mentions.set(users, of: message)
    try store.writeDigest(of: message.key, in: .message)
    let seqs = message.address.seq...message.address.seq
    try store.changes.append(
      .edited, conversation: message.address.conversation, user: message.sender, seqs: seqs, at: time ?? .now)
  }
}
