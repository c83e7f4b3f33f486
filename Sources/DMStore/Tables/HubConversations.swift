package import DMModel

// Reads: hub_conversation.
// Writes: hub_conversation.

/// For each conversation of the hub, how far this store has pulled the conversation's log.
package struct HubConversations {
  let store: Store

  package struct Row: Equatable {
    package let conversation: ConversationKey
    /// The rev of the last entry that this store has pulled: its position in the log.
    package var rev: Int64
    /// The mark of that entry, which is a random id; nil if no entry was pulled.
    package var mark: Identifier?
    /// The revs of the entries that the person sees.
    package var sees: VisibleRevs
    /// The rev up to which entries are history, which followers do not report.
    package var historyUpTo: Int64
    /// The highest rev that the hub has reported so far.
    package var namedRev: Int64
    /// The code of the reason for which the log is no longer pulled; nil while it is pulled.
    package var fault: String?

    /// Whether the store has all entries that the person sees, up to the highest rev that the hub has reported.
    package var isWhole: Bool { sees.next(after: rev).map { $0 > namedRev } ?? true }

    package init(
      conversation: ConversationKey, rev: Int64 = 0, mark: Identifier? = nil, sees: VisibleRevs, historyUpTo: Int64,
      namedRev: Int64 = 0, fault: String? = nil
    ) {
      self.conversation = conversation
      self.rev = rev
      self.mark = mark
      self.sees = sees
      self.historyUpTo = historyUpTo
      self.namedRev = namedRev
      self.fault = fault
    }
  }

  private enum Column: Int32, QueryColumn { case conversation, rev, mark, sees, newsAfter, known, fault }

  private static let columns = "conversation, rev, mark, sees, news_after, known, fault"

  package func row(_ conversation: ConversationKey) throws -> Row? {
    try rows("WHERE conversation = ?") { $0.bind(conversation) }.first
  }

  package func all() throws -> [Row] { try rows("") { _ in } }

  private func rows(_ condition: String, _ bind: (inout Statement) -> Void) throws -> [Row] {
    var statement = try store.connection.prepare(text: "SELECT \(Self.columns) FROM hub_conversation \(condition)")
    bind(&statement)
    assert(statement.has(Column.self))
    var rows: [Row] = []
    while try statement.step() {
      rows.append(
        Row(
          conversation: statement.conversationKey(Column.conversation), rev: statement.int64(Column.rev),
          mark: statement.optionalIdentifier(Column.mark.rawValue),
          sees: VisibleRevs(statement.text(Column.sees)) ?? VisibleRevs(),
          historyUpTo: statement.int64(Column.newsAfter), namedRev: statement.int64(Column.known),
          fault: statement.optionalText(Column.fault)))
    }
    return rows
  }

  /// Deletes the row of a conversation that the hub no longer has.
  package func delete(_ conversation: ConversationKey) throws {
    var delete = try store.connection.prepare("DELETE FROM hub_conversation WHERE conversation = ?")
    delete.bind(conversation)
    try delete.run()
  }

  /// Inserts or replaces a row.
  package func write(_ row: Row) throws {
    var insert = try store.connection.prepare(
      """
      INSERT INTO hub_conversation (conversation, rev, mark, sees, news_after, known, fault) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (conversation) DO UPDATE SET rev = excluded.rev, mark = excluded.mark, sees = excluded.sees,
        news_after = excluded.news_after, known = excluded.known, fault = excluded.fault
      """)
    insert.bind(row.conversation)
    insert.bind(row.rev)
    insert.bind(row.mark)
    insert.bind(row.sees.description)
    insert.bind(row.historyUpTo)
    insert.bind(row.namedRev)
    insert.bind(row.fault)
    try insert.run()
  }
}
