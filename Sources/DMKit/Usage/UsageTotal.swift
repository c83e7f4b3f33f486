/// The sums of some lines of a usage log.
package struct UsageTotal: Equatable, Sendable {
  package private(set) var acts = 0
  package private(set) var failed = 0
  package private(set) var count = 0
  package private(set) var bytes = 0
  package private(set) var durations = Durations()

  package init() {}

  package mutating func add(_ record: UsageRecord) {
    acts += 1
    if record.status != 0 { failed += 1 }
    count = Self.sum(count, record.count)
    bytes = Self.sum(bytes, record.bytes)
    durations.add(record.duration)
  }

  package mutating func add(_ other: UsageTotal) {
    acts += other.acts
    failed += other.failed
    count = Self.sum(count, other.count)
    bytes = Self.sum(bytes, other.bytes)
    durations.add(other.durations)
  }

  /// The sum, or the largest number: a line can have any number, and the sum of many must not overflow.
  private static func sum(_ one: Int, _ other: Int) -> Int {
    let (sum, overflows) = one.addingReportingOverflow(other)
    return overflows ? .max : sum
  }
}

/// How often each duration occurs, in little memory: durations that differ by less than 1/32 may count as equal.
package struct Durations: Equatable, Sendable {
  /// The numbers of durations, by the middle of their class.
  private var counts: [Int: Int] = [:]

  /// The binary digits of a duration that distinguish it from others.
  private static let digits = 6

  package init() {}

  package mutating func add(_ duration: Int) {
    let excess = max(0, Int.bitWidth - duration.leadingZeroBitCount - Self.digits)
    counts[(duration >> excess) << excess + (1 << excess) / 2, default: 0] += 1
  }

  package mutating func add(_ other: Durations) { counts.merge(other.counts, uniquingKeysWith: +) }

  /// The median, within 1/64; of an even number of durations, the lower of the middle two; 0 if there are none.
  package var median: Int {
    var left = (counts.values.reduce(0, +) + 1) / 2
    for (duration, count) in counts.sorted(by: { $0.key < $1.key }) {
      left -= count
      if left <= 0 { return duration }
    }
    return 0
  }
}
