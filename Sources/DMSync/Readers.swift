internal import DMModel
internal import DMStore
internal import DMSystem

/// Finds out whether programs on this machine read a linked store now.
///
/// Each such program touches a file. A file that was touched before this process began counts only if it is recent.
struct Readers {
  private let location: StoreLocation
  private var followed: (touched: Timestamp, seenAt: Int64)?
  private var read: (touched: Timestamp, seenAt: Int64)?
  private var asked: (touched: Timestamp, seenAt: Int64)?

  /// How long a program counts as a reader after it touched its file, in microseconds.
  ///
  /// A follower touches its file every 5 seconds; a program that reads once may soon be called again.
  private static let followerLifetime: Int64 = 45_000_000
  private static let readerLifetime: Int64 = 60_000_000

  init(_ location: StoreLocation) { self.location = location }

  /// Whether a program follows the store.
  mutating func areFollowing() -> Bool {
    Self.isRecent(location.liveFollowed, &followed, Self.followerLifetime)
  }

  /// Whether a program follows the store, or has lately read it or asked for a comparison with the hub.
  mutating func needHints() -> Bool {
    areFollowing() || Self.isRecent(location.liveRead, &read, Self.readerLifetime)
      || Self.isRecent(location.liveAsked, &asked, Self.readerLifetime)
  }

  private static func isRecent(
    _ file: String, _ last: inout (touched: Timestamp, seenAt: Int64)?, _ lifetime: Int64
  ) -> Bool {
    guard let touched = FileStatus(file)?.modified else { return false }
    let now = monotonicMicroseconds()
    if touched != last?.touched {
      let age = last == nil ? abs(Timestamp.now.microseconds - touched.microseconds) : 0
      last = (touched, now - min(age, lifetime))
    }
    return last.map { now - $0.seenAt < lifetime } ?? false
  }
}
