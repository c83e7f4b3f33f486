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
  fileprivate var meter: ActMeter?

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
    try messenger.reading(nil) { session in
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
        return .ranges(found.ranges.reversed(), conversation: row.key)
      }
      return try session.timeline(query, query.conversations.isEmpty ? nil : rows.map(\.key), as: viewer)
        .map { .timeline($0.filter, from: $0.start) }
    }
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
    if case .ranges(let ranges, let conversation) = plan, left == nil {
      let parts = Self.first(limit, of: ranges)
      missing = try missing(in: parts, of: conversation, as: viewer)
      if !missing.isEmpty, try fetchMissing(), try !missing(in: parts, of: conversation, as: viewer).isEmpty {
        messenger.leftOut += 1
      }
    }
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

extension Messenger {
  /// The messages with these ids, in the order of the ids.
  ///
  /// - Parameters:
  ///   - ids: the ids.
  ///   - includesReaders: whether each message has `readBy`.
  /// - Returns: nil if there are no ids, or if no message has the first id.
  /// - Throws: `unknown_message`, also for a message that the user does not see.
  package func messages(_ ids: [Identifier], includesReaders: Bool = false) throws -> [Message]? {
    let start = monotonicMicroseconds()
    let found: [Message]? = try reading(nil) { session in
      let store = session.store
      guard let first = ids.first, try store.conversations.row(first) == nil,
        try store.messages.address(of: first) != nil
      else {
        return nil
      }
      let viewer = Viewer(store, session.me, includesReaders: includesReaders)
      return try ids.map { try session.visibleMessage(.id($0), as: viewer).message }
    }
    if let found { report(.opened, UsageAct.Extent(found), since: start) }
    return found
  }

  /// The messages that these references name, in their order.
  ///
  /// - Throws: `unknown_message`, also for a message that the user does not see; `unknown_user`, `unknown_conversation`,
  ///   `ambiguous_title`, `not_allowed`; `bad_reference` for a number without a conversation.
  package func messages(_ references: [MessageReference], includesReaders: Bool = false) throws -> [Message] {
    let start = monotonicMicroseconds()
    let found: [Message]? = try reading(nil) { session in
      let viewer = Viewer(session.store, session.me, includesReaders: includesReaders)
      return try references.map { try session.visibleMessage($0, as: viewer).message }
    }
    guard let found else { throw nothingYet(references[0]) }
    report(.opened, UsageAct.Extent(found), since: start)
    return found
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
  public func history(_ query: HistoryQuery) throws -> History {
    let meter = query.isOpening && onAct != nil ? ActMeter(.opened, self) : nil
    let history = try meter.timed { try History(self, query) }
    history.meter = meter
    return history
  }

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
