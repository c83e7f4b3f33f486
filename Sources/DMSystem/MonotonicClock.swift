internal import CSystem
internal import Glibc

/// The time of the monotonic clock, in microseconds.
///
/// The corresponding C function is `clock_gettime` with `CLOCK_MONOTONIC`.
package func monotonicMicroseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
}

/// The timeout for poll(2) that ends at a time of `monotonicMicroseconds`; for `.max`, -1, which means no timeout.
///
/// It is rounded up, so that the time has passed when the timeout ends.
package func milliseconds(until time: Int64) -> Int32 {
  time == .max ? -1 : Int32(clamping: max(0, (time - monotonicMicroseconds() + 999) / 1000))
}

/// A timer on the monotonic clock that is due at regular intervals.
package struct RepeatingTimer {
  package let length: Int64
  package private(set) var due: Int64

  /// - Parameters:
  ///   - length: the interval in microseconds.
  ///   - start: when the first interval begins, as a time of `monotonicMicroseconds`.
  package init(_ length: Int64, from start: Int64 = monotonicMicroseconds()) {
    self.length = length
    due = start + length
  }

  /// Whether the timer is due; if so, it starts again now.
  package mutating func fires() -> Bool {
    let now = monotonicMicroseconds()
    guard now >= due else { return false }
    due = now + length
    return true
  }
}

extension Duration {
  /// The duration in whole microseconds; more than 30 years count as 30 years, so that sums do not overflow.
  package var microseconds: Int64 {
    let (seconds, attoseconds) = components
    let limit: Int64 = 30 * 366 * 86_400
    return min(max(seconds, -limit), limit) * 1_000_000 + attoseconds / 1_000_000_000_000
  }
}
