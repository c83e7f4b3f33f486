package import DMModel

// Reads: message.

extension Messages {
  /// The announcements of a conversation that say who came and who went, the newest first.
  package func comings(in conversation: ConversationKey) throws -> [(seq: Int, handle: Handle, isComing: Bool)] {
    var statement = try store.connection.prepare(
      """
      SELECT seq, subject, system_kind = ?2 FROM message
      WHERE conversation = ?1 AND system_kind IN (?2, ?3) AND subject IS NOT NULL ORDER BY seq DESC
      """)
    statement.bind(conversation)
    statement.bind(Message.SystemKind.userJoined.number)
    statement.bind(Message.SystemKind.userLeft.number)
    var found: [(seq: Int, handle: Handle, isComing: Bool)] = []
    while try statement.step() {
      found.append((statement.int(0), Handle(stored: statement.text(1)), statement.bool(2)))
    }
    return found
  }
}
