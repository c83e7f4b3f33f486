public import DMModel
internal import DMStore
internal import DMSystem

/// The messages of a history, read in batches, oldest first.
///
/// Between two batches there is no open transaction.
public final class History {
  private enum Plan {
    /// The ranges of numbers to read, in descending order, because the last element of the array is read first.
    case ranges([SeqRange], conversation: ConversationKey)
    case timeline(Messages.TimelineFilter, from: Messages.TimelinePosition)
  }

  private let messenger: Messenger
  private var plan: Plan?
  private var left: Int?
  /// The first batch of a history with a limit, which is read in the transaction of the plan; nil if it is not read, or was
  /// returned.
  private var firstBatch: [Message]?
  /// The last message that was delivered to the user, if the history is of one conversation.
  private var delivered: (conversation: Identifier, seq: Int)?
  /// The messages that wait for the hub.
  ///
  /// These messages come after the numbered messages.
  private var waiting: [Message] = []
  /// The messages that are to be read next, and that a linked store has not kept.
  private var missing: [HubFloors.Page] = []
  /// The viewer for all batches; nil if there is no store yet.
  ///
  /// The viewer keeps the time of the first batch, so that messages which expire later are still returned.
  private var viewer: Viewer?
  /// The meter for the usage log; nil if this history is not an act.
  var meter: ActMeter?

  /// The cursor from which a stream continues after this history; nil if there is no store yet.
  public private(set) var cursor: Cursor?

  /// The maximum number of messages in a batch: large enough that the cost of the query does not matter, small enough
  /// for the memory.
  static let batch = 500

  /// The maximum number of pages that are fetched for one history with a limit.
  ///
  /// Without this maximum, a history could fetch many pages in which all messages are deleted or hidden.
  private static let mostPages = 20

  init(_ messenger: Messenger, _ query: HistoryQuery) throws {
    self.messenger = messenger
    left = query.limit
    plan = try plan(query)
    for _ in 0..<Self.mostPages where !missing.isEmpty {
      let asked = missing
      guard try fetchMissing() else { break }
      plan = try plan(query)
      if missing == asked { break }
    }
    if !missing.isEmpty { messenger.leftOut += 1 }
    if viewer == nil, !query.allowsMissing, let reference = query.conversations.first {
      throw messenger.nothingYet(reference)
    }
    if viewer == nil, let thread = query.thread { throw messenger.nothingYet(thread) }
  }

  /// Plans what to read for a query, and sets `missing` to the messages that must be fetched first.
  private func plan(_ query: HistoryQuery) throws -> Plan? {
    firstBatch = nil
    return try messenger.reading(nil) { session in
      let store = session.store
      let viewer = Viewer(
        store, session.me, extras: query.includesDeleted ? .tombstones : .nothing,
        includesReaders: query.includesReaders)
      self.viewer = viewer
      if query.mayContinue { cursor = Cursor(store: try store.uuid(), try store.position(of: .now)) }
      var rows = try query.conversations.compactMap { reference in
        try session.findIfPresent(reference) ?? (query.allowsMissing ? nil : session.find(reference))
      }.filter { try !query.unmutedOnly || !store.members.isMuted($0.key, for: session.me, at: viewer.now) }
      var query = query
      var thread: MessageThread?
      if let reference = query.thread, !rows.isEmpty || query.conversations.isEmpty {
        let found = try session.thread(of: reference, in: rows.first, as: viewer)
        rows = [found.row]
        query.conversations = [.id(found.row.id)]
        thread = found
      }
      waiting = try session.waitingMessages(query, query.conversations.isEmpty ? nil : rows.map(\.key), thread)
      query.limit = query.limit.map { $0 - waiting.count }
      left = query.limit
      if query.conversations.count == 1 {
        guard let row = rows.first else { return .ranges([], conversation: ConversationKey(number: 0)) }
        let found = try session.ranges(query, in: row, thread, as: viewer)
        missing = found.missing.map { HubFloors.Page(conversation: row.key, seqs: $0) }
        delivered = try viewer.deliveredSeq(in: row.key).map { (row.id, $0) }
        return try beginning(.ranges(found.ranges.reversed(), conversation: row.key), in: store, as: viewer)
      }
      return try session.timeline(query, query.conversations.isEmpty ? nil : rows.map(\.key), as: viewer)
        .flatMap { try beginning(.timeline($0.filter, from: $0.start), in: store, as: viewer) }
    }
  }

