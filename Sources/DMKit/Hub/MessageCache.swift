package import DMModel
internal import DMStore
internal import DMSystem

extension Messenger {
  /// Decides which messages of each conversation a linked store keeps; `trimMessages` removes the others.
  ///
  /// - Parameter kept: nil for all messages. Messages that are gone do not come back by this, but are fetched when they
  ///   are read.
  /// - Throws: `no_hub` for a store that is not linked, `hub_unreachable` for one that has left its hub.
  package func keep(_ kept: KeptMessages?) throws {
    let (store, hub) = try linkedStore()
    try hub.refuseLeft()
    try store.write { try store.hub.set(kept: kept) }
  }

  /// Asks the sync process for messages that the store has not kept, and waits until it has fetched them.
  ///
  /// - Returns: false if they could not be fetched; `whyPagesAreMissing` then has the reason.
  func fetch(_ pages: [HubFloors.Page]) throws -> Bool {
    if whyPagesAreMissing != nil { return false }
    guard let store = try existingStore(), let hub = try store.hub.row() else { return false }
    whyPagesAreMissing = hub.leftAt == nil ? hub.hindrance : "the store has left its hub"
    if whyPagesAreMissing != nil { return false }
    try store.write { for page in pages { try store.hubFloors.want(page) } }
    let end = try monotonicMicroseconds() + self.pages.limit().microseconds
    whyPagesAreMissing = try compareWithHub(until: end, carry: self.pages.carry)
    return whyPagesAreMissing == nil
  }

  /// Removes messages that the store need not keep, and that the hub has.
  ///
  /// Call it only while the hub is in the state with which the store was last compared.
  ///
  /// - Parameter slack: by how many messages a conversation may exceed its limit before any of them is removed.
  package func trimMessages(slack: Int) throws { try MessageCache(self).trim(slack: slack) }
}

/// The error for an act that needs messages which a linked store has not kept; they are fetched, and the act is tried again.
struct AbsentMessage: Error {
  let page: HubFloors.Page
  /// The error if they cannot be fetched.
  let error: DMError
}

extension Session {
  /// Throws if a linked store has not kept a message, so that it is fetched.
  ///
  /// - Throws: `AbsentMessage`, with the messages before it, too, which may be needed next.
  func requireKept(_ seq: Int, of row: Conversations.Row, _ reference: String) throws {
    guard try !missing(in: seq...seq, of: row.key, as: viewer).isEmpty else { return }
    try fetch(missing(in: 1...seq, of: row.key, as: viewer), of: row, reference)
  }

  /// The newest messages of a conversation that the user sees, as `Messages.end`; fetches those that were not kept.
  func end(_ count: Int, of row: Conversations.Row) throws -> (seq: Int?, count: Int) {
    let end = try store.messages.end(count, of: row, as: viewer)
    if let floor = try store.hubFloors.row(row.key)?.seq, end.seq ?? 0 < floor {
      try fetch(missing(in: max(1, end.seq ?? 1)...floor, of: row.key, as: viewer), of: row, "-\(count)")
    }
    return end
  }

  /// - Throws: `AbsentMessage`, unless `ranges` is empty.
  private func fetch(_ ranges: [SeqRange], of row: Conversations.Row, _ reference: String) throws {
    guard let page = page(of: ranges, .max).last else { return }
    throw AbsentMessage(
      page: HubFloors.Page(conversation: row.key, seqs: page),
      error: DMError(
        .unknownMessage, "the message '\(reference)' is only on the hub, which cannot be reached", subject: reference,
        remedy: .showHubStatus))
  }

  /// Counts the conversations whose messages from after a time the store has not kept.
  func countLeftOut(_ conversations: [ConversationKey]?, since time: Timestamp) throws {
    messenger.leftOut += try store.hubFloors.all().filter { key in
      try conversations?.contains(key) ?? true && store.hubFloors.row(key).map { $0.at > time } ?? false
    }.count
  }

  /// The numbers of a range of which the store has not kept the messages that the viewer sees.
  func missing(in range: SeqRange, of conversation: ConversationKey, as viewer: Viewer) throws -> [SeqRange] {
    let absent = try store.hubFloors.absent(range, in: conversation)
    if absent.isEmpty { return [] }
    return try difference(of: absent, minus: viewer.hidden(in: range, of: conversation))
  }

  /// The newest numbers of some ranges: as many as a query wants, and as a page has.
  func page(of ranges: [SeqRange], _ limit: Int) -> [SeqRange] {
    var left = min(limit, HubLimits.pageMessages)
    var page: [SeqRange] = []
    for range in ranges.reversed() where left > 0 {
      let part = max(range.lowerBound, range.upperBound - left + 1)...range.upperBound
      left -= part.count
      page.append(part)
    }
    return page.reversed()
  }
}

/// The messages of a linked store as a cache of what its hub has.
private struct MessageCache {
  private let store: Store
  private let hub: Hub.Row

  /// Microseconds for which messages stay that were fetched because they were read.
  private static let useTime: Int64 = 600_000_000
  /// Microseconds for which the write lock is held at a time.
  private static let turn: Int64 = 20_000
  /// The number of messages that are read at a time.
  private static let batch = 100

  init(_ messenger: Messenger) throws { (store, hub) = try messenger.linkedStore() }

  func trim(slack: Int) throws {
    guard let kept = hub.kept, hub.leftAt == nil, hub.refusal == nil else { return }
    let fetchedBefore = Timestamp(microseconds: Timestamp.now.microseconds - Self.useTime)
    let count = if case .last(let count) = kept { count + slack } else { 1 }
    for conversation in try store.read({ try store.hubFloors.exceeding(count, fetchedBefore: fetchedBefore) }) {
      while try store.write({ try trimTurn(conversation, kept, fetchedBefore) }) {}
    }
  }

  /// Removes messages of a conversation for the time of a turn.
  ///
  /// - Returns: whether there may be more to remove.
  private func trimTurn(_ conversation: ConversationKey, _ kept: KeptMessages, _ fetchedBefore: Timestamp) throws
    -> Bool
  {
    let before = try store.hubFloors.row(conversation)
    if let before, before.fetchedAt > fetchedBefore { return false }
    let floor = try max(before?.seq ?? 1, floor(of: conversation, kept))
    guard floor > 1 else { return false }
    if floor > before?.seq ?? 1 {
      let first = Messages.Address(conversation: conversation, seq: floor)
      try store.hubFloors.set(floor, at: store.messages.time(of: first), of: conversation)
    }
    let end = monotonicMicroseconds() + Self.turn
    while monotonicMicroseconds() < end {
      let messages = try store.hubFloors.removable(
        below: floor, of: conversation, readBy: hub.user, limit: Self.batch)
      for message in messages { try store.messages.discard(message) }
      if messages.count < Self.batch {
        try store.hubFloors.noteTrim(conversation)
        return false
      }
    }
    return true
  }

  /// The number that the floor of a conversation should have now.
  private func floor(of conversation: ConversationKey, _ kept: KeptMessages) throws -> Int {
    let highest = try store.hubFloors.highest(conversation, of: hub.user)
    guard highest > 1, let row = try store.conversations.row(key: conversation) else { return 1 }
    switch kept {
    case .last(let count): return min(highest, row.lastSeq - count + 1)
    case .youngerThan(let age):
      let time = Timestamp(microseconds: Timestamp.now.microseconds - age)
      return min(highest, try store.hubFloors.first(notBefore: time, in: conversation) ?? highest)
    }
  }
}
