internal import DMModel

/// The hits of a search, which are returned in the order of their ranks.
///
/// The hits are stored as a heap, because callers usually need only a few of many hits.
struct SearchHits {
  struct Hit {
    /// The rank of the hit.
    ///
    /// A lower rank is better.
    let rank: Double
    let key: MessageKey

    func precedes(_ other: Hit) -> Bool {
      rank != other.rank ? rank < other.rank : key > other.key
    }
  }

  private var heap: [Hit] = []
  private var isHeap = false

  mutating func append(_ hit: Hit) {
    heap.append(hit)
    isHeap = false
  }

  /// Removes all hits that have the best rank, and returns their keys in an arbitrary order.
  ///
  /// The first `few` hits are removed one by one, and each removal restores the heap. If there are more hits of that
  /// rank, the rest are removed in one pass.
  mutating func popEquals(few: Int) -> [MessageKey] {
    if !isHeap { makeHeap() }
    guard let rank = heap.first?.rank else { return [] }
    var keys: [MessageKey] = []
    while let hit = heap.first, hit.rank == rank {
      if keys.count < few {
        keys.append(hit.key)
        removeFirst()
      } else {
        keys += heap.lazy.filter { $0.rank == rank }.map(\.key)
        heap.removeAll { $0.rank == rank }
        isHeap = false
        return keys
      }
    }
    return keys
  }

  private mutating func makeHeap() {
    for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sink(index) }
    isHeap = true
  }

  private mutating func removeFirst() {
    guard let last = heap.popLast(), !heap.isEmpty else { return }
    heap[0] = last
    sink(0)
  }

  private mutating func sink(_ start: Int) {
    let hit = heap[start]
    var index = start
    while true {
      var child = 2 * index + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, heap[child + 1].precedes(heap[child]) { child += 1 }
      guard heap[child].precedes(hit) else { break }
      heap[index] = heap[child]
      index = child
    }
    heap[index] = hit
  }
}

/// A set of message keys, one bit for each key.
package struct KeySet {
  private var words: [UInt64]
  private var count = 0

  var isEmpty: Bool { count == 0 }

  /// - Parameter last: the largest key that the set can contain.
  init(upTo last: MessageKey) {
    words = Array(repeating: 0, count: Int(max(last.number, 0) >> 6) + 1)
  }

  func contains(_ key: MessageKey) -> Bool { hasRoom(for: key) && words[Self.word(key)] & Self.bit(key) != 0 }

  mutating func insert(_ key: MessageKey) {
    guard hasRoom(for: key), !contains(key) else { return }
    words[Self.word(key)] |= Self.bit(key)
    count += 1
  }

  /// Removes a key.
  ///
  /// Returns whether the set contained the key.
  mutating func remove(_ key: MessageKey) -> Bool {
    guard contains(key) else { return false }
    words[Self.word(key)] &= ~Self.bit(key)
    count -= 1
    return true
  }

  private func hasRoom(for key: MessageKey) -> Bool { key.number >= 0 && key.number >> 6 < words.count }
  private static func word(_ key: MessageKey) -> Int { Int(key.number >> 6) }
  private static func bit(_ key: MessageKey) -> UInt64 { 1 << UInt64(key.number & 63) }
}
