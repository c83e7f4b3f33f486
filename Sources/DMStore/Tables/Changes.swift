package import DMModel
internal import DMSystem

// Reads: change, consumer, message, participant.
// Writes: change.

/// The change log, which followers read.
package struct Changes {
  let store: Store

  /// The kind of a change.
  ///
  /// The number of a kind is stored, and is never used for another kind.
  package enum Kind: Int64, CaseIterable {
    case message = 1
    /// A read receipt, which other users may see.
    case readReceipt = 2
    case deliveryReceipt = 3
    case conversation = 4
    case user = 5
    /// The state of a conversation for one user: which messages are read, the draft, and whether the conversation is
    /// pinned, muted, archived or listed.
    case ownState = 6
    /// A change of the status of messages, caused by a receipt of the user.
    case status = 7
    case edited = 8
    case deleted = 9
    /// A message that the user has deleted only for themselves.
    case deletedForMe = 10
    case reaction = 11
    /// A message of the user that waits for the hub. Both ends of `seqs` are the message's number in the outbox.
    case waiting = 12
    case waitingChanged = 13
    case waitingDeleted = 14
    /// A message of the user that waited for the hub, and has now got its number.
    case ordered = 15
    /// A message that was pinned or unpinned.
    case pinned = 16
  }

  package func append(
    _ change: Kind, conversation: ConversationKey? = nil, user: UserKey? = nil, seqs: SeqRange? = nil,
    sender: UserKey? = nil,
    at time: Timestamp
  ) throws {
    guard store.logsChanges else { return }
    var insert = try DigestedInsert(into: .change, as: "insert change", store.connection)
    insert.add(time.microseconds)
    insert.add(change.rawValue)
    insert.add(conversation?.number)
    insert.add(user?.number)
    insert.add(seqs.map { Int64($0.lowerBound) })
    insert.add(seqs.map { Int64($0.upperBound) })
    insert.add(sender?.number)
    var statement = insert.digested()
    try statement.run()
    let rev = Rev(number: store.connection.lastInsertedRow)
    store.logged = (store.logged?.lowerBound ?? rev)...rev
  }

  package func append(_ changes: [StatusChange], by user: UserKey, conversation: ConversationKey, at time: Timestamp)
    throws
  {
    for change in changes {
      try append(
        .status, conversation: conversation, user: user, seqs: change.range, sender: change.senders.only, at: time)
    }
  }

  /// The range from the first change in the log to the last; nil if the log is empty.
  package func range() throws -> ClosedRange<Rev>? {
    var statement = try store.connection.prepare("SELECT min(rev), (SELECT max(rev) FROM change) FROM change")
    guard try statement.step(), !statement.isNull(0) else { return nil }
    return try statement.revs(0, 1)
  }

  /// Whether the change after `rev` was pruned from the log.
  package static func isForgotten(after rev: Rev, of logged: ClosedRange<Rev>) -> Bool { rev + 1 < logged.lowerBound }

  // MARK: Reading

  package struct Row {
    package let rev: Rev
    package let kind: Kind
    package let conversation: ConversationKey
    package let user: UserKey?
    package let seqs: SeqRange?
    package let sender: UserKey?
    /// For a change of status, the kind of the receipt that caused the change; nil if the receipt was pruned from the
    /// log.
    package let receipt: Kind?
    package let at: Timestamp
    /// The message that changed, as the user sees it now; nil if the user does not see it.
    package let message: Message?
    /// The same message as it is stored, even if the user does not see it.
    package let stored: (key: MessageKey, id: Identifier, sender: UserKey)?
  }

  /// The conditions for the changes that a reader gets.
  package struct Filter {
    package let user: UserKey
    package let kinds: Set<Kind>

    /// The kinds as a bit mask.
    ///
    /// If the kinds were a list, SQLite would build a table of them for each batch.
    var kindMask: Int64 { kinds.reduce(0) { $0 | 1 << $1.rawValue } }

    /// The conversations; nil for all conversations that the user is in.
    package let conversations: [ConversationKey]?
    /// If there is a time, changes in conversations that are muted at this time are left out.
    package var unmutedAt: Timestamp?

    package init(user: UserKey, kinds: Set<Kind>, conversations: [ConversationKey]?, unmutedAt: Timestamp? = nil) {
      self.user = user
      self.kinds = kinds
      self.conversations = conversations
      self.unmutedAt = unmutedAt
    }
  }

  /// The kinds of changes that concern one message, as a bit mask.
  private static let messageKinds = [
    Kind.message, .edited, .deleted, .deletedForMe, .reaction, .ordered, .pinned,
  ].reduce(0 as Int64) { $0 | 1 << $1.rawValue }

  /// The columns that `select` returns; the columns of a message come after them.
  private enum Column: Int32, QueryColumn {
    case rev, kind, conversation, user, fromSeq, toSeq, sender, at, receipt
  }

  /// Passes at most `limit` changes after `rev` to `body`, in order, until `body` returns false.
  ///
  /// The function does not check whether the user is in the conversation of a change. The viewer checks it, and caches
  /// the result for each conversation.
  ///
  /// - Returns: the number of changes that were read.
  /// - Throws: `store_damaged` if the changes are not in ascending order. Otherwise, a reader that continues after the
  ///   last change might never end.
  package func forEach(
    after rev: Rev, _ filter: Filter, limit: Int, as viewer: Viewer, _ body: (Row) throws -> Bool
  ) throws -> Int {
    var statement = try select(after: rev, filter, limit: limit)
    var (count, last) = (0, rev)
    while try statement.step() {
      count += 1
      let next = statement.rev(Column.rev)
      guard next > last else {
        throw DMError(.storeDamaged, "the store is damaged: its changes are out of order", remedy: .check)
      }
      last = next
      // A later version of dm may have logged a change of a kind that this version does not have. The change is
      // skipped.
      guard let kind = Kind(rawValue: statement.int64(Column.kind)) else { continue }
      if try !body(row(statement, kind, as: viewer)) { break }
    }
    return count
  }

  private func select(after rev: Rev, _ filter: Filter, limit: Int) throws -> Statement {
    var statement = try store.connection.prepare(
      as: "changes",
      """
      SELECT ch.rev, ch.kind, ch.conversation, ch.user, ch.from_seq, ch.to_seq, ch.sender, ch.at,
        iif(ch.kind = \(Kind.status.rawValue), (SELECT r.kind FROM change r
          WHERE r.rev < ch.rev AND r.kind IN (\(Kind.readReceipt.rawValue), \(Kind.deliveryReceipt.rawValue)) ORDER BY r.rev DESC LIMIT 1), NULL) AS receipt,
        \(Messages.columns)
      FROM change ch LEFT JOIN message m ON 1 << ch.kind & \(Self.messageKinds) AND m.conversation = ch.conversation AND m.seq = ch.from_seq
      WHERE ch.rev > ?2 AND 1 << ch.kind & ?4
      AND (?5 IS NULL OR ch.conversation IN (SELECT value FROM json_each(?5)))
      AND (?6 IS NULL OR NOT EXISTS (SELECT 1 FROM participant p WHERE p.conversation = ch.conversation AND p.user = ?1
        AND p.muted_until > ?6))
      ORDER BY ch.rev LIMIT ?3
      """)
    statement.bind(filter.user)
    statement.bind(rev)
    statement.bind(limit)
    statement.bind(filter.kindMask)
    statement.bind(filter.conversations.map(jsonArray))
    statement.bind(filter.unmutedAt?.microseconds)
    return statement
  }

  private func row(_ statement: borrowing Statement, _ kind: Kind, as viewer: Viewer) throws -> Row {
    assert(statement.has(Column.self))
    let message = Messages.Columns(first: Column.count)
    let hasMessage = !statement.isNull(message(.id))
    return Row(
      rev: statement.rev(Column.rev), kind: kind, conversation: statement.conversationKey(Column.conversation),
      user: statement.optionalUserKey(Column.user),
      seqs: statement.isNull(Column.fromSeq) && statement.isNull(Column.toSeq)
        ? nil : try statement.seqs(Column.fromSeq, Column.toSeq),
      sender: statement.optionalUserKey(Column.sender),
      receipt: statement.optionalInt64(Column.receipt).flatMap(Kind.init(rawValue:)),
      at: statement.timestamp(Column.at),
      message: hasMessage ? try store.messages.message(statement, from: Column.count, as: viewer) : nil,
      stored: hasMessage
        ? (statement.messageKey(message(.key)), statement.identifier(message(.id)), statement.userKey(message(.sender)))
        : nil)
  }

  // MARK: Pruning

  /// The time for which the log keeps a change: 30 days, in microseconds.
  package static let changeLifetime: Int64 = 30 * 86_400_000_000

  /// The time for which the log keeps changes for a consumer after its last use: 90 days, in microseconds.
  static let consumerLifetime: Int64 = 90 * 86_400_000_000

  /// The number of logged changes after which the log is pruned again.
  ///
  /// At most five times this number of changes are deleted at once, so that a write stays short.
  static let pruneInterval: Int64 = 1000

  /// Prunes the log after every thousandth change.
  ///
  /// The age of changes is computed from the clock or from the time of the change that was logged a thousand changes
  /// before, whichever is earlier. If the clock is wrong for a while, changes that readers still need are therefore not
  /// deleted.
  package func prune(after logged: ClosedRange<Rev>) throws {
    guard logged.upperBound.number / Self.pruneInterval > (logged.lowerBound.number - 1) / Self.pruneInterval else {
      return
    }
    var statement = try store.connection.prepare("SELECT at FROM change WHERE rev = ?")
    statement.bind(logged.upperBound - Self.pruneInterval)
    guard try statement.step() else { return }
    try prune(now: min(.now, statement.timestamp(0)))
  }

  /// Deletes the oldest changes.
  ///
  /// Keeps the changes of the last 30 days and the last change. If a consumer was used in the last 90 days, also keeps
  /// the changes that it has not acknowledged.
  package func prune(now: Timestamp) throws {
    guard let logged = try range() else { return }
    var oldest = try store.connection.prepare(
      """
      SELECT min(?1, ?2, coalesce((SELECT rev FROM change WHERE at >= ?3 AND rev <= ?2 ORDER BY rev LIMIT 1), ?2),
        coalesce((SELECT min(rev) + 1 FROM consumer WHERE used_at >= ?4), ?1))
      """)
    oldest.bind(logged.upperBound)
    oldest.bind(logged.lowerBound + 5 * Self.pruneInterval)
    oldest.bind(now.microseconds - Self.changeLifetime)
    oldest.bind(now.microseconds - Self.consumerLifetime)
    guard try oldest.step(), oldest.rev(0) > logged.lowerBound else { return }
    var delete = try store.connection.prepare("DELETE FROM change WHERE rev < ?")
    delete.bind(oldest.rev(0))
    try delete.run()
  }

  /// For each user, the times at which messages of a range were delivered, as far as the change log still has the
  /// delivery receipts.
  package func deliveries(
    in conversation: ConversationKey, overlapping range: SeqRange
  ) throws -> [UserKey: [(range: SeqRange, at: Timestamp)]] {
    var statement = try store.connection.prepare(
      """
      SELECT user, from_seq, to_seq, at FROM change
      WHERE kind = ? AND conversation = ? AND from_seq <= ? AND to_seq >= ? ORDER BY rev
      """)
    statement.bind(Kind.deliveryReceipt.rawValue)
    statement.bind(conversation)
    statement.bind(range.upperBound)
    statement.bind(range.lowerBound)
    var found: [UserKey: [(range: SeqRange, at: Timestamp)]] = [:]
    while try statement.step() {
      found[statement.userKey(0), default: []].append((try statement.seqs(1, 2), statement.timestamp(3)))
    }
    return found
  }
}
