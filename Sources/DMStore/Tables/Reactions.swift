package import DMModel

// Reads: reaction.
// Writes: message, reaction.

/// Reactions to messages.
package struct Reactions {
  let store: Store

  /// The reactions to a message that a user sees.
  ///
  /// The emojis are in the order of their first use; the users of each emoji are in the order of their reactions.
  package func all(to message: MessageKey, as viewer: Viewer) throws -> [Message.Reactions] {
    var statement = try store.connection.prepare("SELECT user, emoji FROM reaction WHERE message = ? ORDER BY at, user")
    statement.bind(message)
    var found: [Message.Reactions] = []
    while try statement.step() {
      if try viewer.hasBlocked(statement.userKey(0)) { continue }
      let emoji = statement.text(1)
      let user = try store.users.handle(statement.userKey(0))
      if let index = found.firstIndex(where: { ExactString($0.emoji) == ExactString(emoji) }) {
        found[index].users.append(user)
      } else {
        found.append(Message.Reactions(emoji: emoji, users: [user]))
      }
    }
    return found
  }

  /// The present reaction of a user to a message; nil if there is none.
  package func reaction(of user: UserKey, to message: MessageKey) throws -> String? {
    var statement = try store.connection.prepare("SELECT emoji FROM reaction WHERE message = ? AND user = ?")
    statement.bind(message)
    statement.bind(user)
    return try statement.step() ? statement.text(0) : nil
  }

  /// Sets the reaction of a user to a message, which replaces their previous reaction; nil removes it.
  ///
  /// - Returns: whether the reaction has changed.
  package func react(_ emoji: String?, to message: Messages.Row, by user: UserKey, at time: Timestamp) throws -> Bool {
    if try reaction(of: user, to: message.key).map(ExactString.init) == emoji.map(ExactString.init) { return false }
    do {
      var delete = try store.connection.prepare("DELETE FROM reaction WHERE message = ? AND user = ?")
      delete.bind(message.key)
      delete.bind(user)
      try delete.run()
    }
    if let emoji {
      var insert = try store.connection.prepare("INSERT INTO reaction (message, user, emoji, at) VALUES (?, ?, ?, ?)")
      insert.bind(message.key)
      insert.bind(user)
      insert.bind(emoji)
      insert.bind(time)
      try insert.run()
    }
    var count = try store.connection.prepare(
      "UPDATE message SET reaction_count = (SELECT count(*) FROM reaction WHERE message = ?1) WHERE id = ?1")
    count.bind(message.key)
    try count.run()
    let seqs = message.address.seq...message.address.seq
    try store.changes.append(.reaction, conversation: message.address.conversation, user: user, seqs: seqs, at: time)
    return true
  }

  /// Sets the time of a reaction.
  ///
  /// Reactions are sorted by this time.
  package func set(_ time: Timestamp, of user: UserKey, to message: MessageKey) throws {
    var update = try store.connection.prepare("UPDATE reaction SET at = ? WHERE message = ? AND user = ?")
    update.bind(time)
    update.bind(message)
    update.bind(user)
    try update.run()
  }
}
