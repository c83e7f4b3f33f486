internal import DMSystem

/// The pauses after pushes and pulls, in which other programs can write to the store.
///
/// Times are those of `monotonicMicroseconds`.
struct WorkPauses {
  private(set) var lastWork = monotonicMicroseconds()
  private var lastPush: Int64 = 0
  private var pause = Self.shortest

  private static let shortest: Int64 = 15_000
  private static let longest: Int64 = 120_000
  /// Operations that come at longer intervals are not grouped.
  private static let interval: Int64 = 10_000

  /// When the next push or pull may begin.
  ///
  /// Only the pause after a push delays a push, so that a receipt that is pulled between two messages does not delay
  /// the second message.
  func end(beforePush isPush: Bool) -> Int64 { (isPush ? lastPush : lastWork) + pause }

  /// Records a push or pull that began at `time`.
  ///
  /// The pause grows while operations are queued at intervals of less than ten milliseconds, so that they are pushed in
  /// larger groups. The number of operations in a push alone would not tell, because a long pause makes each group large.
  mutating func note(pushed: Int, at time: Int64) {
    let isFast = pushed > 1 && time - lastPush < Int64(pushed) * Self.interval
    lastWork = time
    if pushed > 0 { lastPush = time }
    pause = isFast ? min(2 * pause, Self.longest) : Self.shortest
  }
}
