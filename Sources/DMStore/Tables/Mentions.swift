package import DMModel

// Reads: block, mention, message.
// Writes: mention, message, participant.

/// The mentions of users in messages.
package struct Mentions {
  let store: Store

  func insert(of user: UserKey, in conversation: ConversationKey, _ seq: Int) throws {
    var insert = try store.connection.prepare(
      "INSERT INTO mention (conversation, user, seq) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
    insert.bind(conversation)
    insert.bind(user)
    insert.bind(seq)
    try insert.run()
  }

  /// Counts a new mention of a user, unless the sender is the user themselves or a user that they block.
  func countNew(of user: UserKey, by sender: UserKey, in conversation: ConversationKey) throws {
    if user == sender { return }
    var update = try store.connection.prepare(
      """
      UPDATE participant SET mention_count = mention_count + 1 WHERE conversation = ?1 AND user = ?2
      AND NOT EXISTS (SELECT 1 FROM block WHERE user = ?2 AND blocked = ?3)
      """)
    update.bind(conversation)
    update.bind(user)
    update.bind(sender)
    try update.run()
  }

  /// The number of messages in a range that mention a user.
  ///
  /// Messages from users that this user blocks are not counted.
  package func count(_ user: UserKey, in conversation: ConversationKey, _ range: SeqRange) throws -> Int {
    var statement = try store.connection.prepare(
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

  /// Finds the messages of a range that mention a user.
  static let seqsOfMentions: StaticString = """
    SELECT seq, seq FROM mention WHERE conversation = ?1 AND user = ?2 AND seq BETWEEN ?3 AND ?4 ORDER BY seq
    """

  /// The messages of a range that mention a user, also those that the user does not see.
  package func seqs(of user: UserKey, _ range: SeqRange, in conversation: ConversationKey) throws -> [SeqRange] {
    var statement = try store.connection.prepare(Self.seqsOfMentions)
    return try store.readState.ranges(&statement, user, conversation, range)
  }

  /// Removes the mentions of one user from the messages of a range.
  package func remove(_ user: UserKey, in conversation: ConversationKey, _ range: SeqRange) throws {
    var statement = try store.connection.prepare(
      "SELECT seq FROM mention WHERE conversation = ? AND user = ? AND seq BETWEEN ? AND ?")
    statement.bind(conversation)
    statement.bind(user)
    statement.bind(range.lowerBound)
    statement.bind(range.upperBound)
    var seqs: [Int] = []
    while try statement.step() { seqs.append(statement.int(0)) }
    for seq in seqs {
      guard let message = try store.messages.row(at: Messages.Address(conversation: conversation, seq: seq)) else {
        continue
      }
      try set(try message.mentions.compactMap(store.users.key).filter { $0 != user }, of: message)
      try store.writeDigest(of: message.key, in: .message)
    }
  }

  /// Replaces the users that a message mentions.
  ///
  /// Updates the count of mentions for each of the users who has not read the message.
  func set(_ users: [UserKey], of message: Messages.Row) throws {
    let seqs = message.address.seq...message.address.seq
    let conversation = message.address.conversation
    let before = try message.mentions.compactMap(store.users.key)
    for user in Set(before).union(users).sorted() {
      if before.contains(user) == users.contains(user) { continue }
      let isUnread = try store.readState.readRanges(of: user, in: conversation, overlapping: seqs).isEmpty
      if users.contains(user) {
        try insert(of: user, in: conversation, message.address.seq)
        if isUnread { try countNew(of: user, by: message.sender, in: conversation) }
        continue
      }
      if isUnread, try count(user, in: conversation, seqs) > 0 {
        var count = try store.connection.prepare(
          "UPDATE participant SET mention_count = mention_count - 1 WHERE conversation = ? AND user = ?")
        count.bind(conversation)
        count.bind(user)
        try count.run()
      }
      var delete = try store.connection.prepare("DELETE FROM mention WHERE conversation = ? AND user = ? AND seq = ?")
      delete.bind(conversation)
      delete.bind(user)
      delete.bind(message.address.seq)
      try delete.run()
    }
    let names = try users.map { try store.users.handle($0).description }.joined(separator: " ")
    var update = try store.connection.prepare("UPDATE message SET mentions = nullif(?, '') WHERE id = ?")
    update.bind(names)
    update.bind(message.key)
    try update.run()
  }
}
