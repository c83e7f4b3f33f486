package import DMModel

// Reads: block, conversation, former, own_name, participant, user.
// Writes: user.

/// The users and their profiles.
package struct Users {
  let store: Store

  /// The users who show their presence, share a conversation with a user, and are not blocked by that user, sorted by
  /// handle.
  package func contacts(of user: UserKey) throws -> [Handle] {
    var statement = try store.connection.prepare(
      """
      SELECT handle FROM user WHERE shows_presence AND id <> ?1 AND id IN (SELECT o.user FROM participant p
        JOIN participant o ON o.conversation = p.conversation AND o.left_seq IS NULL
        WHERE p.user = ?1 AND p.left_seq IS NULL)
      AND id NOT IN (SELECT blocked FROM block WHERE user = ?1) ORDER BY handle
      """)
    statement.bind(user)
    var handles: [Handle] = []
    while try statement.step() { handles.append(Handle(stored: statement.text(0))) }
    return handles
  }

  /// Whether a user sends read receipts when they read messages.
  ///
  /// Other users see these receipts.
  package func sendsReadReceipts(_ user: UserKey) throws -> Bool {
    var statement = try store.connection.prepare("SELECT sends_read_receipts FROM user WHERE id = ?")
    statement.bind(user)
    return try !statement.step() || statement.bool(0)
  }

  /// The key of a user; nil if no user has that handle.
  package func key(_ handle: Handle) throws -> UserKey? {
    var statement = try store.connection.prepare("SELECT id FROM user WHERE handle = ?")
    statement.bind(handle.description)
    return try statement.step() ? statement.userKey(0) : nil
  }

  package func handle(_ key: UserKey) throws -> Handle {
    if let cached = store.handles[key.number] { return cached }
    var statement = try store.connection.prepare("SELECT handle FROM user WHERE id = ?")
    statement.bind(key)
    let handle = Handle(stored: try statement.step() ? statement.text(0) : "")
    store.handles[key.number] = handle
    return handle
  }

  package func hasAny() throws -> Bool {
    var statement = try store.connection.prepare("SELECT 1 FROM user LIMIT 1")
    return try statement.step()
  }

  package func user(_ handle: Handle) throws -> User? {
    var statement = try store.connection.prepare(
      as: "user", "SELECT \(Self.columns) FROM user WHERE handle = ?")
    statement.bind(handle.description)
    return try statement.step() ? Self.user(statement) : nil
  }

  /// The display name of a user; the handle if the user has no display name.
  package func displayName(of handle: Handle) throws -> String {
    var statement = try store.connection.prepare("SELECT display_name FROM user WHERE handle = ?")
    statement.bind(handle.description)
    return try (statement.step() ? statement.optionalText(0) : nil) ?? handle.description
  }

  /// At most `limit` users whose handles come after a handle, sorted by handle.
  package func users(after handle: String, limit: Int) throws -> [User] {
    var statement = try store.connection.prepare(
      as: "users", "SELECT \(Self.columns) FROM user WHERE handle > ? ORDER BY handle LIMIT ?")
    statement.bind(handle.description)
    statement.bind(limit)
    var users: [User] = []
    while try statement.step() { users.append(Self.user(statement)) }
    return users
  }

  /// The columns that a query must select so that `user(_:)` can read its rows.
  private enum Column: Int32, QueryColumn {
    case handle, displayName, bio, avatarURL, showsPresence, createdAt, sendsReadReceipts
  }

  private static let columns =
    "handle, display_name, bio, avatar_url, shows_presence, created_at, sends_read_receipts"

  private static func user(_ row: borrowing Statement) -> User {
    assert(row.has(Column.self))
    return User(
      handle: Handle(stored: row.text(Column.handle)), displayName: row.optionalText(Column.displayName),
      bio: row.optionalText(Column.bio),
      avatarURL: row.optionalText(Column.avatarURL), showsPresence: row.bool(Column.showsPresence),
      sendsReadReceipts: row.bool(Column.sendsReadReceipts),
      createdAt: row.timestamp(Column.createdAt))
  }

  /// Adds a user.
  ///
  /// - Throws: `bad_handle` for a handle that a new user may not have.
  package func insert(_ handle: Handle, at time: Timestamp) throws -> UserKey {
    try handle.checkNew()
    var statement = try store.connection.prepare("INSERT INTO user (handle, created_at) VALUES (?, ?)")
    statement.bind(handle.description)
    statement.bind(time)
    try statement.run()
    let key = UserKey(number: store.connection.lastInsertedRow)
    try store.changes.append(.user, user: key, at: time)
    return key
  }

  /// Writes the given fields of a profile.
  ///
  /// An empty string clears a field.
  package func update(_ key: UserKey, _ change: ProfileChange, at time: Timestamp) throws {
    let before = try change.avatarURL == nil ? nil : avatarURL(of: key)
    var statement = try store.connection.prepare(
      """
      UPDATE user SET display_name = nullif(coalesce(?, display_name), ''), bio = nullif(coalesce(?, bio), ''),
        avatar_url = nullif(coalesce(?, avatar_url), ''), shows_presence = coalesce(?, shows_presence),
        sends_read_receipts = coalesce(?, sends_read_receipts)
      WHERE id = ?
      """)
    statement.bind(change.displayName)
    statement.bind(change.bio)
    statement.bind(change.avatarURL)
    for flag in [change.showsPresence, change.sendsReadReceipts] { statement.bind(flag.map { $0 ? 1 as Int64 : 0 }) }
    statement.bind(key)
    try statement.run()
    try store.pictures.release(before)
    if change.sendsReadReceipts != nil { try store.hubOwnStates.note(nil, by: key) }
    try store.changes.append(.user, user: key, at: time)
  }

  private func avatarURL(of key: UserKey) throws -> String? {
    var statement = try store.connection.prepare("SELECT avatar_url FROM user WHERE id = ?")
    statement.bind(key)
    return try statement.step() ? statement.optionalText(0) : nil
  }

  /// The names that may be suggested for a misspelled name: the handles of users; the titles and own names of a user's
  /// conversations, as `+TITLE`.
  ///
  /// Returns at most 10,000 names of each kind, so that a search for a suggestion takes only milliseconds.
  package func names(visibleTo user: UserKey?) throws -> [String] {
    var statement = try store.connection.prepare(
      """
      SELECT * FROM (SELECT '+' || title FROM participant p JOIN conversation c ON c.id = p.conversation
        WHERE p.user = ?1 AND left_seq IS NULL AND title IS NOT NULL LIMIT 10000)
      UNION ALL SELECT * FROM (SELECT '+' || name FROM own_name WHERE user = ?1 LIMIT 10000)
      UNION ALL SELECT * FROM (SELECT '+' || title FROM former WHERE user = ?1 AND title IS NOT NULL LIMIT 10000)
      UNION ALL SELECT * FROM (SELECT handle FROM user ORDER BY id DESC LIMIT 10000)
      """)
    statement.bind(user)
    var names: [String] = []
    while try statement.step() { names.append(statement.text(0)) }
    return names
  }
}