  /// Reads the first batch of a history with a limit, so that a short history needs one transaction.
  ///
  /// - Returns: the plan of what is left to read.
  private func beginning(_ plan: Plan, in store: Store, as viewer: Viewer) throws -> Plan? {
    guard let left, left > 0, missing.isEmpty else { return plan }
    let batch = try batch(of: plan, in: store, as: viewer)
    firstBatch = batch.messages
    return batch.rest
  }

  /// The lowest `count` numbers of `ranges`, which are in descending order; the result is in ascending order.
  private static func first(_ count: Int, of ranges: [SeqRange]) -> [SeqRange] {
    var (parts, left): ([SeqRange], Int) = ([], count)
    for range in ranges.reversed() where left > 0 {
      let part = range.lowerBound...min(range.upperBound, range.lowerBound + left - 1)
      left -= part.count
      parts.append(part)
    }
    return parts
  }

  private func missing(in parts: [SeqRange], of conversation: ConversationKey, as viewer: Viewer) throws
    -> [HubFloors.Page]
  {
    try messenger.reading([]) { session in
      try parts.flatMap { try session.missing(in: $0, of: conversation, as: viewer) }.map {
        HubFloors.Page(conversation: conversation, seqs: $0)
      }
    }
  }

  /// Fetches the missing messages from the hub; returns false if that is not possible.
  private func fetchMissing() throws -> Bool {
    defer { missing = [] }
    return try messenger.fetch(missing)
  }

  /// Returns the next messages, at most 500; an empty array at the end.
  ///
  /// - Throws: an error of the store.
  public func next() throws -> [Message] {
    let messages = try meter.timed(nextMessages)
    meter?.extent.add(messages)
    if messages.isEmpty { meter = nil }
    return messages
  }

  private func nextMessages() throws -> [Message] {
    // A batch may contain no message that the user sees.
    while plan != nil || firstBatch != nil, left != 0 {
      let messages = try firstBatch ?? nextBatch()
      firstBatch = nil
      left = left.map { $0 - messages.count }
      if !messages.isEmpty { return messages }
    }
    defer { waiting = [] }
    return waiting
  }

  /// Returns all messages that were not returned yet.
  func rest() throws -> [Message] {
    var messages: [Message] = []
    while case let batch = try next(), !batch.isEmpty { messages += batch }
    return messages
  }

  private func nextBatch() throws -> [Message] {
    guard let plan, let viewer else { return [] }
    if case .ranges(let ranges, let conversation) = plan, left == nil {
      let parts = Self.first(Self.batch, of: ranges)
      missing = try missing(in: parts, of: conversation, as: viewer)
      if !missing.isEmpty, try fetchMissing(), try !missing(in: parts, of: conversation, as: viewer).isEmpty {
        messenger.leftOut += 1
      }
    }
    return try messenger.reading([]) { session in
      let batch = try batch(of: plan, in: session.store, as: viewer)
      self.plan = batch.rest
      return batch.messages
    }
  }

  /// Reads the next messages of a plan.
  ///
  /// The number of messages that are read, visible or hidden, is limited, so that the transaction of a batch is short.
  ///
  /// - Returns: the messages, and the plan of what is left to read; nil if nothing is left.
  private func batch(of plan: Plan, in store: Store, as viewer: Viewer) throws -> (messages: [Message], rest: Plan?) {
    let limit = min(Self.batch, left ?? Self.batch)
    switch plan {
    case .ranges(var ranges, let conversation):
      var messages: [Message] = []
      var room = limit
      while room > 0, let range = ranges.popLast() {
        let part = range.prefix(room)
        room -= part.count
        if part.count < range.count { ranges.append((range.lowerBound + part.count)...range.upperBound) }
        let seqs = range.lowerBound...(range.lowerBound + part.count - 1)
        messages += try store.messages.seen(in: conversation, seqs, as: viewer)
      }
      return (messages, ranges.isEmpty ? nil : .ranges(ranges, conversation: conversation))
    case .timeline(let filter, let start):
      let page = try store.messages.timeline(filter, from: start, limit: limit, as: viewer)
      return (page?.messages ?? [], page.map { .timeline(filter, from: $0.next) })
    }
  }

  /// Records that messages were delivered to the user, in each conversation up to the given message number.
  ///
  /// As `Messenger.markDelivered(upTo:)`, but does not read again what this history has read.
  package func markDelivered(upTo seqs: [Identifier: Int]) throws {
    if let delivered, seqs.allSatisfy({ $0.key == delivered.conversation && $0.value <= delivered.seq }) { return }
    try messenger.markDelivered(upTo: seqs)
  }
}
