package import DMModel
internal import DMStore
internal import DMSystem

extension Messenger {
  /// Decides which messages of each conversation a linked store keeps; `trimMessages` removes the others.
  ///
  /// - Parameter kept: nil for all messages. Messages that were removed before are fetched only when they are read.
  /// - Throws: `no_hub` for a store that is not linked, `hub_unreachable` for one that has left its hub.
  package func keep(_ kept: KeptMessages?) throws {
    let (store, hub) = try linkedStore()
    try hub.refuseLeft()
    try store.write { try store.hub.set(kept: kept) }
  }

  /// Asks the sync process for messages that the store has not kept, and waits until it has fetched them.
  ///
  /// Does not ask again for five seconds after a failure.
  ///
  /// - Returns: false if they could not be fetched; `whyPagesAreMissing` then has the reason.
  func fetch(_ pages: [HubFloors.Page]) throws -> Bool {
    if !mayFetch { return false }
    whyPagesAreMissing = try fault(ofFetching: pages)
    pagesFailedAt = whyPagesAreMissing == nil ? nil : monotonicMicroseconds()
    return whyPagesAreMissing == nil
  }

  private func fault(ofFetching pages: [HubFloors.Page]) throws -> String? {
    guard let store = try existingStore(), let hub = try store.hub.row() else { return "the store has no hub" }
    if hub.leftAt != nil { return "the store has left its hub" }
    if let hindrance = hub.hindrance { return hindrance }
    let limit = try self.pages.limit()
    if limit <= .zero { return "the hub was not asked" }
    do {
      try store.write { for page in pages { try store.hubFloors.want(page) } }
    } catch let error as DMError {
      return error.message
    }
    return try compareWithHub(until: monotonicMicroseconds() + limit.microseconds, carry: self.pages.carry)
  }

  /// A clause that says which messages the reads since the last call have left out, because the store has not kept
  /// them; nil for none.
  package func takeAbsence() -> String? {
    defer { (whyPagesAreMissing, leftOut) = (nil, 0) }
    if let fault = whyPagesAreMissing { return "older messages are only on the hub, and are missing here; \(fault)" }
    if leftOut == 0 { return nil }
    let conversations = leftOut == 1 ? "a conversation" : "\(leftOut) conversations"
    return
      "older messages of \(conversations) are only on the hub, and were left out; to read them, ask one conversation for their numbers"
  }

  /// Records that neither the store nor the hub has the messages of a page.
  func noteMissingPage() {
    (whyPagesAreMissing, pagesFailedAt) = ("the hub does not have them", monotonicMicroseconds())
  }

  /// Whether the hub may be asked for messages that the store has not kept; false for five seconds after a failure.
  var mayFetch: Bool { pagesFailedAt.map { monotonicMicroseconds() - $0 > 5_000_000 } ?? true }

  /// Removes messages that the store need not keep, and that the hub has.
  ///
  /// Call this only while the hub has the state with which the store was last compared.
  ///
  /// - Parameters:
  ///   - slack: by how many messages a conversation may exceed its limit before any of them is removed.
  ///   - end: when to stop, as a time of `monotonicMicroseconds`.
  /// - Returns: false if there may be more to remove.
  package func trimMessages(slack: Int, until end: Int64 = .max) throws -> Bool {
    try MessageCache(self).trim(slack: slack, until: end)
  }
}

/// Thrown by an act that needs messages which a linked store has not kept.
///
/// The caller fetches the messages, and tries the act again.
struct AbsentMessage: Error { let page: HubFloors.Page }

extension Session {
  /// Throws if a linked store has not kept a message, so that the caller fetches the message.
  ///
  /// - Throws: `AbsentMessage` for this message and for those before it, which may be needed next.
  func requireKept(_ seq: Int, of row: Conversations.Row, _ reference: String) throws {
    guard try !missing(in: seq...seq, of: row.key, as: viewer).isEmpty else { return }
    try fetch(missing(in: 1...seq, of: row.key, as: viewer), of: row, reference)
  }

  /// The time of a message; throws `AbsentMessage` if the store has not kept the message.
  func time(of reference: MessageReference) throws -> Timestamp {
    let address = try find(reference)
    if let row = try store.conversations.row(key: address.conversation) {
      try requireKept(address.seq, of: row, reference.description)
    }
    return try store.messages.time(of: address)
  }

  /// The same as `Messages.end`; throws `AbsentMessage` if the result needs messages that the store has not kept.
  func end(_ count: Int, of row: Conversations.Row) throws -> (seq: Int?, count: Int) {
    let end = try store.messages.end(count, of: row, as: viewer)
    if let floor = try store.hubFloors.row(row.key)?.seq, end.seq ?? 0 < floor {
      try fetch(missing(in: (end.seq ?? 1)...floor, of: row.key, as: viewer), of: row, "-\(count)")
    }
    return end
  }

  /// - Throws: `AbsentMessage`, unless `ranges` is empty; `unknown_message` if a fetch has just failed.
  private func fetch(_ ranges: [SeqRange], of row: Conversations.Row, _ reference: String) throws {
    guard let page = page(of: ranges).last else { return }
    if messenger.mayFetch { throw AbsentMessage(page: HubFloors.Page(conversation: row.key, seqs: page)) }
    throw DMError(
      .unknownMessage,
      "the message '\(reference)' is only on the hub; \(messenger.whyPagesAreMissing ?? "it cannot be fetched")",
      subject: reference, remedy: .showHubStatus)
  }

