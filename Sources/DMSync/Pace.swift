internal import DMKit

/// Limits the sizes of pushes and pulls, and decides which conversations and hints the engine skips for a while.
///
/// These values are kept from one connection to the next.
///
/// Times are those of `monotonicMicroseconds`.
struct Pace {
  static let maximumBatch = 100
  /// How many hints in a row may bring no entries before the hints of a conversation are ignored for a while.
  ///
  /// Two machines that write at the same time cause a few such hints.
  private static let freeEmptyHints = 16

  /// When the hub last answered a comparison.
  var comparedAt: Int64 = 0
  /// The maximum number of operations in a push; smaller after a push that the hub could not process.
  private(set) var batchSize = Pace.maximumBatch
  /// Divides the maximum numbers of entries and conversations in a pull; it grows after a pull that took too long.
  private(set) var divisor = 1
  /// For each conversation that another transaction locked during a push: how often that happened in a row, and until
  /// when nothing is pushed to the conversation.
  ///
  /// The key nil stands for operations without a conversation.
  private var locked: [Identifier?: (count: Int, until: Int64)] = [:]
  /// The conversations that are pulled because of a hint.
  private var hinted: Set<Identifier> = []
  /// For each conversation, how many hints in a row brought no entries, and until when its hints are ignored.
  private var emptyHints: [Identifier: (count: Int, until: Int64)] = [:]

  // MARK: Size

  /// Makes pushes and pulls larger again, after a successful exchange.
  mutating func widen() {
    batchSize = min(2 * batchSize, Self.maximumBatch)
    divisor = max(1, divisor / 2)
  }

  /// The action to take after an exchange that failed.
  enum Recovery: Equatable {
    /// Push the operations again.
    case requeue
    /// Refuse the one operation that was pushed, because the hub cannot process it.
    case refuse
    /// Close the connection.
    case fail(HubFault)
  }

  /// Makes pushes and pulls smaller after a fault, so that further faults isolate the cause.
  ///
  /// - Parameters:
  ///   - pushed: the conversation of each operation that was pushed.
  ///   - pull: the maximum number of entries of a pull; nil if nothing was pulled.
  mutating func recover(from fault: HubFault, pushed: [Identifier?], pull: Int?, at time: Int64) -> Recovery {
    switch fault {
    case .timedOut where pull.map { divisor < $0 } ?? false: divisor *= 4
    case .poison where pushed.count > 1, .timedOut where pushed.count > 1: batchSize = pushed.count / 2
    case .poison where pushed.count == 1: return .refuse
    case .locked(let text, let conversations):
      // An operation without a conversation, such as a profile, waits for a lock that all persons share.
      let isShared = conversations.isEmpty && pushed.contains(nil)
      if conversations.isEmpty, !isShared { return .fail(.again(text)) }
      for id in conversations { hold(id, at: time) }
      if isShared { hold(nil, at: time) }
    default: return .fail(fault)
    }
    return .requeue
  }

  // MARK: Conversations that other transactions lock

  /// Stops pushing to a conversation for a while, longer each time.
  ///
  /// After the pause, the operations of the conversation are pushed separately, so that no other operations wait for
  /// the lock.
  mutating func hold(_ id: Identifier?, at time: Int64) {
    let count = (locked[id]?.count ?? 0) + 1
    locked[id] = (count, time + 500_000 << Int64(min(count, 6)))
  }

  mutating func release(_ id: Identifier?) { locked[id] = nil }

  func isHeld(_ id: Identifier?) -> Bool { locked[id] != nil }

  /// The conversations that can be tried again now.
  func due(at time: Int64) -> [Identifier?] { locked.filter { $0.value.until <= time }.map(\.key) }

  /// When a locked conversation can next be tried again; nil if none is locked.
  var heldUntil: Int64? { locked.values.map(\.until).min() }

  // MARK: Delivery receipts

  /// When the first of the delayed delivery receipts can be pushed; nil if none is delayed.
  private var receiptsDue: Int64?

  /// Records that a delivery receipt is delayed until a time.
  mutating func hold(receiptsUntil time: Int64) { receiptsDue = min(receiptsDue ?? .max, time) }

  /// Returns when the first of the delayed delivery receipts can be pushed, and forgets this time; nil if none is
  /// delayed.
  mutating func takeReceiptsDue() -> Int64? {
    defer { receiptsDue = nil }
    return receiptsDue
  }

  /// The groups to pull for receipts that no hint announces, and the time of each pull.
  private var expectedReceipts: [Identifier: Int64] = [:]

  /// When the first group must be pulled for receipts; nil if no such pull is planned.
  var receiptsExpectedAt: Int64? { expectedReceipts.values.min() }

  /// Plans to pull a group for receipts, unless such a pull is planned already.
  mutating func expectReceipts(of id: Identifier, at time: Int64) {
    if expectedReceipts[id] == nil { expectedReceipts[id] = time }
  }

  /// Returns the groups that must be pulled for receipts by `time`, and forgets them.
  mutating func takeExpectedReceipts(at time: Int64) -> [Identifier] {
    let due = expectedReceipts.filter { $0.value <= time }.keys.sorted()
    for id in due { expectedReceipts[id] = nil }
    return due
  }

  // MARK: Hints

  /// Whether to pull a conversation because of a hint.
  ///
  /// After too many hints that brought no entries, the result is false for a while. During this time, comparisons
  /// find what has changed.
  mutating func follow(_ id: Identifier, at time: Int64) -> Bool {
    guard emptyHints[id].map({ $0.until <= time }) ?? true else { return false }
    hinted.insert(id)
    return true
  }

  /// After an exchange, counts the hints that brought no entries.
  ///
  /// - Parameter pulled: the conversations that the exchange brought entries of.
  mutating func judgeHints(_ pulled: some Collection<Identifier>, at time: Int64) {
    for id in pulled { emptyHints[id] = nil }
    for id in hinted where !pulled.contains(id) {
      let count = (emptyHints[id]?.count ?? 0) + 1
      let pause = count < Self.freeEmptyHints ? 0 : 100_000 << Int64(min(count - Self.freeEmptyHints, 9))
      emptyHints[id] = (count, time + Int64(pause))
    }
    hinted = []
  }
}
