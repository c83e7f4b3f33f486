public import DMModel
internal import DMStore
internal import DMSystem

/// A line that a consumer's program writes.
///
/// The line has a message to send, an acknowledgement of an event, marks for an existing message, or several of these.
public struct ConsumerLine: Sendable {
  /// The message to send; nil if there is none.
  ///
  /// An error if the message in the line can never be sent.
  package let outgoing: Result<Outgoing, DMError>?
  /// The cursor up to which the program has processed all events; nil to acknowledge nothing.
  package let acknowledges: Cursor?
  /// The actions on an existing message; nil if there are none.
  package let marks: Marks?

  /// Actions on an existing message.
  public struct Marks: Sendable {
    /// The message, which the user must be able to see.
    package let message: MessageReference
    /// The user's reaction to the message; nil to leave the reaction unchanged.
    package let emoji: String?
    /// Whether to mark the message as read.
    package let isRead: Bool

    /// Makes actions on a message that the user sees.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - emoji: the user's reaction to the message; nil to leave the reaction unchanged.
    ///   - isRead: whether to mark the message as read.
    /// - Throws: `bad_field` if `emoji` is not exactly one emoji.
    public init(_ message: MessageReference, emoji: String? = nil, isRead: Bool = false) throws(DMError) {
      if let emoji { try Edit.check(emoji: emoji) }
      self.message = message
      self.emoji = emoji
      self.isRead = isRead
    }
  }

  /// Makes a line.
  ///
  /// - Parameters:
  ///   - outgoing: the message to send; nil if there is none. An error if the message can never be sent.
  ///   - acknowledges: the cursor up to which the program has processed all events; nil to acknowledge nothing.
  ///   - marks: the actions on an existing message; nil if there are none.
  public init(_ outgoing: Result<Outgoing, DMError>?, acknowledges: Cursor?, marks: Marks? = nil) {
    self.outgoing = outgoing
    self.acknowledges = acknowledges
    self.marks = marks
  }
}

extension Messenger {
  /// The result of a line of a consumer's program.
  public enum ConsumerAnswer: Sendable {
    /// The message of the line, which was sent by this line or earlier with the same nonce.
    case message(Message)
    /// The new position of the consumer, for a line without a message.
    case acknowledged(Acknowledgement)
  }

  /// Sends the messages of lines, and moves the consumer to the acknowledged cursors, in one transaction.
  ///
  /// If the acknowledged cursor of a line is not after the position of the consumer, the line is from an older process.
  /// Nothing is written for such a line; its result is the message that was sent earlier with the same nonce, or the
  /// position. The first line that fails ends the call: its error is the last result, and the lines after it are not
  /// processed.
  ///
  /// - Parameters:
  ///   - lines: the lines, in order.
  ///   - consumer: the name of the consumer.
  ///   - skipsFailed: whether to continue after a line that can never succeed. Such lines are counted and acknowledged.
  /// - Returns: the results of the lines, in order.
  /// - Throws: `unknown_consumer`, or an error of the store. In both cases nothing was written.
  public func send(
    _ lines: [ConsumerLine], as consumer: String, skipsFailed: Bool = false
  ) throws -> [Result<ConsumerAnswer, DMError>] {
    try expectStore(with: consumer)
    return try reporting(.sent, UsageAct.Extent.init(answers:)) {
      try perform(lines) { try ConsumerBatch($0, consumer, skipsFailed: skipsFailed) }
    }
  }

  /// Moves a consumer forward to a cursor.
  ///
  /// If the cursor is not after the position of the consumer, nothing changes.
  ///
  /// - Returns: the position of the consumer after the call.
  /// - Throws: `unknown_consumer`, `bad_cursor`.
  public func acknowledge(_ cursor: Cursor, for consumer: String) throws -> Acknowledgement {
    try expectStore(with: consumer)
    return try writing { session in
      let move = try ConsumerMove(consumer, session)
      if let position = try move.newPosition(of: cursor) { move.row.position = position }
      try move.finish()
      return move.acknowledgement
    }
  }

  /// The user's consumers, sorted by name.
  ///
  /// Linear in the number of changes that they have not acknowledged.
  package func consumers() throws -> [Consumer] {
    try reading([]) { session in try session.store.consumers.all(of: session.me).map(session.seen) }
  }

  /// Deletes a consumer, and returns its last state.
  ///
  /// - Throws: `unknown_consumer`; `busy` while a process reads the events of the consumer.
  package func forgetConsumer(_ name: String) throws -> Consumer {
    try expectStore(with: name)
    return try writing { session in
      let row = try session.consumer(name)
      let lease = try lease(of: row)
      let seen = try session.seen(row)
      try session.store.consumers.delete(row.key)
      _ = consume lease
      return seen
    }
  }

  fileprivate func unknownConsumer(_ name: String) -> DMError {
    DMError(
      .unknownConsumer, "'\(identity.handle)' has no consumer '\(name)'", subject: name, remedy: .makeConsumer)
  }

  /// Refuses to act if the store does not exist, so that a mistake does not create a store.
  private func expectStore(with consumer: String) throws {
    if try !hasStore() { throw unknownConsumer(consumer) }
  }

