package import DMModel

// Reads: attachment, message.

extension Messages {
  /// The conditions of a search apart from its words.
  package struct SearchFilter {
    /// The conversations to search; nil for all conversations that the user is or was in.
    package let conversations: [ConversationKey]?
    package let sender: UserKey?
    package let since: Timestamp
    /// The end of the time range.
    ///
    /// The range does not include this time.
    package let before: Timestamp
    /// If the search is in one conversation, the numbers of the messages to search.
    package let seqs: Range<Int>
    package let contents: Set<SearchRequest.Content>
    /// A part of the name of an attachment; nil for no condition.
    package let attachmentName: String?

    /// Whether there is no condition but the conversations.
    var hasOnlyConversations: Bool {
      sender == nil && since <= Timestamp.writable.lowerBound && before > Timestamp.writable.upperBound
        && seqs == 1..<Int.max && contents.isEmpty && attachmentName == nil
    }

    /// The kinds of the attachments that a message must have.
    fileprivate var kinds: [Attachment.Kind] { contents.compactMap(\.kind) }
    /// Whether only messages with attachments match.
    fileprivate var needsAttachment: Bool { contents.contains(.attachment) || !kinds.isEmpty || attachmentName != nil }

    package init(
      conversations: [ConversationKey]?, sender: UserKey?, since: Timestamp, before: Timestamp, seqs: Range<Int>,
      contents: Set<SearchRequest.Content>, attachmentName: String?
    ) {
      self.conversations = conversations
      self.sender = sender
      self.since = since
      self.before = before
      self.seqs = seqs
      self.contents = contents
      self.attachmentName = attachmentName
    }
  }

  private static let filtered = """
    SELECT m.conversation, m.seq, m.sender, m.deleted_at IS NOT NULL, m.expires_at, m.id FROM message m
    """
  private static let basicConditions = """
    m.created_at >= ?1 AND m.created_at < ?2 AND m.seq >= ?3 AND m.seq < ?4 AND m.system_kind IS NULL
    AND (?5 IS NULL OR m.sender = ?5)
    AND (NOT ?6 OR m.text LIKE '%http://%' OR m.text LIKE '%https://%') AND (NOT ?7 OR m.mentions IS NOT NULL)
    AND (?8 = 0 OR ?9 = (SELECT count(DISTINCT a.kind) FROM attachment a WHERE a.message = m.id AND 1 << a.kind & ?8))
    AND (?10 IS NULL OR m.attachment_count > 0)
    """

  /// The SQL conditions of a filter on a message `m`, with the parameters 1 to 10.
  ///
  /// The conditions on attachments are left out if there are none, so that SQLite can use the index of messages with
  /// attachments, and needs the function `fold` only for a name.
  static func conditions(needsAttachment: Bool, isNamed: Bool) -> String {
    var sql = basicConditions
    if needsAttachment { sql += " AND m.attachment_count > 0" }
    if isNamed {
      sql += " AND EXISTS (SELECT 1 FROM attachment a WHERE a.message = m.id AND instr(fold(a.name), fold(?10)))"
    }
    return sql
  }

  /// Finds the newest messages of the conversation ?11 that match a filter.
  static func newestOfOne(_ conditions: String) -> String {
    "\(filtered) WHERE m.conversation = ?11 AND \(conditions) ORDER BY m.seq DESC"
  }

  /// The statement that `sql` makes from the conditions of a filter.
  ///
  /// - Parameter name: the key in the cache of statements, for a filter without conditions on attachments.
  private func prepared(_ filter: SearchFilter, as name: StaticString, _ sql: (String) -> String) throws -> Statement {
    if filter.attachmentName != nil { try store.connection.addFolding() }
    var statement =
      filter.needsAttachment
      ? try store.connection.prepare(
        text: sql(Self.conditions(needsAttachment: true, isNamed: filter.attachmentName != nil)))
      : try store.connection.prepare(as: name, sql(Self.basicConditions))
    Self.bind(filter, to: &statement)
    return statement
  }

  /// Whether a message matches a filter and is visible to the user.
  package func passes(_ key: MessageKey, _ filter: SearchFilter, as viewer: Viewer) throws -> Bool {
    var statement = try prepared(filter, as: "passes") { "\(Self.filtered) WHERE m.id = ?11 AND \($0)" }
    statement.bind(key)
    return try statement.step() && sees(statement, filter, as: viewer)
  }

