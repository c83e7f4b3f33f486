package import DMModel

extension Store {
  /// The reactions to a message, without those by users that a user blocks: each emoji when it came first, its users in order.
  package func reactions(to message: MessageKey, as viewer: Viewer) throws -> [Message.Reactions] {
    var statement = try connection.prepare("SELECT user, emoji FROM reaction WHERE message = ? ORDER BY at, user")
    statement.bind(message)
    var found: [Message.Reactions] = []
    while try statement.step() {
      if try viewer.hasBlocked(statement.userKey(0)) { continue }
      let emoji = statement.text(1)
      let user = try handle(statement.userKey(0))
      if let index = found.firstIndex(where: { ExactString($0.emoji) == ExactString(emoji) }) {
        found[index].users.append(user)
      } else {
        found.append(Message.Reactions(emoji: emoji, users: [user]))
      }
    }
    return found
  }

  /// The reaction of a user as it is now.
  package func reaction(of user: UserKey, to message: MessageKey) throws -> String? {
    var statement = try connection.prepare("SELECT emoji FROM reaction WHERE message = ? AND user = ?")
    statement.bind(message)
    statement.bind(user)
    return try statement.step() ? statement.text(0) : nil
  }

  /// Sets a user's only reaction to a message, or takes it back.
  ///
  /// - Returns: whether that changed anything.
  package func react(_ emoji: String?, to message: StoredMessage, by user: UserKey, at time: Timestamp) throws -> Bool {
    if try reaction(of: user, to: message.key).map(ExactString.init) == emoji.map(ExactString.init) { return false }
    do {
      var delete = try connection.prepare("DELETE FROM reaction WHERE message = ? AND user = ?")
      delete.bind(message.key)
      delete.bind(user)
      try delete.run()
    }
    if let emoji {
      var insert = try connection.prepare("INSERT INTO reaction (message, user, emoji, at) VALUES (?, ?, ?, ?)")
      insert.bind(message.key)
      insert.bind(user)
      insert.bind(emoji)
      insert.bind(time)
      try insert.run()
    }
    var count = try connection.prepare(
      "UPDATE message SET reaction_count = (SELECT count(*) FROM reaction WHERE message = ?1) WHERE id = ?1")
    count.bind(message.key)
    try count.run()
    let seqs = message.place.seq...message.place.seq
    try append(.reaction, conversation: message.place.conversation, user: user, seqs: seqs, at: time)
    return true
  }

  /// Replaces the text of a message.
  package func edit(_ message: StoredMessage, to text: String, mentioning users: [UserKey], at time: Timestamp) throws {
    if let old = message.text { try unindex(old, of: message.key) }
    try index(text, of: message.key)
    do {
      var update = try connection.prepare("UPDATE message SET text = ?, edited_at = ? WHERE id = ?")
      update.bind(text)
      update.bind(time)
      update.bind(message.key)
      try update.run()
    }
    try setMentions(users, of: message)
    try seal(message.key.number, of: .message)
    let seqs = message.place.seq...message.place.seq
    try append(.edited, conversation: message.place.conversation, user: message.sender, seqs: seqs, at: time)
  }

  /// Keeps a copy of a message for the people who run the store; another report by the same user replaces the reason.
  package func report(_ message: StoredMessage, by user: UserKey, reason: String?, at time: Timestamp) throws {
    var insert = try connection.prepare(
      """
      INSERT INTO report (message, reporter, at, reason, text) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (message, reporter) DO UPDATE SET at = excluded.at, reason = excluded.reason, text = excluded.text
      """)
    insert.bind(message.key)
    insert.bind(user)
    insert.bind(time)
    insert.bind(reason)
    insert.bind(message.text)
    try insert.run()
  }
}
