/// Which conversations to list, and from where.
public struct ListQuery: Sendable {
  public enum Archived: Sendable { case excluded, only, included }

  public var archived = Archived.excluded
  public var unreadOnly = false
  /// Leaves out what is muted now.
  public var unmutedOnly = false
  /// Part of a title, or of another participant's handle or display name; ASCII letters match in either case.
  public var matching: String?
  /// Nil for all.
  public var limit: Int? = 50
  /// The cursor of the last conversation of the page before.
  public var after: String?
  /// One conversation, if it belongs to the list; then there are no pages.
  package var only: Identifier?

  public init() {}
}

extension Store {
  /// A page of a user's conversations: pinned first, then newest activity.
  ///
  /// Costs in proportion to the page, besides the user's groups over 64 participants.
  func conversations(_ query: ListQuery, after cursor: PageCursor?, as viewer: Viewer)
    throws -> [Conversation]
  {
    var statement = try connection.prepare(text: Self.listSQL(query, paged: cursor != nil))
    statement.bind(viewer.user)
    // What has expired unnoticed still counts in the query, and may empty the page of it.
    let isLonger = try query.unreadOnly && viewer.hasPending
    statement.bind(isLonger ? -1 : query.limit ?? -1)
    bindMatch(query, &statement)
    if let only = query.only {
      statement.bind(only)
    } else if let cursor {
      statement.bind(cursor.isPinned)
      statement.bind(cursor.lastActivity)
      statement.bind(cursor.conversation)
    }
    let found = try conversations(&statement, as: viewer)
    return isLonger ? Array(found.filter { $0.unreadCount > 0 }.prefix(query.limit ?? .max)) : found
  }

  /// One conversation as a participant sees it, or as one who has left does.
  func conversation(_ key: Int64, as viewer: Viewer) throws -> Conversation? {
    var statement = try connection.prepare(
      text: "SELECT \(Self.listColumns) FROM participant p \(Self.listJoins) WHERE p.conversation = ?2 AND p.user = ?1")
    statement.bind(viewer.user)
    statement.bind(key)
    return try conversations(&statement, as: viewer).first
  }

  /// How many messages are unread in the conversations that the query selects.
  func unreadCount(_ query: ListQuery, as viewer: Viewer) throws -> Int {
    if try viewer.hasPending {
      var all = query
      all.limit = nil
      return try conversations(all, after: nil, as: viewer).reduce(0) { $0 + $1.unreadCount }
    }
    var statement = try connection.prepare(
      text: """
        SELECT coalesce(sum(\(Self.unread)), 0) FROM participant p
        CROSS JOIN conversation c ON c.id = p.conversation WHERE p.user = ?1 AND ?2 \(Self.filter(query))
        """)
    statement.bind(viewer.user)
    statement.bind(true)
    bindMatch(query, &statement)
    return try statement.step() ? statement.count(0) : 0
  }

  // MARK: The query, whose parameters are ?1 user, ?2 limit, ?3 pattern, ?4 to ?6 the cursor
  // or ?4 the only conversation

  /// For `docs/benchmarks.md`, which measures against the same SQL: the first page.
  static func listSQL(_ query: ListQuery, paged: Bool) -> String {
    func arm(_ index: String, _ activity: String, _ condition: String) -> String {
      """
      SELECT * FROM (SELECT p.*
        FROM participant p \(index) CROSS JOIN conversation c ON c.id = p.conversation
        WHERE p.user = ?1 AND \(condition)
        \(paged ? "AND (p.is_pinned, \(activity), p.conversation) < (?4, ?5, ?6)" : "") \(filter(query))
        ORDER BY p.is_pinned DESC, \(activity) DESC, p.conversation DESC LIMIT ?2)
      """
    }
    let lists =
      query.only != nil
      ? """
      SELECT p.* FROM conversation c CROSS JOIN participant p ON p.conversation = c.id
      WHERE c.uuid = ?4 AND p.user = ?1 \(filter(query))
      """
      : """
      \(arm("INDEXED BY participant_activity", "p.last_activity", "p.last_activity IS NOT NULL"))
        UNION ALL
        \(arm("", "c.last_activity", "p.is_pinned IN (0, 1) AND p.last_activity IS NULL"))
      """
    return """
      WITH p AS (
        \(lists))
      SELECT \(listColumns) FROM p \(listJoins)
      ORDER BY p.is_pinned DESC, coalesce(p.last_activity, c.last_activity) DESC, c.id DESC LIMIT ?2
      """
  }

  private static func filter(_ query: ListQuery) -> String {
    var sql = "AND NOT p.is_deleted AND NOT p.is_blocked"
    switch query.archived {
    case .excluded: sql += " AND NOT p.is_archived"
    case .only: sql += " AND p.is_archived"
    case .included: break
    }
    if query.unmutedOnly { sql += " AND (p.muted_until IS NULL OR p.muted_until <= \(Timestamp.now.microseconds))" }
    if query.unreadOnly { sql += " AND \(unread) > 0" }
    if query.matching != nil {
      sql += """
         AND (iif(p.left_seq IS NULL, c.title, \(former("title"))) LIKE ?3 ESCAPE '\\' OR EXISTS (
          SELECT 1 FROM participant o JOIN user u ON u.id = o.user
          WHERE o.conversation = c.id AND (o.user <> p.user OR c.direct_low = c.direct_high)
          AND iif(p.left_seq IS NULL, o.left_seq IS NULL,
            instr(' ' || \(former("participants")) || ' ', ' ' || u.handle || ' '))
          AND (u.handle LIKE ?3 ESCAPE '\\' OR u.display_name LIKE ?3 ESCAPE '\\')))
        """
    }
    return sql
  }

