package import DMModel

extension Store {
  func insertMention(of user: UserKey, in conversation: ConversationKey, _ seq: Int) throws {
    var insert = try connection.prepare(
      "INSERT INTO mention (conversation, user, seq) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
    insert.bind(conversation)
    insert.bind(user)
    insert.bind(seq)
    try insert.run()
  }

  /// Counts a mention that is new to a user: not their own, and not by a user that they block.
  func countMention(of user: UserKey, by sender: UserKey, in conversation: ConversationKey) throws {
    if user == sender { return }
    var update = try connection.prepare(
      """
      UPDATE participant SET mention_count = mention_count + 1 WHERE conversation = ?1 AND user = ?2
      AND NOT EXISTS (SELECT 1 FROM block WHERE user = ?2 AND blocked = ?3)
      """)
    update.bind(conversation)
    update.bind(user)
    update.bind(sender)
    try update.run()
  }

  /// How often a user is mentioned in a range by users that they do not block.
  package func mentions(_ user: UserKey, in conversation: ConversationKey, _ range: SeqRange) throws -> Int {
    var statement = try connection.prepare(
      """
      SELECT count(*) FROM mention n JOIN message m ON m.conversation = n.conversation AND m.seq = n.seq
      WHERE n.conversation = ?1 AND n.user = ?2 AND n.seq BETWEEN ?3 AND ?4
      AND m.sender NOT IN (SELECT blocked FROM block WHERE user = ?2)
      """)
    statement.bind(conversation)
    statement.bind(user)
    statement.bind(range.lowerBound)
    statement.bind(range.upperBound)
    return try statement.step() ? statement.int(0) : 0
  }

  /// Replaces the users that a message mentions, and counts again those who have not read it.
  func setMentions(_ users: [UserKey], of message: StoredMessage) throws {
    let seqs = message.place.seq...message.place.seq
    let conversation = message.place.conversation
    let before = try message.mentions.compactMap(userKey)
    for user in Set(before).union(users).sorted() {
      if before.contains(user) == users.contains(user) { continue }
      let isUnread = try readRanges(of: user, in: conversation, overlapping: seqs).isEmpty
      if users.contains(user) {
        try insertMention(of: user, in: conversation, message.place.seq)
        if isUnread { try countMention(of: user, by: message.sender, in: conversation) }
        continue
      }
      if isUnread, try mentions(user, in: conversation, seqs) > 0 {
        var count = try connection.prepare(
          "UPDATE participant SET mention_count = mention_count - 1 WHERE conversation = ? AND user = ?")
        count.bind(conversation)
        count.bind(user)
        try count.run()
      }
      var delete = try connection.prepare("DELETE FROM mention WHERE conversation = ? AND user = ? AND seq = ?")
      delete.bind(conversation)
      delete.bind(user)
      delete.bind(message.place.seq)
      try delete.run()
    }
    let names = try users.map { try handle($0).description }.joined(separator: " ")
    var update = try connection.prepare("UPDATE message SET mentions = nullif(?, '') WHERE id = ?")
    update.bind(names)
    update.bind(message.key)
    try update.run()
  }
}
