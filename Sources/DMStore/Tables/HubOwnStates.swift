package import DMModel

// Reads: hub, hub_conversation, hub_own_state.
// Writes: hub, hub_own_state.

/// The user's own states as the hub has them, and whether this store must push new states.
///
/// An own state is what the user alone decides about a conversation, such as a pin or a draft.
package struct HubOwnStates {
  let store: Store

  package struct Row: Equatable {
    /// The conversation; nil for the state that does not belong to a conversation, such as blocks.
    package let conversation: ConversationKey?
    /// The rev of the state on the hub; 0 before the first exchange.
    package var rev: Int64
    package var mark: Identifier?
    /// The state that the hub has, as bytes; nil before the first exchange.
    package var state: [UInt8]?
    /// The states that this store has pushed since the last exchange.
    ///
    /// One of these states may now be the state on the hub.
    package var given: [[UInt8]]
    /// Whether this store has changed the state since the last exchange.
    package var isChanged: Bool

    /// Whether the hub was restored after the last exchange of this state.
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

  /// The separator between stored states.
  ///
  /// A state contains no line feed.
  private static let lineFeed = UInt8(ascii: "\n")

  private static let columns = "conversation, rev, mark, state, given, is_changed"

  package func row(_ conversation: ConversationKey?) throws -> Row? {
    try rows("WHERE coalesce(conversation, 0) = coalesce(?, 0)") { $0.bind(conversation) }.first
  }

  package func all() throws -> [Row] { try rows("") { _ in } }

  /// The states that this store has changed.
  ///
  /// Leaves out conversations whose logs this store has not pulled to the end.
  ///
  /// - Parameter beginning: the first bytes of each state that this version of dm can read. Other states are left out.
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

  /// The rev up to which this store has pulled the states.
  package func rev() throws -> Int64 {
    var statement = try store.connection.prepare("SELECT own_rev FROM hub")
    return try statement.step() ? statement.int64(0) : 0
  }

  package func set(rev: Int64) throws {
    var update = try store.connection.prepare("UPDATE hub SET own_rev = ?")
    update.bind(rev)
    try update.run()
  }

  /// Records that the hub was restored: the revs that this store has stored no longer identify states on the hub.
  package func noteRestore() throws {
    try set(rev: 0)
    try store.connection.execute("UPDATE hub_own_state SET rev = \(Int64.max) WHERE mark NOT NULL")
  }

  /// Whether all states must be pulled again, for example because the hub was restored.
  package func mustReread() throws -> Bool {
    var statement = try store.connection.prepare(
      "SELECT 1 FROM hub WHERE own_rev = 0 AND EXISTS (SELECT 1 FROM hub_own_state WHERE mark NOT NULL)")
    return try statement.step()
  }

  // MARK: Changes in this store

  /// Records that the store's user has changed their own state.
  ///
  /// Does nothing for other users, or if the store is not linked.
  ///
  /// - Parameter conversation: nil for the state that does not belong to a conversation, such as blocks.
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
