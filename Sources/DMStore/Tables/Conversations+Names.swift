package import DMModel

// Reads: conversation, former, own_name, participant.
// Writes: own_name.

extension Conversations {
  /// The title of a conversation for a user, and a reference that the user can type for it.
  ///
  /// There are several small queries, most of which other code has too. SQLite would take longer to compile one query for
  /// all of this than to run it.
  ///
  /// - Parameter hasOwnNames: whether the user has an own name for any conversation.
  package func label(
    of conversation: ConversationKey, for user: UserKey, hasOwnNames: Bool
  ) throws -> ConversationLabel {
    var row = try store.connection.prepare("SELECT direct_low, direct_high, title FROM conversation WHERE id = ?")
    row.bind(conversation)
    let isGroup = try row.step() && row.isNull(0)
    guard let membership = try store.members.membership(of: user, in: conversation) else {
      // A user who imports other users' history need not be in the conversation.
      return ConversationLabel(title: nil, isGroup: isGroup, reference: try id(conversation).description)
    }
    return try label(
      of: conversation, isGroup: isGroup, ownName: hasOwnNames ? ownName(of: user, for: conversation) : nil,
      title: membership.leftSeq == nil ? row.optionalText(2) : formerTitle(of: conversation, for: user),
      other: store.users.handle(row.userKey(0) == user ? row.userKey(1) : row.userKey(0)), for: user,
      hasOwnNames: hasOwnNames)
  }

  /// The label of a conversation whose names the caller has read.
  ///
  /// - Parameters:
  ///   - title: the title of a group, as the user sees it.
  ///   - other: the other user of a direct conversation.
  func label(
    of conversation: ConversationKey, isGroup: Bool, ownName: String?, title: @autoclosure () throws -> String?,
    other: @autoclosure () throws -> Handle, for user: UserKey, hasOwnNames: Bool
  ) throws -> ConversationLabel {
    if let ownName { return ConversationLabel(title: ownName, isGroup: isGroup, reference: "+\(ownName)") }
    if !isGroup {
      let other = try other().description
      return ConversationLabel(title: other, isGroup: false, reference: other)
    }
    // If another conversation of the user has this title or own name, the title as a reference would be ambiguous.
    let title = try title()
    guard let title, try !hasOwnNames || !isOwnName(title, of: user),
      try !hasGroup(titled: title, of: user, where: { $0 != conversation })
    else { return ConversationLabel(title: title, isGroup: true, reference: try id(conversation).description) }
    return ConversationLabel(title: title, isGroup: true, reference: "+\(title)")
  }

  private func formerTitle(of conversation: ConversationKey, for user: UserKey) throws -> String? {
    var statement = try store.connection.prepare("SELECT title FROM former WHERE user = ? AND conversation = ?")
    statement.bind(user)
    statement.bind(conversation)
    return try statement.step() ? statement.optionalText(0) : nil
  }

  /// The name of a conversation for a user: the user's own name for it, or its title, or the names of its participants.
  package func name(of conversation: Conversation, as viewer: Viewer) throws -> String {
    if let name = conversation.ownName ?? conversation.title { return name }
    let me = try store.users.handle(viewer.user)
    let others = conversation.participants.filter { $0 != me }
    return try (others.isEmpty ? [me] : others).map { try store.users.displayName(of: $0) }.joined(separator: ", ")
  }

  /// The title of a conversation for a user; nil for a group without a title.
  package func title(of conversation: ConversationKey, as user: UserKey) throws -> String? {
    try label(of: conversation, for: user, hasOwnNames: hasOwnNames(of: user)).title
  }
}

extension Conversations {
  /// The conversation to which a user has given this own name; nil if there is none.
  package func row(ownName name: String, of user: UserKey) throws -> Row? {
    try key(ownName: name, of: user).flatMap(row(key:))
  }

  /// Whether a user has an own name for any conversation.
  func hasOwnNames(of user: UserKey) throws -> Bool {
    var any = try store.connection.prepare("SELECT 1 FROM own_name WHERE user = ? LIMIT 1")
    any.bind(user)
    return try any.step()
  }

  private func isOwnName(_ name: String, of user: UserKey) throws -> Bool { try key(ownName: name, of: user) != nil }

