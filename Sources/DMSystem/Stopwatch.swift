internal import CSystem
internal import Glibc

/// Microseconds on a clock that nobody sets.
///
/// The corresponding C function is `clock_gettime` with `CLOCK_MONOTONIC`.
package func stopwatch() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
}

/// A time-out of poll(2) that ends at a moment of the stopwatch; `.max` never comes.
///
/// Rounded up, so that what is due is due when it ends.
package func milliseconds(until moment: Int64) -> Int32 {
  moment == .max ? -1 : Int32(clamping: max(0, (moment - stopwatch() + 999) / 1000))
}

/// Something that is due again and again, on a clock that nobody sets.
package struct Interval {
  package let length: Int64
  package private(set) var due: Int64

  /// - Parameters:
  ///   - length: microseconds.
  ///   - moment: from when on, on the stopwatch.
  package init(_ length: Int64, from moment: Int64 = stopwatch()) {
    self.length = length
    due = moment + length
  }

  /// Whether it is due; then it begins anew.
  package mutating func comes() -> Bool {
    let now = stopwatch()
    guard now >= due else { return false }
    due = now + length
    return true
  }
}

extension Duration {
  /// Whole microseconds; what is longer than 30 years counts as 30 years, so that no sum of them overflows.
  package var microseconds: Int64 {
    let (seconds, attoseconds) = components
    let limit: Int64 = 30 * 366 * 86_400
    return min(max(seconds, -limit), limit) * 1_000_000 + attoseconds / 1_000_000_000_000
  }
}