  /// Counts a conversation as left out if the store has not kept all messages of some ranges.
  func noteAbsent(_ ranges: [SeqRange], in key: ConversationKey) throws {
    if try ranges.contains(where: { try !store.hubFloors.absent($0, in: key).isEmpty }) { messenger.leftOut += 1 }
  }

  /// Counts the conversations of which the store has not kept all messages after a time.
  func countLeftOut(_ conversations: [ConversationKey]?, since time: Timestamp) throws {
    messenger.leftOut += try store.hubFloors.all(laterThan: time).filter { conversations?.contains($0) ?? true }.count
  }

  /// The numbers of the messages in a range that the viewer sees, but the store has not kept.
  func missing(in range: SeqRange, of conversation: ConversationKey, as viewer: Viewer) throws -> [SeqRange] {
    let absent = try store.hubFloors.absent(range, in: conversation)
    if absent.isEmpty { return [] }
    return try difference(of: absent, minus: viewer.hidden(in: range, of: conversation))
  }

  /// The highest numbers of some ranges, at most as many as fit into one page.
  func page(of ranges: [SeqRange]) -> [SeqRange] {
    var left = HubLimits.pageMessages
    var page: [SeqRange] = []
    for range in ranges.reversed() where left > 0 {
      let part = max(range.lowerBound, range.upperBound - left + 1)...range.upperBound
      left -= part.count
      page.append(part)
    }
    return page.reversed()
  }
}

/// The messages of a linked store, as a cache of the messages on its hub.
private struct MessageCache {
  private let store: Store
  private let hub: Hub.Row

  /// Microseconds for which messages stay after they were fetched for a reader.
  private static let useTime: Int64 = 600_000_000
  /// Microseconds for which the write lock is held at a time.
  private static let turn: Int64 = 20_000
  /// The maximum number of messages that one query selects for removal.
  private static let batch = 2000

  init(_ messenger: Messenger) throws { (store, hub) = try messenger.linkedStore() }

  func trim(slack: Int, until end: Int64) throws -> Bool {
    guard let kept = hub.kept, hub.leftAt == nil, hub.refusal == nil else { return true }
    let fetchedBefore = Timestamp(microseconds: Timestamp.now.microseconds - Self.useTime)
    let count = if case .last(let count) = kept { count + slack } else { 1 }
    let (conversations, awaited) = try store.read {
      (try store.hubFloors.exceeding(count, fetchedBefore: fetchedBefore), try store.hubFloors.awaited())
    }
    for conversation in conversations {
      guard try trim(conversation, kept, awaited, fetchedBefore, until: end) else { return false }
    }
    return true
  }

  /// Removes messages of a conversation, and raises its floor.
  ///
  /// - Returns: false if there may be more to remove.
  private func trim(
    _ conversation: ConversationKey, _ kept: KeptMessages, _ awaited: [ConversationKey: Int],
    _ fetchedBefore: Timestamp,
    until end: Int64
  ) throws -> Bool {
    // The version is read before the messages, so that a commit between the two reads is noticed.
    let version = try store.dataVersion()
    // A program may still be reading the messages that were fetched.
    if let floor = try store.hubFloors.row(conversation), floor.fetchedAt > fetchedBefore { return true }
    while true {
      var (floor, messages) = try store.read { try removable(conversation, kept, awaited) }
      let isAll = messages.count < Self.batch
      while !messages.isEmpty || floor != nil {
        guard monotonicMicroseconds() < end else { return false }
        let isSame = try store.write { () -> Bool in
          guard try store.dataVersion() == version else { return false }
          try removeSome(of: &messages, floor, conversation)
          return true
        }
        // Another process has written, and may need one of these messages. The next call selects the messages again.
        if !isSame { return false }
        floor = nil
      }
      guard isAll else { continue }
      if try store.hubFloors.row(conversation)?.fetchedAt.microseconds ?? 0 != 0 {
        try store.write { try store.hubFloors.noteTrim(conversation) }
      }
      return true
    }
  }

  /// The messages of a conversation that can be removed now, the last one first, and the new floor if it is higher.
  private func removable(
    _ conversation: ConversationKey, _ kept: KeptMessages, _ awaited: [ConversationKey: Int]
  ) throws -> (floor: Int?, messages: [Messages.Address]) {
    let before = try store.hubFloors.row(conversation)
    let wanted = min(try floor(of: conversation, kept), awaited[conversation] ?? .max)
    let floor = max(before?.seq ?? 1, wanted)
    let messages = try store.hubFloors.removable(below: floor, of: conversation, by: hub.user, limit: Self.batch)
    return (floor > before?.seq ?? 1 ? floor : nil, messages.reversed())
  }

  /// Raises the floor if `floor` is not nil, and then removes messages for at most the time `turn`.
  private func removeSome(of messages: inout [Messages.Address], _ floor: Int?, _ conversation: ConversationKey) throws
  {
    if let floor {
      let first = Messages.Address(conversation: conversation, seq: floor)
      try store.hubFloors.set(floor, at: store.messages.time(of: first), of: conversation)
    }
    let end = monotonicMicroseconds() + Self.turn
    while monotonicMicroseconds() < end, let address = messages.popLast() {
      if let message = try store.messages.row(at: address) { try store.messages.discard(message) }
    }
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