  /// A column of what is kept for a user who has left.
  private static func former(_ column: String) -> String {
    "(SELECT f.\(column) FROM former f WHERE f.user = p.user AND f.conversation = p.conversation)"
  }

  private func bindMatch(_ query: ListQuery, _ statement: inout Statement) {
    let pattern = query.matching.map { text in
      "%" + text.unicodeScalars.map { "%_\\".unicodeScalars.contains($0) ? "\\\($0)" : String($0) }.joined() + "%"
    }
    statement.bind(pattern)
  }

  private static let unread = "coalesce(p.left_seq, c.last_seq) - p.read_count - p.blocked_count"

  private static let listColumns = """
    c.id, c.uuid, c.direct_low IS NULL, iif(p.left_seq IS NULL, c.title, f.title), c.creator, coalesce(p.last_activity, c.last_activity), p.is_pinned,
    p.is_archived, \(unread),
    (SELECT to_seq FROM read_range r WHERE r.conversation = c.id AND r.user = p.user ORDER BY from_seq DESC LIMIT 1),
    (SELECT iif(from_seq = 1, to_seq + 1, 1) FROM read_range r WHERE r.conversation = c.id AND r.user = p.user
      ORDER BY from_seq LIMIT 1),
    iif(p.left_seq IS NULL, (SELECT group_concat(u.handle, ' ') FROM participant o JOIN user u ON u.id = o.user
      WHERE o.conversation = c.id AND o.left_seq IS NULL), f.participants),
    p.blocked_count, p.mention_count, p.muted_until, p.draft_text, iif(p.left_seq IS NULL, c.avatar_url, f.avatar_url),
    iif(p.left_seq IS NULL, c.expire_after, f.expire_after),
    coalesce(p.left_seq, c.last_seq), p.is_deleted + p.is_blocked, \(messageColumns)
    """

  private static let listJoins = """
    JOIN conversation c ON c.id = p.conversation
    LEFT JOIN message m ON m.id = c.last_message
    LEFT JOIN former f ON f.user = p.user AND f.conversation = c.id
    """

  private func conversations(_ row: inout Statement, as viewer: Viewer) throws -> [Conversation] {
    let store = try uuid()
    var result: [Conversation] = []
    while try row.step() {
      let key = row.int64(0)
      let pending = try viewer.pending(in: key)
      let isPinned = row.bool(6)
      conversationIDs[key] = row.identifier(1)
      var last = row.isNull(20) ? nil : try message(row, from: 20, as: viewer)
      // The newest of all is not for this user, or has just expired.
      if last == nil, !row.isNull(20) { last = try newestMessage(in: key, upTo: row.int(18), as: viewer) }
      var conversation = Conversation(
        id: row.identifier(1), isGroup: row.bool(2), title: row.optionalText(3),
        creator: try row.optionalInt64(4).map(handle),
        participants: row.text(11).utf8.split(separator: 0x20).map { Handle(stored: String(Substring($0))) },
        lastMessage: last, lastActivity: row.timestamp(5), unreadCount: max(0, try row.count(8) - pending.unread),
        lastReadSeq: row.optionalInt(9), isPinned: isPinned, isArchived: row.bool(7),
        cursor: PageCursor(
          store: store, isPinned: isPinned, lastActivity: row.timestamp(5), conversation: key))
      if conversation.unreadCount > 0 {
        // Where something is unread that he does not see, the first of it need not be the first.
        let isPlain = row.int(12) == 0 && pending.unread == 0
        conversation.firstUnreadSeq = isPlain ? row.optionalInt(10) ?? 1 : try firstUnread(in: key, as: viewer)
      }
      conversation.unreadMentionsCount = max(0, try row.count(13) - pending.mentions)
      conversation.mutedUntil = row.optionalTimestamp(14).flatMap { $0 > viewer.now ? $0 : nil }
      conversation.draftText = row.optionalText(15)
      conversation.avatarURL = row.optionalText(16)
      conversation.expireAfter = row.optionalInt64(17).map { .microseconds($0) }
      conversation.isListed = row.int(19) == 0
      result.append(conversation)
    }
    return result
  }

  /// The first message that a user sees and has not read.
  ///
  /// Linear in the unread ones before it that he does not see.
  private func firstUnread(in conversation: Int64, as viewer: Viewer) throws -> Int? {
    var statement = try connection.prepare(
      """
      SELECT m.seq, m.sender, m.deleted_at IS NOT NULL, m.expires_at FROM message m WHERE m.conversation = ?1
      AND m.seq > coalesce((SELECT to_seq FROM read_range r WHERE r.conversation = ?1 AND r.user = ?2
        AND r.from_seq <= m.seq ORDER BY r.from_seq DESC LIMIT 1), 0) ORDER BY m.seq
      """)
    statement.bind(conversation)
    statement.bind(viewer.user)
    while try statement.step() {
      if try viewer.sees(
        statement.int(0), in: conversation, from: statement.int64(1), isGone: statement.bool(2),
        expiresAt: statement.optionalTimestamp(3))
      {
        return statement.int(0)
      }
    }
    return nil
  }
}
