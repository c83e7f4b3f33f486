package import DMModel

// Reads: hub, hub_conversation, hub_own_state, participant.
// Writes: hub, hub_own_state.

/// What the user alone decides about each conversation, as the hub has it for the user's other machines.
package struct HubOwnStates {
  let store: Store

  package struct Row: Equatable {
    /// Nil for what is not about one conversation.
    package let conversation: ConversationKey?
    /// 0 before the first exchange.
    package var rev: Int64
    package var mark: Identifier?
    /// The bytes that the hub has.
    package var state: [UInt8]?
    /// Whether something was changed in this store since the last exchange.
    package var isChanged: Bool

    package init(
      conversation: ConversationKey?, rev: Int64 = 0, mark: Identifier? = nil, state: [UInt8]? = nil,
      isChanged: Bool = false
    ) {
      self.conversation = conversation
      self.rev = rev
      self.mark = mark
      self.state = state
      self.isChanged = isChanged
    }
  }

  private enum Column: Int32, QueryColumn { case conversation, rev, mark, state, isChanged }

  private static let columns = "conversation, rev, mark, state, is_changed"

  package func row(_ conversation: ConversationKey?) throws -> Row? {
    try rows("WHERE coalesce(conversation, 0) = coalesce(?, 0)") { $0.bind(conversation) }.first
  }

  package func all() throws -> [Row] { try rows("") { _ in } }

  /// The states that were changed in this store, of conversations whose logs this store has to their ends.
  package func changed(limit: Int) throws -> [Row] {
    try rows(
      """
      WHERE is_changed AND (conversation IS NULL
        OR EXISTS (SELECT 1 FROM hub_conversation h WHERE h.conversation = hub_own_state.conversation AND h.rev >= h.known AND h.fault IS NULL))
      LIMIT ?
      """
    ) { $0.bind(limit) }
  }

  private func rows(_ condition: String, _ bind: (inout Statement) -> Void) throws -> [Row] {
    var statement = try store.connection.prepare(text: "SELECT \(Self.columns) FROM hub_own_state \(condition)")
    bind(&statement)
    assert(statement.has(Column.self))
    var rows: [Row] = []
    while try statement.step() {
      rows.append(
        Row(
          conversation: statement.isNull(Column.conversation) ? nil : statement.conversationKey(Column.conversation),
          rev: statement.int64(Column.rev), mark: statement.optionalIdentifier(Column.mark.rawValue),
          state: statement.withBytes(Column.state) { $0.map(Array.init) }, isChanged: statement.bool(Column.isChanged)))
    }
    return rows
  }

  /// Inserts or replaces a row.
  package func write(_ row: Row) throws {
    var insert = try store.connection.prepare(
      """
      INSERT INTO hub_own_state (conversation, rev, mark, state, is_changed) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (coalesce(conversation, 0)) DO UPDATE SET rev = excluded.rev, mark = excluded.mark,
        state = excluded.state, is_changed = excluded.is_changed
      """)
    insert.bind(row.conversation)
    insert.bind(row.rev)
    insert.bind(row.mark)
    insert.bind(row.state)
    insert.bind(row.isChanged)
    try insert.run()
  }

  /// The rev up to which this store has the states.
  package func rev() throws -> Int64 {
    var statement = try store.connection.prepare("SELECT own_rev FROM hub")
    return try statement.step() ? statement.int64(0) : 0
  }

  package func set(rev: Int64) throws {
    var update = try store.connection.prepare("UPDATE hub SET own_rev = ?")
    update.bind(rev)
    try update.run()
  }

  /// Whether all states must be read again, because the hub was restored to an earlier state.
  package func mustReread() throws -> Bool {
    var statement = try store.connection.prepare(
      "SELECT 1 FROM hub WHERE own_rev = 0 AND EXISTS (SELECT 1 FROM hub_own_state WHERE mark NOT NULL)")
    return try statement.step()
  }

  // MARK: Changes in this store

  /// Notes that the store's user has changed something; does nothing for other users, and in a store that is not linked.
  ///
  /// - Parameter conversation: nil for what is not about one conversation.
  package func note(_ conversation: ConversationKey?, by user: UserKey) throws {
    guard store.isLinked else { return }
    var insert = try store.connection.prepare(
      """
      INSERT INTO hub_own_state (conversation, is_changed) SELECT ?1, 1 FROM hub WHERE user = ?2
      ON CONFLICT (coalesce(conversation, 0)) DO UPDATE SET is_changed = 1
      """)
    insert.bind(conversation)
    insert.bind(user)
    try insert.run()
    store.hasOwnChanges = store.hasOwnChanges || store.connection.changes > 0
  }

  /// Notes that new messages take conversations out of the user's archive, or list them again; called before they do.
  func noteBringingBack(_ conversations: [ConversationKey], mutedAt now: Timestamp) throws {
    guard store.isLinked else { return }
    var update = try store.connection.prepare(
      """
      UPDATE hub_own_state SET is_changed = 1 WHERE conversation IN (SELECT value FROM json_each(?1))
      AND EXISTS (SELECT 1 FROM hub h JOIN participant p ON p.user = h.user
        WHERE p.conversation = hub_own_state.conversation AND p.left_seq IS NULL
        AND (p.is_archived AND coalesce(p.muted_until, 0) <= ?2 OR p.is_deleted))
      """)
    update.bind(jsonArray(conversations))
    update.bind(now)
    try update.run()
  }
}
