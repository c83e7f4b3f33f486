package import DMModel

// Reads: block, hidden_range, message, participant.

extension Messages {
  private static let withText = """
    SELECT conversation, seq, sender, deleted_at IS NOT NULL, expires_at, id, text FROM message
    """

  /// Passes to `body` the messages with a text that the user sees, in the order of their keys, until `body` returns
  /// false.
  package func texts(
    after key: MessageKey, as viewer: Viewer, _ body: (MessageKey, String) throws -> Bool
  ) throws {
    var statement = try store.connection.prepare(
      as: "texts after", "\(Self.withText) WHERE id > ? AND text IS NOT NULL AND system_kind IS NULL ORDER BY id")
    statement.bind(key)
    while try statement.step() {
      guard try sees(statement, as: viewer) else { continue }
      if try !body(statement.messageKey(5), statement.text(6)) { return }
    }
  }

  /// The text of a message; nil if it has none, or if the user does not see it.
  package func text(of key: MessageKey, as viewer: Viewer) throws -> String? {
    var statement = try store.connection.prepare(
      as: "text of", "\(Self.withText) WHERE id = ? AND text IS NOT NULL AND system_kind IS NULL")
    statement.bind(key)
    return try statement.step() && sees(statement, as: viewer) ? statement.text(6) : nil
  }

  /// The keys of the messages that pass a filter and that the user sees; nil for all messages.
  package func keys(passing filter: SearchFilter, as viewer: Viewer) throws -> KeySet? {
    if filter.hasOnlyConversations { return try filter.conversations.map(messageKeys) }
    var keys = KeySet(upTo: try lastMessageKey())
    try newest(filter, as: viewer) { key in
      keys.insert(key)
      return true
    }
    return keys
  }

  /// A number that changes when messages become visible to the user that were not: when the user joins or leaves a
  /// conversation, gets its history, or blocks and unblocks somebody.
  package func visibility(of user: UserKey) throws -> UInt64 {
    // FNV-1a (www.isthe.com/chongo/tech/comp/fnv).
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    let queries: [(String, Int32)] = [
      ("SELECT conversation, left_seq FROM participant WHERE user = ? ORDER BY conversation", 2),
      (
        """
        SELECT h.conversation, h.from_seq, h.to_seq FROM participant p CROSS JOIN hidden_range h
        ON h.conversation = p.conversation AND h.user = p.user AND NOT h.is_deleted
        WHERE p.user = ? ORDER BY h.conversation, h.from_seq
        """, 3
      ),
      ("SELECT blocked FROM block WHERE user = ? ORDER BY blocked", 1),
    ]
    for (query, columns) in queries {
      var statement = try store.connection.prepare(text: query)
      statement.bind(user)
      while try statement.step() {
        for column in 0..<columns {
          hash = (hash ^ UInt64(bitPattern: statement.isNull(column) ? -1 : statement.int64(column))) &* 0x100_0000_01B3
        }
      }
      hash = (hash ^ 1) &* 0x100_0000_01B3
    }
    return hash
  }
}
