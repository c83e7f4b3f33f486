internal import CSystem
public import DMModel
internal import Glibc

extension Timestamp {
  /// The current time of the system's clock.
  ///
  /// The corresponding C function is `clock_gettime` with `CLOCK_REALTIME`.
  public static var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(time)
  }

  init(_ time: timespec) {
    self.init(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}
