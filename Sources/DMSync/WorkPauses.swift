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

  /// When to work.
  ///
  /// A receipt that comes between two messages must not delay the second one, so only the pause after a push delays a push.
  func end(beforePush isPush: Bool) -> Int64 { (isPush ? lastPush : lastWork) + pause }

  /// Records work that began at a time.
  ///
  /// Operations that are queued at short intervals are pushed together, in larger groups the longer this goes on.
  mutating func note(pushed: Int, at time: Int64) {
    lastWork = time
    if pushed > 0 { lastPush = time }
    pause = pushed > 1 ? min(2 * pause, Self.longest) : Self.shortest
  }
}
