/// Decides when a message is shown as a notification: if the user has pressed no key for ten seconds, and at most once in
/// three seconds.
struct Notifier {
  private var lastKey: Int64?
  private var last: Int64?

  /// Notes a key, which shows that the user looks at the window; the time is that of `monotonicMicroseconds`.
  mutating func noteKey(at time: Int64) { lastKey = time }

  /// Whether to notify now; if so, notes that this was done.
  mutating func mayNotify(at time: Int64) -> Bool {
    if let lastKey, time - lastKey < 10_000_000 { return false }
    if let last, time - last < 3_000_000 { return false }
    last = time
    return true
  }
}