  /// Passes to `body` the keys of the messages that match a filter and are visible to the user, newest first, until
  /// `body` returns false.
  package func newest(_ filter: SearchFilter, as viewer: Viewer, _ body: (MessageKey) throws -> Bool) throws {
    let isOne = filter.conversations?.count == 1
    var statement =
      isOne
      ? try prepared(filter, as: "newest of one", Self.newestOfOne)
      : try prepared(filter, as: "newest of all") {
        "\(Self.filtered) INDEXED BY message_created WHERE \($0) ORDER BY m.created_at DESC, m.id DESC"
      }
    if isOne { statement.bind(filter.conversations?.first) }
    while try statement.step() {
      if try sees(statement, filter, as: viewer), try !body(statement.messageKey(5)) { return }
    }
  }

  private static func bind(_ filter: SearchFilter, to statement: inout Statement) {
    statement.bind(filter.since)
    statement.bind(filter.before)
    statement.bind(filter.seqs.lowerBound)
    statement.bind(filter.seqs.upperBound)
    statement.bind(filter.sender)
    statement.bind(filter.contents.contains(.link))
    statement.bind(filter.contents.contains(.mention))
    statement.bind(filter.kinds.reduce(0 as Int64) { $0 | 1 << $1.number })
    statement.bind(filter.kinds.count)
    statement.bind(filter.attachmentName)
  }

  private func sees(_ row: borrowing Statement, _ filter: SearchFilter, as viewer: Viewer) throws -> Bool {
    if let conversations = filter.conversations, !conversations.contains(row.conversationKey(0)) { return false }
    return try sees(row, as: viewer)
  }

  /// Whether the user sees the message of a row that begins with conversation, number, sender, whether it is a tombstone,
  /// and the time at which it expires.
  func sees(_ row: borrowing Statement, as viewer: Viewer) throws -> Bool {
    try viewer.sees(
      row.int(1), in: row.conversationKey(0), from: row.userKey(2), isGone: row.bool(3),
      expiresAt: row.optionalTimestamp(4))
  }

  /// The keys of all messages of some conversations.
  package func messageKeys(of conversations: [ConversationKey]) throws -> KeySet {
    var keys = KeySet(upTo: try lastMessageKey())
    for conversation in conversations {
      var statement = try store.connection.prepare("SELECT id FROM message WHERE conversation = ?")
      statement.bind(conversation)
      while try statement.step() { keys.insert(statement.messageKey(0)) }
    }
    return keys
  }

  /// The messages with these keys that the user sees, in the order of the keys.
  package func seen(_ keys: ArraySlice<MessageKey>, as viewer: Viewer) throws -> [(
    key: MessageKey, message: Message
  )] {
    var found: [(MessageKey, Message)] = []
    for key in keys {
      var statement = try store.connection.prepare(
        as: "by key", "SELECT \(Self.columns) FROM message m WHERE m.id = ?")
      statement.bind(key)
      if try statement.step(), let message = try message(statement, from: 0, as: viewer) {
        found.append((key, message))
      }
    }
    return found
  }
}

extension Messages {
  /// The announcements that users joined or left a conversation, newest first.
  package func comings(in conversation: ConversationKey) throws -> [(seq: Int, handle: Handle, isComing: Bool)] {
    var statement = try store.connection.prepare(
      """
      SELECT seq, subject, system_kind = ?2 FROM message
      WHERE conversation = ?1 AND system_kind IN (?2, ?3) AND subject IS NOT NULL ORDER BY seq DESC
      """)
    statement.bind(conversation)
    statement.bind(Message.SystemKind.userJoined.number)
    statement.bind(Message.SystemKind.userLeft.number)
    var found: [(seq: Int, handle: Handle, isComing: Bool)] = []
    while try statement.step() {
      found.append((statement.int(0), Handle(stored: statement.text(1)), statement.bool(2)))
    }
    return found
  }
}

extension SearchRequest.Content {
  /// The kind of the attachment that a message must have; nil if this is not a kind of attachment.
  fileprivate var kind: Attachment.Kind? {
    switch self {
    case .link, .attachment, .mention: nil
    case .image: .image
    case .video: .video
    case .audio: .audio
    case .voice: .voice
    case .file: .file
    }
  }
}
