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

    /// Whether there is no condition but the conversations.
    var hasOnlyConversations: Bool {
      sender == nil && since <= Timestamp.writable.lowerBound && before > Timestamp.writable.upperBound
        && seqs == 1..<Int.max && contents.isEmpty
    }

    package init(
      conversations: [ConversationKey]?, sender: UserKey?, since: Timestamp, before: Timestamp, seqs: Range<Int>,
      contents: Set<SearchRequest.Content>
    ) {
      self.conversations = conversations
      self.sender = sender
      self.since = since
      self.before = before
      self.seqs = seqs
      self.contents = contents
    }
  }

  private static let filtered = """
    SELECT m.conversation, m.seq, m.sender, m.deleted_at IS NOT NULL, m.expires_at, m.id FROM message m
    """
  private static let passes = """
    m.created_at >= ?1 AND m.created_at < ?2 AND m.seq >= ?3 AND m.seq < ?4 AND m.system_kind IS NULL
    AND (?5 IS NULL OR m.sender = ?5)
    AND (NOT ?6 OR m.text LIKE '%http://%' OR m.text LIKE '%https://%') AND (NOT ?7 OR m.mentions IS NOT NULL)
    AND (NOT ?8 OR m.attachment_count > 0)
    AND (NOT ?9 OR m.attachment_count > 0 AND EXISTS (SELECT 1 FROM attachment a WHERE a.message = m.id AND a.kind = 1))
    """

  /// Whether a message matches a filter and is visible to the user.
  package func passes(_ key: MessageKey, _ filter: SearchFilter, as viewer: Viewer) throws -> Bool {
    var statement = try store.connection.prepare(as: "passes", "\(Self.filtered) WHERE m.id = ?10 AND \(Self.passes)")
    Self.bind(filter, to: &statement)
    statement.bind(key)
    return try statement.step() && sees(statement, filter, as: viewer)
  }

  /// Passes to `body` the keys of the messages that match a filter and are visible to the user, newest first, until
  /// `body` returns false.
  package func newest(_ filter: SearchFilter, as viewer: Viewer, _ body: (MessageKey) throws -> Bool) throws {
    let isOne = filter.conversations?.count == 1
    var statement =
      isOne
      ? try store.connection.prepare(
        as: "newest of one", "\(Self.filtered) WHERE m.conversation = ?10 AND \(Self.passes) ORDER BY m.seq DESC")
      : try store.connection.prepare(
        as: "newest of all",
        "\(Self.filtered) INDEXED BY message_created WHERE \(Self.passes) ORDER BY m.created_at DESC, m.id DESC")
    Self.bind(filter, to: &statement)
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
    for content in [SearchRequest.Content.link, .mention, .attachment, .image] {
      statement.bind(filter.contents.contains(content))
    }
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
