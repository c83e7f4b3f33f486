internal import Glibc

/// Microseconds on a clock that nobody sets.
///
/// The corresponding C function is `clock_gettime` with `CLOCK_MONOTONIC`.
package func stopwatch() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
}

/// Something that is due again and again, on a clock that nobody sets.
struct Interval {
  let length: Int64
  private(set) var due: Int64

  /// - Parameter seconds: at least a thousandth; what is longer than 30 years lasts 30 years.
  init(seconds: Double) {
    self.init(Int64(max(0.001, seconds.isNaN ? 0 : min(seconds, 1_000_000_000)) * 1_000_000))
  }

  /// - Parameter length: microseconds.
  init(_ length: Int64) {
    self.length = length
    due = stopwatch() + length
  }

  /// Whether it is due; then it begins anew.
  mutating func comes() -> Bool {
    let now = stopwatch()
    guard now >= due else { return false }
    due = now + length
    return true
  }
}
