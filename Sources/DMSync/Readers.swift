internal import DMModel
internal import DMStore
internal import DMSystem

/// Finds out whether programs on this machine read a linked store now.
///
/// Each such program touches a file. A touch counts for a fixed time after this process has noticed it; a touch from
/// before this process began counts for this time after the file was modified.
struct Readers {
  private var followed: Touched
  private var read: Touched
  private var asked: Touched

  init(_ location: StoreLocation) {
    // A follower touches its file every 5 seconds; a program that reads once may soon be called again.
    followed = Touched(location.liveFollowed, lifetime: 45_000_000)
    read = Touched(location.liveRead, lifetime: 60_000_000)
    asked = Touched(location.liveAsked, lifetime: 60_000_000)
  }

  /// Whether a program follows the store.
  mutating func areFollowing() -> Bool { followed.isRecent() }

  /// Whether a program follows the store, or has lately read it or asked for a comparison with the hub.
  mutating func needHints() -> Bool { followed.isRecent() || read.isRecent() || asked.isRecent() }
}

/// A file that programs touch.
private struct Touched {
  private let file: String
  /// How long a touch counts, in microseconds.
  private let lifetime: Int64
  private var last: (touched: Timestamp, seenAt: Int64)?

  init(_ file: String, lifetime: Int64) {
    self.file = file
    self.lifetime = lifetime
  }

  mutating func isRecent() -> Bool {
    guard let touched = FileStatus(file)?.modified else { return false }
    let now = monotonicMicroseconds()
    if touched != last?.touched {
      let age = last == nil ? abs(Timestamp.now.microseconds - touched.microseconds) : 0
      last = (touched, now - min(age, lifetime))
    }
    return last.map { now - $0.seenAt < lifetime } ?? false
  }
}
