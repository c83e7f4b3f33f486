package import DMModel

// Reads: history.
// Writes: history.

extension Conversations {
  /// The messages that imports added to a conversation.
  package struct History {
    package var count = 0
    /// The number of the last imported message.
    package var lastSeq = 0

    package init(count: Int = 0, lastSeq: Int = 0) {
      self.count = count
      self.lastSeq = lastSeq
    }
  }

  package func history(of conversation: ConversationKey) throws -> History {
    var statement = try store.connection.prepare("SELECT message_count, last_seq FROM history WHERE conversation = ?")
    statement.bind(conversation)
    return try statement.step() ? History(count: statement.int(0), lastSeq: statement.int(1)) : History()
  }

  package func set(_ history: History, of conversation: ConversationKey) throws {
    var statement = try store.connection.prepare(
      "INSERT OR REPLACE INTO history (conversation, message_count, last_seq) VALUES (?, ?, ?)")
    statement.bind(conversation)
    statement.bind(history.count)
    statement.bind(history.lastSeq)
    try statement.run()
  }
}
