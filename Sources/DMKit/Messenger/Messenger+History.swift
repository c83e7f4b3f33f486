public import DMModel
internal import DMStore

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
  /// The messages that wait for the hub.
  ///
  /// These messages come after the numbered messages.
  private var waiting: [Message] = []
  /// The viewer for all batches.
  ///
  /// The viewer keeps the time of the first batch, so that messages which expire later are still returned.
  private var viewer: Viewer?

  /// The cursor from which a stream continues after this history; nil if there is no store yet.
  public private(set) var cursor: Cursor?

  /// The maximum number of messages in a batch: large enough that the cost of the query does not matter, small enough
  /// for the memory.
  static let batch = 500

  init(_ messenger: Messenger, _ query: HistoryQuery) throws {
    self.messenger = messenger
    left = query.limit
    plan = try messenger.reading(nil) { session in
      let store = session.store
      let viewer = Viewer(
        store, session.me, extras: query.includesDeleted ? .tombstones : .nothing,
        includesReaders: query.includesReaders)
      self.viewer = viewer
      cursor = Cursor(store: try store.uuid(), try store.position(of: .now))
      let rows = try query.conversations.compactMap { reference in
        try session.findIfPresent(reference) ?? (query.allowsMissing ? nil : session.find(reference))
      }.filter { try !query.unmutedOnly || !store.members.isMuted($0.key, for: session.me, at: viewer.now) }
      waiting = try session.waitingMessages(query, query.conversations.isEmpty ? nil : rows.map(\.key))
      var query = query
      query.limit = query.limit.map { $0 - waiting.count }
      left = query.limit
      if query.conversations.count == 1 {
        return try rows.first.map {
          .ranges(try session.ranges(query, in: $0, as: viewer).reversed(), conversation: $0.key)
        } ?? .ranges([], conversation: ConversationKey(number: 0))
      }
      return try session.timeline(query, query.conversations.isEmpty ? nil : rows.map(\.key), as: viewer)
        .map { .timeline($0.filter, from: $0.start) }
    }
    if cursor == nil, !query.allowsMissing, let reference = query.conversations.first {
      throw messenger.nothingYet(reference)
    }
  }

  /// Returns the next messages, at most 500; an empty array at the end.
  ///
  /// - Throws: an error of the store.
  public func next() throws -> [Message] {
    // A batch may contain no message that the user sees.
    while plan != nil, left != 0 {
      let messages = try nextBatch()
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
    let limit = min(Self.batch, left ?? Self.batch)
    return try messenger.reading([]) { session -> [Message] in
      let store = session.store
      switch plan {
      case .ranges(var ranges, let conversation):
        var messages: [Message] = []
        // Reads at most `limit` messages, visible or hidden, so that the transaction of a batch is short.
        var room = limit
        while room > 0, let range = ranges.popLast() {
          let part = range.prefix(room)
          room -= part.count
          if part.count < range.count { ranges.append((range.lowerBound + part.count)...range.upperBound) }
          let seqs = range.lowerBound...(range.lowerBound + part.count - 1)
          messages += try store.messages.seen(in: conversation, seqs, as: viewer)
        }
        self.plan = ranges.isEmpty ? nil : .ranges(ranges, conversation: conversation)
        return messages
      case .timeline(let filter, let start):
        let page = try store.messages.timeline(filter, from: start, limit: limit, as: viewer)
        self.plan = page.map { .timeline(filter, from: $0.next) }
        return page?.messages ?? []
      }
    }
  }

}

extension Session {
  /// The numbers of the messages that a query selects, ascending.
  ///
  /// If the query has a limit, these are the numbers of its newest messages.
  fileprivate func ranges(
    _ query: HistoryQuery, in row: Conversations.Row, as viewer: Viewer
  ) throws -> [SeqRange] {
    try store.messages.checkEnd(of: row)
    var ranges = try numberedRanges(query, in: row)
    if case .time(let time)? = query.since {
      ranges = difference(
        of: ranges, minus: difference(of: ranges, minus: try store.messages.seqs(notBefore: time, in: row)))
    }
    if case .time(let time)? = query.before {
      ranges = difference(of: ranges, minus: try store.messages.seqs(notBefore: time, in: row))
    }
    if let sender = try query.sender.map(userKey) {
      ranges = coalesced(try ranges.flatMap { try store.messages.seqs(of: sender, $0, in: row.key) })
    }
    if query.unreadOnly {
      ranges = try ranges.flatMap { try store.readState.wouldChange($0, toRead: true, as: viewer, in: row.key) }
    }
    return try query.limit.map { try newest($0, of: ranges, in: row.key, as: viewer) } ?? ranges
  }

  /// The numbers that are within the ranges of a query and between the messages that are its bounds.
  private func numberedRanges(_ query: HistoryQuery, in row: Conversations.Row) throws -> [SeqRange] {
    func seq(_ bound: HistoryQuery.Bound?) throws -> Int? {
      guard case .message(let reference)? = bound else { return nil }
      return try self.seq(of: reference, in: row)
    }
    let lower = try seq(query.since) ?? 1
    let upper = try seq(query.before).map { $0 - 1 } ?? row.lastVisibleSeq
    guard lower <= upper else { return [] }
    guard let wanted = query.ranges else { return [lower...upper] }
    let asked = try resolved(wanted, in: row).filter { $0.overlaps(lower...upper) }
    return coalesced(asked.map { $0.clamped(to: lower...upper) }.sorted { $0.lowerBound < $1.lowerBound })
  }

