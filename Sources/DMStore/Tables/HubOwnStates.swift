package import DMModel

// Reads: hub, hub_conversation, hub_own_state.
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
    /// What was given to the hub since, and may have become what it has.
    package var given: [[UInt8]]
    /// Whether something was changed in this store since the last exchange.
    package var isChanged: Bool

    /// Whether the hub was restored since the last exchange.
    package var isFromBeforeRestore: Bool { rev == Int64.max }

    package init(
      conversation: ConversationKey?, rev: Int64 = 0, mark: Identifier? = nil, state: [UInt8]? = nil,
      given: [[UInt8]] = [], isChanged: Bool = false
    ) {
      self.conversation = conversation
      self.rev = rev
      self.mark = mark
      self.state = state
      self.given = given
      self.isChanged = isChanged
    }
  }

  private enum Column: Int32, QueryColumn { case conversation, rev, mark, state, given, isChanged }

  /// States have none.
  private static let lineFeed = UInt8(ascii: "\n")

  private static let columns = "conversation, rev, mark, state, given, is_changed"

  package func row(_ conversation: ConversationKey?) throws -> Row? {
    try rows("WHERE coalesce(conversation, 0) = coalesce(?, 0)") { $0.bind(conversation) }.first
  }

  package func all() throws -> [Row] { try rows("") { _ in } }

  /// The states that were changed in this store, of conversations whose logs this store has to their ends.
  ///
  /// - Parameter beginning: how a state begins that this version can read; others are left out.
  package func changed(limit: Int, readable beginning: [UInt8]) throws -> [Row] {
    try rows(
      """
      WHERE is_changed AND (state IS NULL OR substr(state, 1, length(?1)) = ?1) AND (conversation IS NULL
        OR EXISTS (SELECT 1 FROM hub_conversation h WHERE h.conversation = hub_own_state.conversation AND h.rev >= h.known AND h.fault IS NULL))
      LIMIT ?2
      """
    ) {
      $0.bind(beginning)
      $0.bind(limit)
    }
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
          state: statement.withBytes(Column.state) { $0.map(Array.init) },
          given: statement.withBytes(Column.given) {
            $0.map { $0.split(separator: Self.lineFeed).map(Array.init) } ?? []
          },
          isChanged: statement.bool(Column.isChanged)))
    }
    return rows
  }

  /// Inserts or replaces a row.
  package func write(_ row: Row) throws {
    var insert = try store.connection.prepare(
      """
      INSERT INTO hub_own_state (conversation, rev, mark, state, given, is_changed) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (coalesce(conversation, 0)) DO UPDATE SET rev = excluded.rev, mark = excluded.mark,
        state = excluded.state, given = excluded.given, is_changed = excluded.is_changed
      """)
    insert.bind(row.conversation)
    insert.bind(row.rev)
    insert.bind(row.mark)
    insert.bind(row.state)
    insert.bind(row.given.isEmpty ? nil : Array(row.given.joined(separator: [Self.lineFeed])))
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

  /// Notes that the hub was restored, so that the revs that this store has seen say nothing about its present states.
  package func noteRestore() throws {
    try set(rev: 0)
    try store.connection.execute("UPDATE hub_own_state SET rev = \(Int64.max) WHERE mark NOT NULL")
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
    if store.connection.changes > 0 { (store.hasOwnChanges, store.rings) = (true, true) }
  }
}
