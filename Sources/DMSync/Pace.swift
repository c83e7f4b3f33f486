internal import DMKit

/// How much the engine asks of a hub at once, and what it leaves alone for a while; it outlives a connection.
///
/// Times are those of `monotonicMicroseconds`.
struct Pace {
  static let maximumBatch = 100
  /// The hints without news that are all followed: two machines that write at once cause a few.
  private static let freeEmptyHints = 16

  /// When the hub answered a comparison last.
  var comparedAt: Int64 = 0
  /// The most operations in a push; fewer after a push that the hub could not carry out.
  private(set) var batchSize = Pace.maximumBatch
  /// By what the entries and the conversations of a pull are divided, after one that took the hub or the network too long.
  private(set) var divisor = 1
  /// The conversations that others locked when something of them was pushed, how often in a row, and until when nothing of
  /// them is pushed; nil stands for what is of none.
  private var locked: [Identifier?: (count: Int, until: Int64)] = [:]
  /// The conversations that are pulled because of a hint.
  private var hinted: Set<Identifier> = []
  /// How many hints in a row brought nothing new, and until when no more are followed.
  private var emptyHints: [Identifier: (count: Int, until: Int64)] = [:]

  // MARK: Size

  /// An exchange went well.
  mutating func widen() {
    batchSize = min(2 * batchSize, Self.maximumBatch)
    divisor = max(1, divisor / 2)
  }

  mutating func divide() { divisor *= 4 }

  /// Half of a push that the hub could not carry out is tried next.
  mutating func halve(_ count: Int) { batchSize = max(1, count / 2) }

  // MARK: Conversations that others lock

  /// Pushes nothing of a conversation for a while, which grows; then what is of it goes in a push of its own, so that
  /// nothing else waits for the lock.
  mutating func hold(_ id: Identifier?, at time: Int64) {
    let count = (locked[id]?.count ?? 0) + 1
    locked[id] = (count, time + 500_000 << Int64(min(count, 6)))
  }

  mutating func release(_ id: Identifier?) { locked[id] = nil }

  func isHeld(_ id: Identifier?) -> Bool { locked[id] != nil }

  /// The conversations that can be tried again.
  func due(at time: Int64) -> [Identifier?] { locked.filter { $0.value.until <= time }.map(\.key) }

  /// When something that is held can be tried again; nil if nothing is held.
  var heldUntil: Int64? { locked.values.map(\.until).min() }

  // MARK: Hints

  /// Whether a conversation is pulled that the hub says has moved.
  ///
  /// Not if that was said too often of one that has not: the next comparison shows whether it has.
  mutating func follow(_ id: Identifier, at time: Int64) -> Bool {
    guard emptyHints[id].map({ $0.until <= time }) ?? true else { return false }
    hinted.insert(id)
    return true
  }

  /// Counts the hints that brought nothing.
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