  /// The part of `ranges` that contains the newest `limit` messages that the viewer sees.
  private func newest(
    _ limit: Int, of ranges: [SeqRange], in conversation: ConversationKey, as viewer: Viewer
  ) throws -> [SeqRange] {
    var missing = limit
    var newest: [SeqRange] = []
    for range in ranges.reversed() where missing > 0 {
      let start = try store.messages.start(ofNewest: missing, in: range, of: conversation, as: viewer)
      newest.append(start.seq...range.upperBound)
      missing -= start.count
    }
    return newest.reversed()
  }

  fileprivate func timeline(
    _ query: HistoryQuery, _ conversations: [ConversationKey]?, as viewer: Viewer
  ) throws -> (filter: Messages.TimelineFilter, start: Messages.TimelinePosition)? {
    func time(_ bound: HistoryQuery.Bound) throws -> Timestamp {
      switch bound {
      case .message(let reference): try store.messages.time(of: find(reference))
      case .time(let time): time
      }
    }
    var since = try query.since.map(time) ?? Timestamp.writable.lowerBound
    let filter = Messages.TimelineFilter(
      user: me, conversations: conversations, sender: try query.sender.map(userKey),
      before: try query.before.map(time) ?? Timestamp(microseconds: .max),
      lastKey: try store.messages.lastMessageKey(), unreadOnly: query.unreadOnly,
      unmutedAt: query.unmutedOnly ? viewer.now : nil)
    if query.unreadOnly {
      guard let oldest = try store.readState.oldestUnread(of: me) else { return nil }
      since = max(since, oldest)
    }
    guard let limit = query.limit else { return (filter, .start(of: since)) }
    guard limit > 0 else { return nil }
    return (filter, try store.messages.start(ofNewest: limit, filter, since: since, as: viewer))
  }
}

extension Messenger {
  /// The messages with these ids, in the order of the ids.
  ///
  /// - Parameters:
  ///   - ids: the ids.
  ///   - includesReaders: whether each message has `readBy`.
  /// - Returns: nil if there are no ids, or if no message has the first id.
  /// - Throws: `unknown_message`, also for a message that the user does not see.
  package func messages(_ ids: [Identifier], includesReaders: Bool = false) throws -> [Message]? {
    try reading(nil) { session in
      let store = session.store
      guard let first = ids.first, try store.conversations.row(first) == nil,
        try store.messages.address(of: first) != nil
      else {
        return nil
      }
      let viewer = Viewer(store, session.me, includesReaders: includesReaders)
      return try ids.map { try session.visibleMessage(.id($0), as: viewer).message }
    }
  }

  /// The messages with these ids that the user sees, in the order of the ids; ids of other messages are left out.
  ///
  /// - Throws: an error of the store.
  public func messages(ids: [Identifier]) throws -> [Message] {
    try reading([]) { session in
      let viewer = session.freshViewer()
      return try ids.compactMap { id in
        try session.store.messages.address(ofIDOrAlias: id).flatMap {
          try session.store.messages.seen(at: $0, as: viewer)
        }
      }
    }
  }

  /// The ids of the messages with the numbers in some ranges, ascending by number.
  ///
  /// Such ranges are in a `MessageStatus` and in a `Receipt`.
  ///
  /// Messages that the user does not see are left out. Linear in the number of messages in the ranges.
  ///
  /// - Throws: an error of the store.
  public func messageIDs(_ ranges: [SeqRange], in conversation: Identifier) throws -> [Identifier] {
    try reading([]) { session in
      guard let row = try session.store.conversations.row(conversation) else { return [] }
      return try ranges.flatMap {
        try session.store.messages.seen(in: row.key, $0, as: session.viewer).map(\.id)
      }
    }
  }

  /// The message that the user sent with a nonce, even if the message waits for a hub; nil if there is none.
  ///
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func message(nonce: String, in conversation: ConversationReference) throws -> Message? {
    try reading(nil) { session in
      guard let row = try session.findIfPresent(conversation) else { return nil }
      guard let address = try session.store.messages.address(of: nonce, from: session.me, in: row.key) else {
        return try session.waitingMessage(nonce, in: row.key)
      }
      return try session.store.messages.seen(at: address, as: session.freshViewer())
    }
  }

  /// The messages that a query selects.
  ///
  /// Reading the messages does not mark them as read.
  ///
  /// - Throws: `unknown_user`, also for the sender in the query; `unknown_conversation`, `ambiguous_title`,
  ///   `not_allowed`; `unknown_message` for a bound of the query.
  public func history(_ query: HistoryQuery) throws -> History { try History(self, query) }

  /// The last messages of a conversation that come before a message number, oldest first.
  ///
  /// - Parameters:
  ///   - conversation: the conversation.
  ///   - seq: the message number; nil for the end of the conversation.
  ///   - limit: the maximum number of messages.
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func messages(in conversation: ConversationReference, before seq: Int? = nil, limit: Int) throws -> [Message] {
    var query = HistoryQuery(conversation)
    query.before = seq.map { .message(.number($0, in: nil)) }
    query.limit = limit
    return try history(query).rest()
  }
}
