package import DMModel
internal import DMStore
internal import DMSystem

/// The stream of events, for a program that can block a thread; other programs use `Messenger.events`.
///
/// Between two calls it holds no transaction, so a slow reader slows only itself. Events that it returned count as
/// delivered after they are passed to `markDelivered(_:)`.
package final class Follower {
  private let messenger: Messenger
  private let query: EventQuery
  private let store: Store
  private let feed: ChangeFeed
  private let signals: SignalFeed?
  private var hub: HubFeed?
  private let lease: ConsumerLease?
  /// Nil if the query does not follow, because inotify(7) has few instances for each user.
  private var bell: Watch?
  private var delivery: DeliveryMarks
  private var beat: RepeatingTimer?
  /// When to call `keepCarrier`, the first time at once; nil in a store that is not linked.
  private var carrierBeat: RepeatingTimer?
  private var heartbeat: RepeatingTimer?
  private var look: RepeatingTimer
  /// When the next message expires, on the monotonic clock.
  private var expiry: Int64?
  /// Whether `expiry` must be read again; that is done after events are returned, so that a reader gets them sooner.
  private var mustReadExpiry = true
  /// When to try again to delete expired messages, after a write failed; on the monotonic clock.
  private var noExpiryBefore: Int64 = 0
  private var mustRead = true
  private var hasCaughtUp = false

  /// Microseconds from one check to the next if the bell cannot be watched, and if it can.
  private static let often: Int64 = 100_000
  private static let seldom: Int64 = 1_000_000

  /// Ends the stream when the other end of this descriptor is closed: the reader has gone, or needs no more.
  package var endsWith: Int32?

  /// Descriptors that end a wait when they have input or are closed, for a program that must read them.
  package var yieldsTo: [Int32] = []
  private var mustYield = false

  /// Called at the beginning and every 5 seconds in a linked store, to keep the sync process running.
  package var keepCarrier: () -> Void = {}

  /// Why changes cannot wake the follower, set once; it then checks ten times a second.
  package private(set) var warning: String?

  /// Opens the store, and takes the lease of a consumer.
  ///
  /// - Throws: `no_store`, `bad_cursor`, `gap`, `busy` for a consumer that another process streams, `usage` for a new
  ///   consumer without a start, or an error for a conversation of the query.
  package init(_ messenger: Messenger, _ query: EventQuery, watched: WatchedConversations? = nil) throws {
    self.messenger = messenger
    self.query = query
    let store = try messenger.existingStore() ?? messenger.createdStore()
    self.store = store
    feed = try ChangeFeed(messenger, query, store, watched: watched)
    if let name = query.consumer {
      let lease = try ConsumerLease(name, messenger, query, conversations: feed.conversations)
      feed.position = lease.position
      self.lease = lease
    } else {
      feed.position = try store.read { try store.position(of: query.start ?? .now) }
      lease = nil
    }
    signals =
      query.kinds.isDisjoint(with: [.typing, .presence])
      ? nil : SignalFeed(messenger, query.kinds, feed, isLinked: store.isLinked && query.follows)
    if query.kinds.contains(.hub), query.follows, store.isLinked { hub = HubFeed(messenger) }
    delivery = DeliveryMarks(isWanted: query.marksDelivered && query.consumer == nil)
    // The first beat is due at once.
    if query.signalsPresence, query.follows { beat = RepeatingTimer(15_000_000, from: -15_000_000) }
    if store.isLinked, query.follows { carrierBeat = RepeatingTimer(5_000_000, from: -5_000_000) }
    heartbeat = (query.heartbeat ?? (query.consumer == nil ? nil : .seconds(5))).map {
      RepeatingTimer(max(1000, $0.microseconds))
    }
    look = RepeatingTimer(Self.often)
    if query.follows {
      SignalFile.make(store.location.bell)
      listen()
      warning = bell?.fault
    }
  }

  /// The position of the stream: everything before it was returned.
  package var cursor: Cursor { feed.cursor }

  /// The next events, in order; waits until there are any.
  ///
  /// - Parameter limit: the maximum time to wait; the result is empty after that time, or if `yieldsTo` ended the wait.
  ///   Nil for no limit.
  /// - Returns: nil at the end of a query that does not follow.
  /// - Throws: `store_replaced`, `no_store` if it was removed, `store_too_new`, `gap`, or an error of the store.
  package func next(within limit: Duration? = nil) throws -> [MessagingEvent]? {
    let deadline = limit.map { monotonicMicroseconds() + $0.microseconds }
    while true {
      if let events = try available() { return events }
      guard query.follows else { return try end() }
      if let events = try signals?.next(), !events.isEmpty { return events }
      if let events = try hub?.next(), !events.isEmpty { return events }
      if try deleteExpired() { continue }
      guard wait(until: due(deadline)) else { return try end() }
      try lookAround()
      try delivery.write(messenger)
      if !mustRead, mustYield || deadline.map({ monotonicMicroseconds() >= $0 }) == true { return [] }
    }
  }

  /// Marks the messages of events as delivered, because they have reached their reader.
  ///
  /// The marks are written at most once a second: here, while `next(within:)` waits, or before it returns nil. Nothing
  /// is written if the query does not ask for it, or for a consumer, whose acknowledgements write the marks. If the
  /// store is busy, the marks are written later.
  ///
  /// - Throws: an error of the store.
  package func markDelivered(_ events: [MessagingEvent]) throws {
    delivery.add(events)
    try delivery.write(messenger)
  }

  /// The next events of the change log; nil if there are none.
  private func available() throws -> [MessagingEvent]? {
    repeat {
      if query.follows, let heartbeat = try beats() { return [heartbeat] }
      guard mustRead, hasCaughtUp || !query.beginsCaughtUp else { break }
      let events = try read()
      if !events.isEmpty { return events }
    } while mustRead
    if hasCaughtUp { return nil }
    hasCaughtUp = true
    return [.caughtUp(cursor)]
  }

  /// Does the periodic work, whether or not there are events.
  ///
  /// - Returns: a heartbeat if one is due.
  private func beats() throws -> MessagingEvent? {
    if beat?.fires() == true { try messenger.beatPresence() }
    if carrierBeat?.fires() == true {
      SignalFile.touch(store.location.liveFollowed)
      keepCarrier()
    }
    return heartbeat?.fires() == true ? .heartbeat(cursor) : nil
  }

  private func read() throws -> [MessagingEvent] {
    let events = try feed.next()
    mustRead = !feed.isDry
    mustReadExpiry = true
    try lease?.describe(feed.conversations)
    return events
  }

  /// Turns expired messages into tombstones, so that they are reported as deleted.
  ///
  /// The first follower that notices does this for all. If the store cannot be written to, readers hide the messages
  /// nevertheless.
  ///
  /// - Returns: whether a message has expired.
  private func deleteExpired() throws -> Bool {
    if mustReadExpiry {
      expiry = try messenger.untilNextExpiry().map { max(monotonicMicroseconds() + $0, noExpiryBefore) }
      mustReadExpiry = false
    }
    guard let expiry, monotonicMicroseconds() >= expiry else { return false }
    if try !messenger.deleteExpired() { noExpiryBefore = monotonicMicroseconds() + Self.seldom }
    mustRead = true
    return true
  }

  /// When a wait must end even without an event, on the monotonic clock.
  private func due(_ deadline: Int64?) -> Int64 {
    let times = [
      deadline, expiry, look.due, heartbeat?.due, beat?.due, carrierBeat?.due, delivery.due, signals?.due, hub?.due,
    ]
    return times.compactMap(\.self).min() ?? .max
  }

  /// Checks for changes that did not wake the follower, once a second, or more often if the bell cannot be watched.
  private func lookAround() throws {
    guard look.fires() else { return }
    if bell?.descriptor == nil || bell?.isLost == true { listen() }
    if try feed.hasMore() { mustRead = true }
    // The clock may have been set.
    if expiry != nil { mustReadExpiry = true }
  }

  /// Marks the last messages as delivered, and returns nil, the end of the stream.
  private func end() throws -> [MessagingEvent]? {
    try delivery.write(messenger, isLast: true)
    return nil
  }

  /// Watches the bell again: a writer may have created it again, or other processes may have released resources.
  private func listen() {
    bell = Watch(store.location.bell)
    if bell?.descriptor != nil { look = RepeatingTimer(Self.seldom) }
  }

  /// Waits for the bell, a signal or a time.
  ///
  /// - Returns: false if the reader has gone.
  private func wait(until deadline: Int64) -> Bool {
    var streams =
      [
        Awaited(endsWith, for: .end), Awaited(bell?.descriptor, for: .reading),
        Awaited(signals?.descriptor, for: .reading),
      ] + yieldsTo.map { Awaited($0, for: .reading) }
    mustYield = false
    guard waitForAny(of: &streams, until: deadline) else { return true }
    if streams[0].hasEnded { return false }
    if streams[1].isReady {
      bell?.drain()
      mustRead = true
      if let fault = bell?.fault, look.length > Self.often {
        warning = fault
        look = RepeatingTimer(Self.often)
      }
    }
    if streams[2].isReady { signals?.isTouched = true }
    mustYield = streams[3...].contains(where: \.isReady)
    return true
  }
}

/// Messages that were returned and are not marked as delivered yet; they are written at most once a second.
private struct DeliveryMarks {
  let isWanted: Bool
  private var seqs: [Identifier: Int] = [:]
  private var last: Int64 = .min
  private static let pause: Int64 = 1_000_000

  init(isWanted: Bool) { self.isWanted = isWanted }

  /// When they may be written; nil if there are none.
  var due: Int64? { seqs.isEmpty ? nil : last == .min ? 0 : last + Self.pause }

  mutating func add(_ events: [MessagingEvent]) {
    guard isWanted else { return }
    for case .message(let message, _) in events where !message.isMine {
      seqs[message.conversationID] = max(seqs[message.conversationID] ?? 0, message.number)
    }
  }

  mutating func write(_ messenger: Messenger, isLast: Bool = false) throws {
    guard let due, isLast || monotonicMicroseconds() >= due else { return }
    if try messenger.markDelivered(upTo: seqs) { seqs = [:] }
    last = monotonicMicroseconds()
  }
}
