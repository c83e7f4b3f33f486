package import DMModel
internal import DMSystem

// Reads: conversation, message.

/// The messages of all conversations.
package struct Messages {
  let store: Store

  /// The conversation and the number of the message with a key; nil if there is no such message.
  package func address(of key: MessageKey) throws -> Address? {
    var statement = try store.connection.prepare("SELECT conversation, seq FROM message WHERE id = ?")
    statement.bind(key)
    return try statement.step() ? Address(conversation: statement.conversationKey(0), seq: statement.int(1)) : nil
  }

  /// The numbers of the messages of a conversation that have attachments, newest first.
  package func seqsWithAttachments(in conversation: ConversationKey) throws -> [Int] {
    var statement = try store.connection.prepare(
      "SELECT seq FROM message WHERE conversation = ? AND attachment_count > 0 ORDER BY seq DESC")
    statement.bind(conversation)
    var seqs: [Int] = []
    while try statement.step() { seqs.append(statement.int(0)) }
    return seqs
  }

  /// The columns that `message(_:from:as:)` reads.
  enum Column: Int32, QueryColumn {
    case id, conversation, seq, sender, text, createdAt, replyTo, nonce, key, editedAt, expiresAt, deletedAt
    case systemKind, subject, mentions, reactionCount, attachmentCount, forwardedFrom, linkPreviewCount
  }

  static let columns = """
    m.uuid AS id, m.conversation, m.seq, m.sender, m.text, m.created_at, m.reply_to, m.nonce, m.id AS key, m.edited_at,
    m.expires_at, m.deleted_at, m.system_kind, m.subject, m.mentions, m.reaction_count, m.attachment_count,
    m.forwarded_from, m.link_preview_count
    """

  /// The column numbers of a message in a row in which other columns come first.
  struct Columns {
    let first: Int32

    func callAsFunction(_ column: Column) -> Int32 { first + column.rawValue }
  }

  /// The columns that decide how a message is shown, which are read once for each message.
  private struct Head {
    let conversation: ConversationKey
    let seq: Int
    let sender: UserKey
    let expiresAt: Timestamp?
    let isGone: Bool
    /// Whether the message is shown as a tombstone because it has expired and no write has yet turned it into a
    /// tombstone.
    var isOver = false

    init(_ row: borrowing Statement, _ at: Columns) {
      conversation = row.conversationKey(at(.conversation))
      seq = row.int(at(.seq))
      sender = row.userKey(at(.sender))
      expiresAt = row.optionalTimestamp(at(.expiresAt))
      isGone = !row.isNull(at(.deletedAt))
    }
  }

  /// A message as a user sees it; nil if the user does not see the message.
  package func message(_ row: borrowing Statement, from first: Int32, as viewer: Viewer) throws -> Message? {
    assert(row.has(Column.self, from: first))
    let at = Columns(first: first)
    var head = Head(row, at)
    guard
      try viewer.sees(
        head.seq, in: head.conversation, from: head.sender, isGone: head.isGone, expiresAt: head.expiresAt)
    else { return nil }
    // If a message has expired since the last write, it is shown as a tombstone.
    head.isOver = viewer.extras == .tombstones && !head.isGone && head.expiresAt.map { $0 <= viewer.now } == true
    let pin = try head.isOver ? nil : viewer.surroundings.pin(of: head.seq, in: head.conversation)
    // The result is returned without a variable, because copying a message costs as much as reading it.
    if head.isOver || pin == nil && isPlain(row, at, head) { return try common(row, at, head, as: viewer) }
    var message = try common(row, at, head, as: viewer)
    message.pin = pin
    try addRest(row, at, to: &message, as: viewer)
    return message
  }

  /// Whether a message has neither text nor attachments and is neither an announcement nor a tombstone.
  private func isUnreadable(_ row: borrowing Statement, _ at: Columns) -> Bool {
    row.isNull(at(.text)) && row.isNull(at(.systemKind)) && row.isNull(at(.deletedAt))
      && row.int64(at(.attachmentCount)) == 0
  }

  /// Whether a message has only the fields that all messages have.
  private func isPlain(_ row: borrowing Statement, _ at: Columns, _ head: Head) -> Bool {
    !row.isNull(at(.text)) && row.isNull(at(.editedAt)) && !head.isGone && row.isNull(at(.systemKind))
      && row.isNull(at(.mentions)) && row.int64(at(.reactionCount)) == 0 && row.int64(at(.attachmentCount)) == 0
      && row.isNull(at(.forwardedFrom)) && row.int64(at(.linkPreviewCount)) == 0
  }

  /// Makes a message with only the fields that all messages have.
  private func common(_ row: borrowing Statement, _ at: Columns, _ head: Head, as viewer: Viewer) throws -> Message {
    let (conversation, seq, sender) = (head.conversation, head.seq, head.sender)
    let surroundings = viewer.surroundings
    let status = try viewer.statuses.status(of: seq, in: conversation, from: sender)
    // A deleted or expired message counts as read.
    let isUnread =
      try sender != viewer.user && !head.isOver && !head.isGone && !surroundings.isRead(seq, in: conversation)
    let readByCount = status == .read ? try viewer.statuses.readerCount(of: seq, in: conversation, from: sender) : 0
    let readBy =
      viewer.includesReaders
      ? try viewer.statuses.readers(of: seq, in: conversation, from: sender).map(store.users.handle) : nil
    let replyTo = try row.optionalIdentifier(at(.replyTo)).map { try surroundings.reply($0, as: viewer) }
    return Message(
      row.identifier(at(.id)), conversationID: try store.conversations.id(conversation),
      conversation: try surroundings.label(of: conversation), seq: seq, sender: try store.users.handle(sender),
      senderName: try surroundings.displayName(of: sender), isMine: sender == viewer.user, isUnread: isUnread,
      readByCount: readByCount, readBy: readBy, text: head.isOver ? nil : row.optionalText(at(.text)),
      createdAt: row.timestamp(at(.createdAt)), status: status, replyTo: replyTo, nonce: row.optionalText(at(.nonce)),
      expiresAt: head.expiresAt, deletedAt: head.isOver ? head.expiresAt : nil)
  }

  /// Adds the fields that only some messages have.
  private func addRest(
    _ row: borrowing Statement, _ at: Columns, to message: inout Message, as viewer: Viewer
  ) throws {
    message.editedAt = row.optionalTimestamp(at(.editedAt))
    message.deletedAt = row.optionalTimestamp(at(.deletedAt))
    message.systemKind = row.optionalInt64(at(.systemKind)).flatMap(Message.SystemKind.init(number:))
    if isUnreadable(row, at) { message.systemKind = .unreadable }
    message.subject = row.optionalText(at(.subject))
    message.mentions = row.text(at(.mentions)).utf8.split(separator: 0x20).map { Handle(stored: String(Substring($0))) }
    message.forwardedFrom = try row.optionalUserKey(at(.forwardedFrom)).map(store.users.handle)
    let key = row.messageKey(at(.key))
    if row.int64(at(.attachmentCount)) > 0 { message.attachments = try store.attachments.all(of: key) }
    if row.int64(at(.linkPreviewCount)) > 0 {
      message.linkPreview = try store.linkPreviews.preview(of: key, in: message.text, message.attachments)
    }
    if row.int64(at(.reactionCount)) > 0 { message.reactions = try store.reactions.all(to: key, as: viewer) }
  }

  /// The conversation and the number of a message.
  package struct Address: Equatable {
    package let conversation: ConversationKey
    package let seq: Int

    package init(conversation: ConversationKey, seq: Int) {
      self.conversation = conversation
      self.seq = seq
    }
  }

  package func address(of id: Identifier) throws -> Address? {
    var statement = try store.connection.prepare("SELECT conversation, seq FROM message WHERE uuid = ?")
    statement.bind(id)
    return try statement.step() ? Address(conversation: statement.conversationKey(0), seq: statement.int(1)) : nil
  }

  /// The conversation and the number of the message with an id, or of the message that waited for the hub under this
  /// id.
  package func address(ofIDOrAlias id: Identifier) throws -> Address? {
    if let address = try address(of: id) { return address }
    guard store.isLinked, let hubID = try store.waiting.alias(id) else { return nil }
    return try address(of: hubID)
  }

  package func identifier(of address: Address) throws -> Identifier? {
    var statement = try store.connection.prepare("SELECT uuid FROM message WHERE conversation = ? AND seq = ?")
    statement.bind(address.conversation)
    statement.bind(address.seq)
    return try statement.step() ? statement.identifier(0) : nil
  }

  /// Checks that the last message of a conversation exists.
  ///
  /// Otherwise a reader of all messages would not notice that the end is missing.
  ///
  /// - Throws: `store_damaged` if the message is missing.
  package func checkEnd(of row: Conversations.Row) throws {
    guard row.lastVisibleSeq > 0, try identifier(of: Address(conversation: row.key, seq: row.lastVisibleSeq)) == nil,
      try store.hubFloors.row(row.key).map({ $0.seq <= row.lastVisibleSeq }) ?? true
    else { return }
    throw DMError(
      .storeDamaged,
      "the conversation '\(row.typed)' does not have its last message, number \(row.lastVisibleSeq)",
      subject: row.typed, remedy: .repair)
  }

  package func seen(at address: Address, as viewer: Viewer) throws -> Message? {
    try seen(in: address.conversation, address.seq...address.seq, as: viewer).first
  }

  /// Finds a message by its nonce.
  ///
  /// The plus prevents SQLite from reading the conversation in the order of numbers (sqlite.org/optoverview.html,
  /// section 4).
  static let addressOfNonce: StaticString = """
    SELECT seq FROM message WHERE conversation = ?1 AND nonce = ?2 AND (?3 IS NULL OR sender = ?3)
    ORDER BY +seq DESC LIMIT 1
    """

  /// The newest message with a nonce from a sender; if `sender` is nil, from any sender.
  package func address(of nonce: String, from sender: UserKey?, in conversation: ConversationKey) throws -> Address? {
    var statement = try store.connection.prepare(Self.addressOfNonce)
    statement.bind(conversation)
    statement.bind(nonce)
    statement.bind(sender)
    return try statement.step() ? Address(conversation: conversation, seq: statement.int(0)) : nil
  }

  /// The messages of a range that a user sees.
  package func seen(in conversation: ConversationKey, _ seqs: SeqRange, as viewer: Viewer) throws -> [Message] {
    var statement = try store.connection.prepare(
      as: "messages",
      """
      SELECT \(Self.columns) FROM message m
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

  /// The newest message with at most this number that a user sees; nil if there is none.
  ///
  /// Linear in the number of later messages that the user does not see. Messages in hidden ranges cost nothing.
  func newestMessage(in conversation: ConversationKey, upTo seq: Int, as viewer: Viewer) throws -> Message? {
    var next: Int? = seq
    while let end = next {
      if let hidden = try viewer.hiddenRange(around: end, in: conversation) {
        next = hidden.lowerBound > 1 ? min(end, hidden.lowerBound) - 1 : nil
        continue
      }
      next = nil
      var statement = try store.connection.prepare(
        as: "newest",
        """
        SELECT \(Self.columns) FROM message m
        WHERE conversation = ? AND seq <= ? AND deleted_at IS NULL ORDER BY seq DESC
        """)
      statement.bind(conversation)
      statement.bind(end)
      while next == nil, try statement.step() {
        if let message = try message(statement, from: 0, as: viewer) { return message }
        if try viewer.hiddenRange(around: statement.int(2), in: conversation) != nil { next = statement.int(2) }
      }
    }
    return nil
  }

  /// The numbers of the messages that were sent at or after a time, ascending.
  ///
  /// The time of each message is compared, because times do not ascend if a clock was set back. Linear in the number of
  /// messages of the conversation, or of the messages of all conversations since that time, whichever is smaller.
  package func seqs(notBefore time: Timestamp, in row: Conversations.Row) throws -> [SeqRange] {
    var seqs = try seqsByTime(notBefore: time, in: row)
    if seqs == nil {
      var statement = try store.connection.prepare(
        "SELECT seq FROM message WHERE conversation = ? AND seq <= ? AND created_at >= ? ORDER BY seq")
      statement.bind(row.key)
      statement.bind(row.lastVisibleSeq)
      statement.bind(time)
      var found: [Int] = []
      while try statement.step() { found.append(statement.int(0)) }
      seqs = found
    }
    return coalesced((seqs ?? []).map { $0...$0 })
  }

  /// The numbers of a conversation's messages since a time, found among all messages since that time; nil if all messages
  /// since that time outnumber the messages of the conversation.
  private func seqsByTime(notBefore time: Timestamp, in row: Conversations.Row) throws -> [Int]? {
    var statement = try store.connection.prepare(
      "SELECT conversation, seq FROM message INDEXED BY message_created WHERE created_at >= ?")
    statement.bind(time)
    var (seqs, left): ([Int], Int) = ([], row.lastVisibleSeq)
    while try statement.step() {
      left -= 1
      if left < 0 { return nil }
      if statement.conversationKey(0) == row.key, statement.int(1) <= row.lastVisibleSeq {
        seqs.append(statement.int(1))
      }
    }
    return seqs.sorted()
  }
}

extension Messages {
  /// The words that identify a message in a finding of `dm-doctor check`: the id of its conversation, and its number.
  package func reference(to message: MessageKey) throws -> String {
    var statement = try store.connection.prepare(
      "SELECT c.uuid, m.seq FROM message m JOIN conversation c ON c.id = m.conversation WHERE m.id = ?")
    statement.bind(message)
    return try statement.step() ? "\(statement.identifier(0)):\(statement.int(1))" : "row \(message)"
  }
}
