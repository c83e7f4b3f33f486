/// Which conversations to list, and from where.
public struct ListQuery: Sendable {
  public enum Archived: Sendable { case excluded, only, included }

  public var archived = Archived.excluded
  public var unreadOnly = false
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
  func conversations(of user: Int64, _ query: ListQuery, after cursor: PageCursor?, as statuses: StatusReader)
    throws -> [Conversation]
  {
    var statement = try connection.prepare(text: Self.listSQL(query, paged: cursor != nil))
    statement.bind(user)
    statement.bind(query.limit ?? -1)
    bindMatch(query, &statement)
    if let only = query.only {
      statement.bind(only)
    } else if let cursor {
      statement.bind(cursor.isPinned)
      statement.bind(cursor.lastActivity)
      statement.bind(cursor.conversation)
    }
    return try conversations(&statement, as: statuses)
  }

  /// One conversation as a participant sees it.
  func conversation(_ key: Int64, of user: Int64, as statuses: StatusReader) throws -> Conversation? {
    var statement = try connection.prepare(
      text: "SELECT \(Self.listColumns) FROM participant p \(Self.listJoins) WHERE p.conversation = ?2 AND p.user = ?1")
    statement.bind(user)
    statement.bind(key)
    return try conversations(&statement, as: statuses).first
  }

  /// How many messages are unread in the conversations that the query selects.
  func unreadCount(of user: Int64, _ query: ListQuery) throws -> Int {
    var statement = try connection.prepare(
      text: """
        SELECT coalesce(sum(c.last_seq - p.read_count), 0) FROM participant p
        CROSS JOIN conversation c ON c.id = p.conversation WHERE p.user = ?1 AND ?2 \(Self.filter(query))
        """)
    statement.bind(user)
    statement.bind(true)
    bindMatch(query, &statement)
    return try statement.step() ? statement.int(0) : 0
  }

  // MARK: The query, whose parameters are ?1 user, ?2 limit, ?3 pattern, ?4 to ?6 the cursor
  // or ?4 the only conversation

  /// For `docs/benchmarks.md`, which measures against the same SQL: the first page.
  static func listSQL(_ query: ListQuery, paged: Bool) -> String {
    func arm(_ index: String, _ activity: String, _ condition: String) -> String {
      """
      SELECT * FROM (SELECT p.conversation, p.user, p.is_pinned, p.is_archived, p.read_count
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
      ORDER BY p.is_pinned DESC, c.last_activity DESC, c.id DESC LIMIT ?2
      """
  }

  private static func filter(_ query: ListQuery) -> String {
    var sql = ""
    switch query.archived {
    case .excluded: sql += " AND NOT p.is_archived"
    case .only: sql += " AND p.is_archived"
    case .included: break
    }
    if query.unreadOnly { sql += " AND c.last_seq > p.read_count" }
    if query.matching != nil {
      sql += """
         AND (c.title LIKE ?3 ESCAPE '\\' OR EXISTS (
          SELECT 1 FROM participant o JOIN user u ON u.id = o.user WHERE o.conversation = c.id
          AND (o.user <> p.user OR c.direct_low = c.direct_high)
          AND (u.handle LIKE ?3 ESCAPE '\\' OR u.display_name LIKE ?3 ESCAPE '\\')))
        """
    }
    return sql
  }

  private func bindMatch(_ query: ListQuery, _ statement: inout Statement) {
    let pattern = query.matching.map { text in
      "%" + text.unicodeScalars.map { "%_\\".unicodeScalars.contains($0) ? "\\\($0)" : String($0) }.joined() + "%"
    }
    statement.bind(pattern)
  }

  private static let listColumns = """
    c.id, c.uuid, c.direct_low IS NULL, c.title, c.creator, c.last_activity, p.is_pinned, p.is_archived,
    c.last_seq - p.read_count,
    (SELECT to_seq FROM read_range r WHERE r.conversation = c.id AND r.user = p.user ORDER BY from_seq DESC LIMIT 1),
    (SELECT iif(from_seq = 1, to_seq + 1, 1) FROM read_range r WHERE r.conversation = c.id AND r.user = p.user
      ORDER BY from_seq LIMIT 1),
    (SELECT group_concat(u.handle, ' ') FROM participant o JOIN user u ON u.id = o.user WHERE o.conversation = c.id),
    \(messageColumns)
    """

  private static let listJoins = """
    JOIN conversation c ON c.id = p.conversation
    LEFT JOIN message m ON m.id = c.last_message
    """

  private func conversations(_ row: inout Statement, as statuses: StatusReader) throws -> [Conversation] {
    let store = try uuid()
    var result: [Conversation] = []
    while try row.step() {
      let key = row.int64(0)
      let unread = row.int(8)
      let isPinned = row.bool(6)
      conversationIDs[key] = row.identifier(1)
      result.append(
        Conversation(
          id: row.identifier(1), isGroup: row.bool(2), title: row.optionalText(3),
          creator: try row.optionalInt64(4).map(handle),
          participants: row.text(11).utf8.split(separator: 0x20).map { Handle(stored: String(Substring($0))) },
          lastMessage: row.isNull(12) ? nil : try message(row, from: 12, as: statuses),
          lastActivity: row.timestamp(5), unreadCount: unread, lastReadSeq: row.optionalInt(9),
          firstUnreadSeq: unread > 0 ? row.optionalInt(10) ?? 1 : nil, isPinned: isPinned, isArchived: row.bool(7),
          cursor: PageCursor(
            store: store, isPinned: isPinned, lastActivity: row.timestamp(5), conversation: key)))
    }
    return result
  }
}
