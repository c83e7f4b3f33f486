internal import DMKit
internal import DMStore

/// The progress of the exchange of own states on a connection; `SyncEngine+OwnStates.swift` explains own states.
struct OwnStateExchange {
  /// The own states up to this rev are to be read: `.max` after a hint, which gives no rev; 0 after all states were read.
  private var namedRev: Int64 = 0
  /// The last rev of own states at the last comparison; nil after a failure, so that the next comparison clears
  /// `isAtRest`.
  private var comparedRev: Int64?
  /// While the states are read page by page, the rev up to which they were read; otherwise nil.
  private(set) var cursor: Int64?
  /// While all states are read again from the first one, the conversations of the states that were read; otherwise nil.
  private(set) var seen: Set<Identifier>?
  /// The conversations whose states refer to messages that this store does not have.
  private(set) var missing: Set<Identifier> = []
  /// The conversations that were removed from `missing` because they were pulled.
  private(set) var awaited: Set<Identifier> = []
  /// The conversations that were queued to be pulled, because of `missing`, since the last comparison.
  private var tried: Set<Identifier> = []
  /// The rev of the first state that could not be merged; states must be requested again from this rev on.
  private var firstLeft: Int64?
  /// Whether no state can be merged until a conversation is pulled, or until the hub reports another rev.
  private var isAtRest = false
  /// When changed states can be sent to the hub again, as a time of `monotonicMicroseconds`.
  private(set) var heldUntil: Int64 = 0
  /// The maximum number of states to read at once.
  private(set) var limit = 500

  // MARK: Events

  /// A comparison has returned the last rev of own states.
  mutating func compared(rev: Int64, mustReread: Bool) {
    if rev != comparedRev { isAtRest = false }
    if !isAtRest { namedRev = rev }
    (comparedRev, tried) = (rev, [])
    if mustReread, seen == nil { (seen, cursor) = ([], 0) }
  }

  /// Another machine of the user has sent a state to the hub.
  mutating func hinted() { (namedRev, isAtRest) = (.max, false) }

  /// A pull of a conversation has ended.
  mutating func pulled(_ id: Identifier) {
    guard missing.remove(id) != nil else { return }
    awaited.insert(id)
    hinted()
  }

  /// The hub could not answer in time.
  ///
  /// The next call asks for fewer states. If that is not possible, states are read again after the next comparison, and
  /// sent again after a pause.
  mutating func failed(at time: Int64, wasTooMuch: Bool) {
    if wasTooMuch, limit > 1 { return limit = max(1, limit / 4) }
    (isAtRest, comparedRev, heldUntil) = (true, nil, time + Self.pause)
  }

  /// The hub has not stored a state that was sent, or a state was too large to be sent, or the hub's state refers to
  /// missing messages.
  mutating func refused(at time: Int64) { heldUntil = time + Self.pause }

  /// Microseconds until changed states are sent again.
  private static let pause: Int64 = 60_000_000

  // MARK: Reading

  /// Whether the hub may have states after a rev.
  func hasNews(after rev: Int64) -> Bool { !isAtRest && (seen != nil || namedRev > (cursor ?? rev)) }

  /// Records that a page of states was read.
  ///
  /// - Parameters:
  ///   - states: all states of the page, whose last rev is `end`.
  ///   - new: the conversations of the states that could not be merged.
  ///   - left: the rev of the first state that could not be merged.
  ///   - isLast: whether the hub has no more states.
  /// - Returns: the rev up to which this store has merged all states; nil if all states are being read again
  ///   and more pages follow.
  mutating func read(
    _ states: [HubOwnState], to end: Int64, missing new: Set<Identifier>, firstLeft left: Int64?, isLast: Bool
  ) -> Int64? {
    seen?.formUnion(states.map(\.conversation))
    missing.formUnion(new)
    firstLeft = [firstLeft, left].compactMap(\.self).min()
    guard isLast else {
      cursor = end
      return seen == nil ? firstLeft.map { $0 - 1 } ?? end : nil
    }
    let whole = firstLeft.map { $0 - 1 } ?? end
    (cursor, firstLeft, awaited) = (nil, nil, [])
    if missing.isEmpty { namedRev = 0 } else { isAtRest = true }
    return whole
  }

  /// The conversations of which the hub has states, after all states were read again from the first one; otherwise nil.
  mutating func takeSeen() -> Set<Identifier>? {
    guard cursor == nil else { return nil }
    defer { seen = nil }
    return seen
  }

  /// The conversations to pull, because their states refer to messages that this store does not have; each conversation
  /// is returned only once until the next comparison.
  mutating func takeMissing() -> Set<Identifier> {
    defer { tried.formUnion(missing) }
    return missing.subtracting(tried)
  }
}
