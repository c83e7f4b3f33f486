internal import DMKit
internal import DMStore

/// What a connection knows of the exchange of the user's own states.
struct OwnStateExchange {
  /// The last rev that the hub may have.
  private var namedRev: Int64 = 0
  /// The last rev at the last comparison; nil if the next one begins anew.
  private var comparedRev: Int64?
  /// The rev up to which this connection has read the states, while it has not come to their end.
  private(set) var cursor: Int64?
  /// The conversations that the hub has states of, while all are read from the first on.
  private(set) var seen: Set<Identifier>?
  /// The conversations whose states name messages that this store does not have.
  private var missing: Set<Identifier> = []
  /// Those that were pulled since.
  private(set) var awaited: Set<Identifier> = []
  /// Those that were queued to be pulled since the last comparison.
  private var tried: Set<Identifier> = []
  /// The rev of the first state that was left out; this store asks for it again.
  private var firstLeft: Int64?
  /// Whether nothing can be taken until a conversation is pulled, or the hub names a later rev.
  private var isAtRest = false
  /// When changes can be given again, as a time of `monotonicMicroseconds`.
  private(set) var heldUntil: Int64 = 0
  /// The maximum number of states to read at once.
  private(set) var limit = 500

  // MARK: Events

  /// A comparison has named the last rev.
  mutating func compared(rev: Int64, mustReread: Bool) {
    if rev != comparedRev { isAtRest = false }
    if !isAtRest { namedRev = rev }
    (comparedRev, tried) = (rev, [])
    if mustReread, seen == nil { (seen, cursor) = ([], 0) }
  }

  /// Another machine of the user has given a state.
  mutating func hinted() { (namedRev, isAtRest) = (.max, false) }

  /// Entries of a conversation are in this store.
  mutating func pulled(_ id: Identifier) {
    guard missing.remove(id) != nil else { return }
    awaited.insert(id)
    hinted()
  }

  /// The hub could not answer in time; it is asked for less, and after a pause if that is not possible.
  mutating func failed(at time: Int64, wasTooMuch: Bool) {
    if wasTooMuch, limit > 1 { return limit = max(1, limit / 4) }
    (isAtRest, comparedRev, heldUntil) = (true, nil, time + Self.pause)
  }

  /// Something was too large to be given, or the hub has not kept it.
  mutating func refused(at time: Int64) { heldUntil = time + Self.pause }

  /// Microseconds.
  private static let pause: Int64 = 60_000_000

  // MARK: Reading

  /// Whether the hub may have states after a rev.
  func hasNews(after rev: Int64) -> Bool { !isAtRest && (seen != nil || namedRev > (cursor ?? rev)) }

  /// Notes the states of a page.
  ///
  /// - Parameters:
  ///   - states: all states of the page, up to the rev `end`.
  ///   - new: the conversations of those that were left out.
  ///   - left: the rev of the first of these.
  ///   - isLast: whether there are no more.
  /// - Returns: the rev up to which this store has all states; nil if more states follow.
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

  /// The conversations that the hub has states of, if all were read from the first on.
  mutating func takeSeen() -> Set<Identifier>? {
    guard cursor == nil else { return nil }
    defer { seen = nil }
    return seen
  }

  /// The conversations to pull because their states name later messages; each once for a comparison.
  mutating func takeMissing() -> Set<Identifier> {
    defer { tried.formUnion(missing) }
    return missing.subtracting(tried)
  }
}
