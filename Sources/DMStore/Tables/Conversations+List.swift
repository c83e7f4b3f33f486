package import DMModel
internal import DMSystem

// Reads: conversation, former, message, own_name, participant, read_range, user.

extension Conversations {
  /// A page of a user's conversations: pinned conversations first, then those with the newest activity.
  ///
  /// If the query selects all conversations, the cost is proportional to the size of the page plus the number of the
  /// user's groups with more than 64 participants.
  package func list(_ query: ListQuery, as viewer: Viewer) throws -> [Conversation] {
    if query.matching != nil { try store.connection.addFolding() }
    var statement = try store.connection.prepare(text: Self.listSQL(query, paged: query.after != nil))
    statement.bind(viewer.user)
    // The query also counts messages that have expired since the last write. These messages are subtracted below, and
    // conversations without other unread messages are then left out. So the query must not limit the number of rows.
    let isLonger = try query.unreadOnly && viewer.hasPending
    statement.bind(isLonger ? -1 : query.limit ?? -1)
    statement.bind(query.matching)
    if let only = query.only {
      statement.bind(only)
    } else if let cursor = query.after {
      statement.bind(cursor.isPinned)
      statement.bind(cursor.lastActivity)
      statement.bind(cursor.conversation)
    }
    let found = try read(&statement, as: viewer)
    return isLonger ? Array(found.filter { $0.unreadCount > 0 }.prefix(query.limit ?? .max)) : found
  }

  /// A conversation as a current or former participant sees it; nil for other users.
  package func seen(_ key: ConversationKey, as viewer: Viewer) throws -> Conversation? {
    var statement = try store.connection.prepare(
      text: "SELECT \(Self.columns) FROM participant p \(Self.listJoins) WHERE p.conversation = ?2 AND p.user = ?1")
    statement.bind(viewer.user)
    statement.bind(key)
    return try read(&statement, as: viewer).first
  }

  /// The number of unread messages in all conversations that a query selects.
  ///
  /// Linear in the number of the user's conversations with unread messages and of their groups with more than 64
  /// participants.
  package func unreadCount(_ query: ListQuery, as viewer: Viewer) throws -> Int {
    if try viewer.hasPending {
      var all = query
      (all.limit, all.after, all.unreadOnly) = (nil, nil, true)
      return try list(all, as: viewer).reduce(0) { $0 + $1.unreadCount }
    }
    if query.matching != nil { try store.connection.addFolding() }
    var statement = try store.connection.prepare(text: Self.unreadSQL(query))
    statement.bind(viewer.user)
    statement.bind(true)
    statement.bind(query.matching)
    return try statement.step() ? statement.count(0) : 0
  }

  /// The SQL that sums the numbers of unread messages; parameter ?2 must be true.
  static func unreadSQL(_ query: ListQuery) -> String {
    func counts(_ index: String, _ condition: String) -> String {
      """
      SELECT \(unread) AS count FROM participant p \(index) CROSS JOIN conversation c ON c.id = p.conversation
      WHERE p.user = ?1 AND ?2 AND \(condition) \(filter(query))
      """
    }
    // The rows of large groups have no flag.
    return """
      SELECT coalesce(sum(count), 0) FROM (\(counts("INDEXED BY participant_unread", "p.is_unread"))
      UNION ALL \(counts("", "p.is_pinned IN (0, 1) AND p.last_activity IS NULL")))
      """
  }

  // MARK: The query
  // Parameters: ?1 is the user, ?2 the limit, ?3 a part of a name. ?4 to ?6 are the cursor, or ?4 is the only
  // conversation to return.

