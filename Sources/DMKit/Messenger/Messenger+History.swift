/// Which messages to show.
public struct HistoryQuery: Sendable {
  /// A message, or a moment.
  public enum Bound: Sendable {
    case message(MessageReference)
    case time(Timestamp)
  }

  /// Empty for all that the user is in.
  public var conversations: [ConversationReference]
  /// Takes a direct conversation in which nothing was said yet for an empty one.
  public var allowsMissing = false
  /// Nil for everything; otherwise only these numbers.
  public var ranges: [RangeReference]?
  /// From here on, this message included.
  public var since: Bound?
  /// Up to here, this message left out.
  public var before: Bound?
  public var unreadOnly = false
  /// The newest so many of what is left; nil for all.
  public var limit: Int? = 30

  public init(_ conversations: ConversationReference...) { self.conversations = conversations }
}

/// Messages in batches, oldest first.
///
/// Between two batches nothing of the store is held.
public final class History {
  private enum Plan {
    /// Those that come first stand last.
    case ranges([SeqRange], conversation: Int64)
    case timeline(Store.TimelineFilter, from: Store.Moment)
  }

  private let messenger: Messenger
  private var plan: Plan?
  private var left: Int?
  private var statuses: StatusReader?

  /// Where the stream goes on after this history; nil when there is no store yet.
  public private(set) var cursor: Cursor?

  /// The most messages of a batch: enough to make the query's cost small, few enough to stay in memory.
  static let batch = 500

  init(_ messenger: Messenger, _ query: HistoryQuery) throws {
    self.messenger = messenger
    left = query.limit
    plan = try messenger.reading(nil) { store, me in
      statuses = StatusReader(store)
      cursor = Cursor(store: try store.uuid(), try messenger.placed(.now, store))
      let rows = try query.conversations.compactMap { reference in
        try messenger.findIfPresent(reference, store, me)
          ?? (query.allowsMissing ? nil : messenger.find(reference, store, me))
      }
      if query.conversations.count == 1 {
        return try rows.first.map {
          .ranges(try Self.ranges(query, $0, messenger, store, me).reversed(), conversation: $0.key)
        } ?? .ranges([], conversation: 0)
      }
      return try Self.timeline(query, query.conversations.isEmpty ? nil : rows.map(\.key), messenger, store, me)
    }
    if cursor == nil, !query.allowsMissing, let reference = query.conversations.first {
      throw messenger.nothingYet(reference)
    }
  }

  /// The next messages; empty when there are no more.
  public func next() throws -> [Message] {
    guard let plan, let statuses, left != 0 else { return [] }
    let limit = min(Self.batch, left ?? Self.batch)
    let messages = try messenger.reading([]) { store, _ -> [Message] in
      switch plan {
      case .ranges(var ranges, let conversation):
        var messages: [Message] = []
        while messages.count < limit, let range = ranges.popLast() {
          let part = range.prefix(limit - messages.count)
          if part.count < range.count { ranges.append((range.lowerBound + part.count)...range.upperBound) }
          let seqs = range.lowerBound...(range.lowerBound + part.count - 1)
          messages += try store.messages(in: conversation, seqs, as: statuses)
        }
        self.plan = .ranges(ranges, conversation: conversation)
        return messages
      case .timeline(let filter, let moment):
        let page = try store.timeline(filter, from: moment, limit: limit, as: statuses)
        self.plan = .timeline(filter, from: page.next)
        return page.messages
      }
    }
    left = left.map { $0 - messages.count }
    return messages
  }

  /// The numbers that a query means, ascending; of the newest `limit` of them.
  private static func ranges(
    _ query: HistoryQuery, _ row: Store.ConversationRow, _ messenger: Messenger, _ store: Store, _ me: Int64
  ) throws -> [SeqRange] {
    func seq(_ bound: HistoryQuery.Bound) throws -> Int { try messenger.seq(of: bound, in: row, store, me) }
    let lower = try query.since.map(seq) ?? 1
    let upper = try query.before.map(seq).map { $0 - 1 } ?? row.lastSeq
    guard lower <= upper else { return [] }
    var ranges = [lower...upper]
    if let wanted = query.ranges {
      let asked = wanted.compactMap { $0.resolved(last: row.lastSeq) }.filter { $0.overlaps(lower...upper) }
      ranges = coalesced(asked.map { $0.clamped(to: lower...upper) }.sorted { $0.lowerBound < $1.lowerBound })
    }
    if query.unreadOnly {
      ranges = try ranges.flatMap { try store.wouldChange($0, toRead: true, by: me, in: row.key) }
    }
    guard var missing = query.limit else { return ranges }
    var newest: [SeqRange] = []
    for range in ranges.reversed() where missing > 0 {
      newest.append(max(range.lowerBound, range.upperBound - missing + 1)...range.upperBound)
      missing -= newest[newest.count - 1].count
    }
    return newest.reversed()
  }

  private static func timeline(
    _ query: HistoryQuery, _ conversations: [Int64]?, _ messenger: Messenger, _ store: Store, _ me: Int64
  ) throws -> Plan? {
    func time(_ bound: HistoryQuery.Bound) throws -> Timestamp {
      switch bound {
      case .message(let reference): try store.time(of: messenger.find(reference, store, me))
      case .time(let time): time
      }
    }
    var since = try query.since.map(time) ?? Timestamp.writable.lowerBound
    let filter = Store.TimelineFilter(
      user: me, conversations: conversations, before: try query.before.map(time) ?? Timestamp(microseconds: .max),
      lastKey: try store.lastMessageKey(), unreadOnly: query.unreadOnly)
    if query.unreadOnly {
      guard let oldest = try store.oldestUnread(of: me) else { return nil }
      since = max(since, oldest)
    }
    guard let limit = query.limit else { return .timeline(filter, from: .start(of: since)) }
    guard limit > 0 else { return nil }
    return .timeline(filter, from: try store.start(ofNewest: limit, filter, since: since))
  }
}

extension Messenger {
  /// The number of the first message that is not before a bound.
  func seq(of bound: HistoryQuery.Bound, in row: Store.ConversationRow, _ store: Store, _ me: Int64) throws -> Int {
    switch bound {
    case .message(let reference): try seq(of: reference, in: row, store, me)
    case .time(let time): try store.firstSeq(notBefore: time, in: row)
    }
  }

  /// The number of a message in its conversation; nil when there is none of that id.
  public func number(of id: Identifier) throws -> Int? {
    try reading(nil) { store, _ in try store.place(of: id)?.seq }
  }

  /// Messages of one conversation or of all, oldest first, in batches.
  ///
  /// - Throws: `unknown_conversation`, `unknown_message` for a bound, `not_allowed`.
  public func history(_ query: HistoryQuery) throws -> History { try History(self, query) }

  /// A page of a conversation: the newest `limit` messages before a number, oldest first.
  public func messages(in conversation: ConversationReference, before seq: Int? = nil, limit: Int) throws -> [Message] {
    var query = HistoryQuery(conversation)
    query.before = seq.map { .message(.number($0, in: nil)) }
    query.limit = limit
    let history = try history(query)
    var messages: [Message] = []
    while case let batch = try history.next(), !batch.isEmpty { messages += batch }
    return messages
  }
}