  private func key(ownName name: String, of user: UserKey) throws -> ConversationKey? {
    var statement = try store.connection.prepare("SELECT conversation FROM own_name WHERE user = ? AND name = ?")
    statement.bind(user)
    statement.bind(name)
    return try statement.step() ? statement.conversationKey(0) : nil
  }

  /// The own name that a user has given to a conversation; nil if there is none.
  package func ownName(of user: UserKey, for conversation: ConversationKey) throws -> String? {
    var statement = try store.connection.prepare("SELECT name FROM own_name WHERE user = ? AND conversation = ?")
    statement.bind(user)
    statement.bind(conversation)
    return try statement.step() ? statement.text(0) : nil
  }

  /// Gives a conversation an own name.
  ///
  /// Only the user sees this name, and they can give it to only one conversation.
  ///
  /// Nil removes the name.
  package func setOwnName(_ name: String?, of user: UserKey, in conversation: ConversationKey) throws {
    do {
      var delete = try store.connection.prepare("DELETE FROM own_name WHERE user = ? AND conversation = ?")
      delete.bind(user)
      delete.bind(conversation)
      try delete.run()
    }
    try store.hubOwnStates.note(conversation, by: user)
    guard let name else { return }
    var insert = try store.connection.prepare("INSERT INTO own_name (user, conversation, name) VALUES (?, ?, ?)")
    insert.bind(user)
    insert.bind(conversation)
    insert.bind(name)
    try insert.run()
  }

  /// The groups without a title whose participants are exactly these users.
  ///
  /// Linear in the number of conversations of the first user.
  package func untitledGroups(of users: [UserKey]) throws -> [Row] {
    var statement = try store.connection.prepare(
      """
      SELECT p.conversation FROM participant p CROSS JOIN conversation c ON c.id = p.conversation
      WHERE p.user = ?1 AND p.left_seq IS NULL AND c.direct_low IS NULL AND c.title IS NULL
      AND json_array_length(?2) = (SELECT count(*) FROM participant o
        WHERE o.conversation = c.id AND o.left_seq IS NULL)
      AND NOT EXISTS (SELECT 1 FROM participant o WHERE o.conversation = c.id AND o.left_seq IS NULL
        AND o.user NOT IN (SELECT value FROM json_each(?2)))
      ORDER BY c.id
      """)
    statement.bind(users.first)
    statement.bind(jsonArray(users))
    return try statement.conversationKeys().compactMap { try row(key: $0) }
  }
}

extension Conversations {
  /// The groups with a title in which a user is.
  ///
  /// CROSS JOIN prevents SQLite from reading all conversations of the user (sqlite.org/optoverview.html, section 7).
  static let ownGroups: StaticString = """
    SELECT c.id FROM conversation c CROSS JOIN participant p ON p.conversation = c.id
    WHERE c.title = ? AND p.user = ? AND p.left_seq IS NULL ORDER BY c.id
    """
  /// The groups that a user has left, by the title that they had then.
  private static let formerGroups: StaticString =
    "SELECT conversation FROM former WHERE title = ? AND user = ? ORDER BY conversation"

  /// The groups with this title in which a user is or was; without a user, the groups that an import created.
  package func groups(titled title: String, of user: UserKey?) throws -> [Row] {
    if let user {
      var keys: [ConversationKey] = []
      _ = try hasGroup(titled: title, of: user) { key in
        keys.append(key)
        return false
      }
      return try keys.compactMap { try row(key: $0) }
    }
    var statement = try store.connection.prepare(
      as: "imported groups",
      "SELECT \(Self.rowColumns) FROM conversation c WHERE c.title = ? AND c.is_imported ORDER BY c.id")
    statement.bind(title)
    var groups: [Row] = []
    while let group = try row(&statement) { groups.append(group) }
    return groups
  }

  /// Whether a condition selects a group with this title; asks first for those in which the user is, then for those
  /// that the user has left.
  private func hasGroup(
    titled title: String, of user: UserKey, where isWanted: (ConversationKey) -> Bool
  ) throws -> Bool {
    // SQLite takes longer to compile one query for both than to run two.
    for sql in [Self.ownGroups, Self.formerGroups] {
      var statement = try store.connection.prepare(sql)
      statement.bind(title)
      statement.bind(user)
      while try statement.step() { if isWanted(statement.conversationKey(0)) { return true } }
    }
    return false
  }
}