  /// The SQL that reads a page of the list.
  ///
  /// `bench/list.sql` has a copy of the SQL of the first page, for the measurements in `docs/benchmarks.md`.
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
    var condition = "p.last_activity IS NOT NULL"
    if let newest = query.newest {
      // A condition is used here, because SQLite would read a subquery with a limit to its end, even if the limit is low.
      let first = """
        FROM participant b INDEXED BY participant_activity WHERE b.user = ?1 AND b.last_activity IS NOT NULL
        ORDER BY b.is_pinned DESC, b.last_activity DESC LIMIT 1 OFFSET \(newest)
        """
      condition += """
         AND (p.is_pinned, p.last_activity)
          > (coalesce((SELECT b.is_pinned \(first)), -1), coalesce((SELECT b.last_activity \(first)), 0))
        """
    }
    let lists =
      query.only != nil
      ? """
      SELECT p.* FROM conversation c CROSS JOIN participant p ON p.conversation = c.id
      WHERE c.uuid = ?4 AND p.user = ?1 \(filter(query))
      """
      : """
      \(arm("INDEXED BY participant_activity", "p.last_activity", condition))
        UNION ALL
        \(arm("", "c.last_activity", "p.is_pinned IN (0, 1) AND p.last_activity IS NULL"))
      """
    return """
      WITH p AS (
        \(lists))
      SELECT \(columns) FROM p \(listJoins)
      ORDER BY p.is_pinned DESC, coalesce(p.last_activity, c.last_activity) DESC, c.id DESC LIMIT ?2
      """
  }

  private static func filter(_ query: ListQuery) -> String {
    let named = query.keys.map { "AND p.conversation IN (\($0.map(\.description).joined(separator: ", ")))" }
    var sql = named ?? "AND NOT p.is_deleted AND NOT p.is_blocked"
    switch query.archived {
    case .excluded: if named == nil { sql += " AND NOT p.is_archived" }
    case .only: sql += " AND p.is_archived"
    case .included: break
    }
    if query.unmutedOnly { sql += " AND (p.muted_until IS NULL OR p.muted_until <= \(Timestamp.now.microseconds))" }
    if query.mutedOnly { sql += " AND p.muted_until > \(Timestamp.now.microseconds)" }
    if query.pinnedOnly { sql += " AND p.is_pinned" }
    if let time = query.idleSince { sql += " AND coalesce(p.last_activity, c.last_activity) < \(time.microseconds)" }
    if query.unreadOnly { sql += " AND \(unread) > 0" }
    if query.matching != nil {
      sql += """
         AND (instr(fold(iif(p.left_seq IS NULL, c.title, \(former("title")))), fold(?3))
          OR instr(fold((SELECT n.name FROM own_name n WHERE n.user = p.user AND n.conversation = c.id)), fold(?3))
          OR EXISTS (
          SELECT 1 FROM participant o JOIN user u ON u.id = o.user
          WHERE o.conversation = c.id AND (o.user <> p.user OR c.direct_low = c.direct_high)
          AND iif(p.left_seq IS NULL, o.left_seq IS NULL,
            instr(' ' || \(former("participants")) || ' ', ' ' || u.handle || ' '))
          AND (instr(fold(u.handle), fold(?3)) OR instr(fold(u.display_name), fold(?3)))))
        """
    }
    return sql
  }

  /// A subquery for a column of `former`: the state that is stored for a user who has left the conversation.
  private static func former(_ column: String) -> String {
    "(SELECT f.\(column) FROM former f WHERE f.user = p.user AND f.conversation = p.conversation)"
  }

  private static let unread = "coalesce(p.left_seq, c.last_seq) - p.read_count - p.blocked_count"

  /// The columns that a query must select so that `read` can read its rows; the columns of a message come after them.
  private enum Column: Int32, QueryColumn {
    case key, id, isGroup, title, creator, lastActivity, isPinned, isArchived, unread, readEnd, firstUnread
    case participants, blockedCount, mentionCount, mutedUntil, draftText, avatarURL, expireAfter, lastSeq
    case isUnlisted, ownName, isFormer, isOwner
  }

  private static let columns = """
    c.id AS key, c.uuid AS id, c.direct_low IS NULL AS is_group, iif(p.left_seq IS NULL, c.title, f.title) AS title,
    c.creator, coalesce(p.last_activity, c.last_activity) AS last_activity, p.is_pinned, p.is_archived, \(unread) AS unread,
    (SELECT to_seq FROM read_range r WHERE r.conversation = c.id AND r.user = p.user ORDER BY from_seq DESC LIMIT 1)
      AS read_end,
    (SELECT iif(from_seq = 1, to_seq + 1, 1) FROM read_range r WHERE r.conversation = c.id AND r.user = p.user
      ORDER BY from_seq LIMIT 1) AS first_unread,
    iif(p.left_seq IS NULL, (SELECT group_concat(o.is_owner || u.handle, ' ') FROM participant o
      JOIN user u ON u.id = o.user WHERE o.conversation = c.id AND o.left_seq IS NULL), f.participants) AS participants,
    p.blocked_count, p.mention_count, p.muted_until, p.draft_text,
    iif(p.left_seq IS NULL, c.avatar_url, f.avatar_url) AS avatar_url,
    iif(p.left_seq IS NULL, c.expire_after, f.expire_after) AS expire_after,
    coalesce(p.left_seq, c.last_seq) AS last_seq, p.is_deleted + p.is_blocked AS is_unlisted,
    (SELECT n.name FROM own_name n WHERE n.user = p.user AND n.conversation = c.id) AS own_name,
    p.left_seq IS NOT NULL AS is_former, p.is_owner,
    \(Messages.columns)
    """

  private static let listJoins = """
    JOIN conversation c ON c.id = p.conversation
    LEFT JOIN message m ON m.id = c.last_message
    LEFT JOIN former f ON f.user = p.user AND f.conversation = c.id
    """

  private func read(_ row: inout Statement, as viewer: Viewer) throws -> [Conversation] {
    assert(row.has(Column.self))
    let uuid = try store.uuid()
    var result: [Conversation] = []
    while try row.step() { result.append(try conversation(row, uuid, as: viewer)) }
    return result
  }

  private func conversation(_ row: borrowing Statement, _ uuid: Identifier, as viewer: Viewer) throws -> Conversation {
    let key = row.conversationKey(Column.key)
    let pending = try viewer.pending(in: key)
    let isPinned = row.bool(Column.isPinned)
    let isFormer = row.bool(Column.isFormer)
    store.conversationIDs[key.number] = row.identifier(Column.id)
    let (participants, owners) = people(row, isFormer: isFormer)
    var conversation = Conversation(
      id: row.identifier(Column.id), isGroup: row.bool(Column.isGroup), title: row.optionalText(Column.title),
      ownName: row.optionalText(Column.ownName),
      creator: try row.optionalUserKey(Column.creator).map(store.users.handle),
      myRole: isFormer ? .former : row.bool(Column.isOwner) ? .owner : .member,
      participants: participants, lastMessage: try lastMessage(row, participants, as: viewer)?.preview,
      lastActivityAt: row.timestamp(Column.lastActivity),
      unreadCount: max(0, try row.count(Column.unread) - pending.unread),
      lastReadSeq: row.optionalInt(Column.readEnd), isPinned: isPinned, isArchived: row.bool(Column.isArchived),
      pageCursor: PageCursor(
        store: uuid, isPinned: isPinned, lastActivity: row.timestamp(Column.lastActivity), conversation: key))
    if conversation.isGroup { conversation.owners = owners }
    conversation.name = try name(of: conversation, as: viewer)
    if conversation.unreadCount > 0 {
      // If the user does not see some unread messages, the first unread number may be the number of one of these
      // messages.
      let isPlain = row.int(Column.blockedCount) == 0 && pending.unread == 0
      conversation.firstUnreadSeq =
        isPlain ? row.optionalInt(Column.firstUnread) ?? 1 : try firstUnread(in: key, as: viewer)
    }
    conversation.unreadMentionsCount = max(0, try row.count(Column.mentionCount) - pending.mentions)
    addOwnState(row, to: &conversation, now: viewer.now)
    return conversation
  }

  /// The participants of a conversation, and the owners among them.
  ///
  /// In the list of handles, a digit before each handle says whether the user is an owner. The list that is stored for a
  /// former participant has no digits before the handles.
  private func people(_ row: borrowing Statement, isFormer: Bool) -> (participants: [Handle], owners: [Handle]) {
    row.withBytes(Column.participants) { bytes in
      var (participants, owners): ([Handle], [Handle]) = ([], [])
      // The bytes are split, because splitting a string takes three times as long.
      for word in bytes?.split(separator: UInt8(ascii: " ")) ?? [] {
        let name = UnsafeRawBufferPointer(rebasing: isFormer ? word : word.dropFirst())
        let handle = Handle(stored: String(decoding: name, as: UTF8.self))
        participants.append(handle)
        if !isFormer, word.first == UInt8(ascii: "1") { owners.append(handle) }
      }
      return (participants, owners)
    }
  }

  private func addOwnState(_ row: borrowing Statement, to conversation: inout Conversation, now: Timestamp) {
    conversation.mutedUntil = row.optionalTimestamp(Column.mutedUntil).flatMap { $0 > now ? $0 : nil }
    conversation.draftText = row.optionalText(Column.draftText)
    conversation.avatarURL = row.optionalText(Column.avatarURL)
    conversation.expireAfter = row.optionalInt64(Column.expireAfter).map { .microseconds($0) }
    conversation.isListed = row.int(Column.isUnlisted) == 0
  }

  private func lastMessage(
    _ row: borrowing Statement, _ participants: [Handle], as viewer: Viewer
  ) throws -> Message? {
    if row.isNull(Column.count + Messages.Column.id.rawValue) { return nil }
    try learn(row, participants, viewer)
    if let last = try store.messages.message(row, from: Column.count, as: viewer) { return last }
    // The user does not see the last message, or that message has just expired.
    return try store.messages.newestMessage(
      in: row.conversationKey(Column.key), upTo: row.int(Column.lastSeq), as: viewer)
  }

  /// Tells the viewer what the row has about the conversation, so that it is not read again for the last message.
  private func learn(_ row: borrowing Statement, _ participants: [Handle], _ viewer: Viewer) throws {
    let key = row.conversationKey(Column.key)
    if !row.bool(Column.isFormer) { try viewer.learnMembership(of: key) }
    let me = try store.users.handle(viewer.user)
    let label = try label(
      of: key, isGroup: row.bool(Column.isGroup), ownName: row.optionalText(Column.ownName),
      title: row.optionalText(Column.title), other: participants.first { $0 != me } ?? me, for: viewer.user,
      hasOwnNames: viewer.surroundings.hasOwnNames())
    viewer.surroundings.learn(label, of: key)
  }

  /// The number of the first unread message that a user sees; nil if there is none.
  ///
  /// Linear in the number of earlier unread messages that the user does not see.
  private func firstUnread(in conversation: ConversationKey, as viewer: Viewer) throws -> Int? {
    var statement = try store.connection.prepare(
      """
      SELECT m.seq, m.sender, m.deleted_at IS NOT NULL, m.expires_at FROM message m WHERE m.conversation = ?1
      AND m.seq > coalesce((SELECT to_seq FROM read_range r WHERE r.conversation = ?1 AND r.user = ?2
        AND r.from_seq <= m.seq ORDER BY r.from_seq DESC LIMIT 1), 0) ORDER BY m.seq
      """)
    statement.bind(conversation)
    statement.bind(viewer.user)
    while try statement.step() {
      if try viewer.sees(
        statement.int(0), in: conversation, from: statement.userKey(1), isGone: statement.bool(2),
        expiresAt: statement.optionalTimestamp(3))
      {
        return statement.int(0)
      }
    }
    return nil
  }
}