  /// Acquires the lease of a consumer: the exclusive right to stream its events.
  ///
  /// - Throws: `busy` if another process has the lease.
  func lease(of row: Consumers.Row) throws -> FileLock {
    try FileLock(
      path: "\(location.directory)/consumer.\(row.key).lock", milliseconds: 0,
      busy: DMError(
        .busy, "another process reads the events of the consumer '\(row.name)'; end that one first",
        remedy: .endOtherStream(row.name)))
  }

}

extension Session {
  /// The user's consumer with this name.
  ///
  /// - Throws: `unknown_consumer`.
  func consumer(_ name: String) throws -> Consumers.Row {
    if let row = try store.consumers.all(of: me, named: name).first { return row }
    throw messenger.unknownConsumer(name)
  }

  fileprivate func seen(_ row: Consumers.Row) throws -> Consumer {
    let behind = try store.consumers.messagesOfOthers(
      after: row.position.rev, conversations: row.conversations, as: viewer)
    return Consumer(
      name: row.name, cursor: Cursor(store: try store.uuid(), row.position),
      behindCount: behind.reduce(0) { $0 + $1.count },
      skippedCount: row.skippedCount, usedAt: row.usedAt)
  }
}

/// The movement of a consumer to new positions, in one transaction.
private final class ConsumerMove {
  var row: Consumers.Row
  private let before: Consumers.Row
  private let session: Session
  private let uuid: Identifier

  init(_ name: String, _ session: Session) throws {
    row = try session.consumer(name)
    before = row
    uuid = try session.store.uuid()
    self.session = session
  }

  var acknowledgement: Acknowledgement {
    Acknowledgement(consumer: row.name, cursor: Cursor(store: uuid, row.position))
  }

  var hasSkipped: Bool { row.skippedCount > before.skippedCount }

  /// The position of a cursor; nil if the cursor is not after the position of the consumer.
  ///
  /// - Throws: `bad_cursor` for a cursor of another store, or for a position after the end of the change log.
  func newPosition(of cursor: Cursor) throws -> Cursor.Position? {
    let position = try session.store.position(of: cursor)
    return position > row.position ? position : nil
  }

  /// Writes the position.
  ///
  /// Also marks the acknowledged messages as delivered, if the consumer is set to do so.
  func finish() throws {
    guard row.position > before.position || hasSkipped else { return }
    let (store, me, now) = (session.store, session.me, Timestamp.now)
    try store.consumers.move(row, now: now)
    guard row.marksDelivered, row.position.rev > before.position.rev else { return }
    let delivered = try store.consumers.messagesOfOthers(
      after: before.position.rev, upTo: row.position.rev, conversations: row.conversations,
      as: Viewer(store, me, extras: .tombstones))
    for (conversation, _, last) in delivered {
      _ = try session.markDelivered(last, in: conversation, at: now)
    }
  }
}

/// The lines of a consumer's program, in one transaction.
private final class ConsumerBatch: Batch {
  private let session: Session
  private let move: ConsumerMove
  private let sending: SendBatch
  private let skipsFailed: Bool

  init(_ session: Session, _ consumer: String, skipsFailed: Bool) throws {
    self.session = session
    self.skipsFailed = skipsFailed
    move = try ConsumerMove(consumer, session)
    sending = SendBatch(session, allowsOtherText: true)
  }

  var stopsAtFault: Bool { !skipsFailed }
  var mustCommit: Bool { move.hasSkipped }

  func act(on line: ConsumerLine) throws -> Messenger.ConsumerAnswer {
    let position = try line.acknowledges.map(move.newPosition(of:))
    if case .some(nil) = position { return try stale(line) }
    let marked = try line.marks.map(session.check)
    let answer: Messenger.ConsumerAnswer? =
      if let outgoing = line.outgoing { .message(try sending.act(on: outgoing.get())) } else { nil }
    if let marks = line.marks, let marked { try session.apply(marks, to: marked.message, in: marked.row) }
    if let position = position ?? nil { move.row.position = position }
    return answer ?? .acknowledged(move.acknowledgement)
  }

  func passOver(_ line: ConsumerLine, _ error: DMError) throws {
    guard skipsFailed else { return }
    // An unfinished line, whose process was killed, does not count as skipped: the program sends the whole line again.
    if error.code != .unfinishedLine { move.row.skippedCount += 1 }
    if error.code != .badCursor, let cursor = line.acknowledges, let position = try move.newPosition(of: cursor) {
      move.row.position = position
    }
  }

  /// The answer to a line from an older process: the message that was sent with the nonce of the line, or the position.
  private func stale(_ line: ConsumerLine) throws -> Messenger.ConsumerAnswer {
    do {
      if let outgoing = line.outgoing, let message = try sending.sentBefore(outgoing.get()) { return .message(message) }
    } catch let error as DMError where !error.code.isFatal {}
    return .acknowledged(move.acknowledgement)
  }

  func finish() throws {
    try sending.finish()
    try move.finish()
  }

  func committed() { sending.committed() }
}
