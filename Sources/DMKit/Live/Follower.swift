package import DMModel
internal import DMStore
internal import DMSystem

/// The stream of events for a program that can block a thread.
///
/// Other programs use `Messenger.events`.
///
/// Between two calls of `next(within:)`, the follower has no open transaction, so a slow reader does not slow down
/// other processes. Messages in the returned events count as delivered only after the program passes the events to
/// `markDelivered(_:)`.
package final class Follower {
  private let messenger: Messenger
  private let query: EventQuery
  private let store: Store
  private let feed: ChangeFeed
  private let signals: SignalFeed?
  private var hub: HubFeed?
  private let lease: ConsumerLease?
  /// The watch of the bell, the file that each write touches.
  ///
  /// Nil if the query does not follow, because the number of inotify(7) instances for each user is small.
  private var bell: Watch?
  private var delivery: DeliveryMarks
  private var beat: RepeatingTimer?
  /// The timer for `keepCarrier`, which is due at once for the first time; nil if the store is not linked, or if the
  /// query does not follow.
  private var carrierBeat: RepeatingTimer?
  private var heartbeat: RepeatingTimer?
  private var look: RepeatingTimer
  /// The time on the monotonic clock at which the next message expires; nil if no message expires.
  private var expiry: Int64?
  /// Whether `expiry` must be read again.
  ///
  /// The follower returns events before it reads `expiry`, so that the reader gets them sooner.
  private var mustReadExpiry = true
  /// After a failure to delete expired messages, the time on the monotonic clock from which the follower may try again.
  private var noExpiryBefore: Int64 = 0
  private var mustRead = true
  private var hasCaughtUp = false

  /// Microseconds between two checks: `often` if the bell cannot be watched, otherwise `seldom`.
  private static let often: Int64 = 100_000
  private static let seldom: Int64 = 1_000_000

  /// The stream ends when the other end of this descriptor is closed, because nothing reads the output any more.
  package var endsWith: Int32?

  /// Descriptors that end a wait when they have input or are closed, because the program must read from them.
  package var yieldsTo: [Int32] = []
  private var mustYield = false

  /// Called in a linked store, at the beginning and then every 5 seconds, so that the program can start a sync process
  /// if none is running.
  package var keepCarrier: () -> Void = {}

  /// Why a change cannot wake the follower; nil if it can.
  ///
  /// After the warning is set, the follower checks ten times a second.
  package private(set) var warning: String?

  /// Opens the store; if the query has a consumer, acquires the lease of the consumer.
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
    // The timer starts 15 seconds ago, so that the first presence signal is due now.
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

  /// The position of the stream: all events before this cursor were returned.
  package var cursor: Cursor { feed.cursor }

  /// Returns the next events, in order, and waits until there are some.
  ///
  /// - Parameter limit: the maximum time to wait; nil for no limit. The result is empty after that time, or if a
  ///   descriptor of `yieldsTo` ended the wait.
  /// - Returns: nil at the end of a query that does not follow, or after `endsWith` has ended the stream.
  /// - Throws: `no_store` if the store was removed, `store_replaced`, `store_too_new`, `gap`, or an error of the store.
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

  /// Marks the messages of events as delivered, after the events have reached their reader.
  ///
  /// The marks are written at most once a second: by this call, while `next(within:)` waits, or before `next(within:)`
  /// returns nil. If the store is busy, the marks are written later. Nothing is written if the query does not ask for
  /// marks, or if it has a consumer: the acknowledgements of a consumer write the marks.
  ///
  /// - Throws: an error of the store.
  package func markDelivered(_ events: [MessagingEvent]) throws {
    delivery.add(events)
    try delivery.write(messenger)
  }

  /// The next events of the change log, a heartbeat, or the event `caughtUp` after the log was read to its end; nil if
  /// there is no event.
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

  /// Does the work that is due at regular times, whether or not there are events.
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
    let start = monotonicMicroseconds()
    let events = try feed.next()
    // Other followers only watch the store, and show no messages.
    if query.marksDelivered || query.consumer != nil { messenger.reportReceived(events, since: start) }
    mustRead = !feed.isDry
    mustReadExpiry = true
    try lease?.describe(feed.conversations)
    return events
  }

  /// Turns expired messages into tombstones, so that each follower reports them as deleted.
  ///
  /// The first follower that notices the expiry writes the tombstones for all followers. If the write fails, the
  /// message still counts as expired, and readers do not see it.
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

  /// The time on the monotonic clock at which a wait ends even if nothing happens.
  private func due(_ deadline: Int64?) -> Int64 {
    let times = [
      deadline, expiry, look.due, heartbeat?.due, beat?.due, carrierBeat?.due, delivery.due, signals?.due, hub?.due,
    ]
    return times.compactMap(\.self).min() ?? .max
  }

  /// Checks for changes that did not wake the follower: every second, or ten times a second if the bell cannot be
  /// watched.
  private func lookAround() throws {
    guard look.fires() else { return }
    if bell?.descriptor == nil || bell?.isLost == true { listen() }
    if try feed.hasMore() { mustRead = true }
    // `expiry` is wrong if the clock was set, so it is read again.
    if expiry != nil { mustReadExpiry = true }
  }

  /// Marks the last messages as delivered, and returns nil, which means the end of the stream.
  private func end() throws -> [MessagingEvent]? {
    try delivery.write(messenger, isLast: true)
    return nil
  }

  /// Watches the bell again: a writer may have created a new file, or inotify instances may be free again.
  private func listen() {
    bell = Watch(store.location.bell)
    if bell?.descriptor != nil { look = RepeatingTimer(Self.seldom) }
  }

  /// Waits until the bell or a signal changes, or `endsWith` or `yieldsTo` ends the wait, at most until a time on the
  /// monotonic clock.
  ///
  /// - Returns: false if the other end of `endsWith` was closed.
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

/// The messages that were returned and are not yet marked as delivered.
///
/// The messages are marked at most once a second.
private struct DeliveryMarks {
  let isWanted: Bool
  private var seqs: [Identifier: Int] = [:]
  private var last: Int64 = .min
  private static let pause: Int64 = 1_000_000

  init(isWanted: Bool) { self.isWanted = isWanted }

  /// The time on the monotonic clock from which the marks may be written; nil if there are none.
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
