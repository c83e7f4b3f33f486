package import DMKit
internal import DMSystem

/// Shows and hides the typing signal of the user; it is hidden when this value's lifetime ends.
package struct ShownTyping: ~Copyable {
  private let messenger: Messenger
  private let signal: TypingSignal?
  /// When the signal was last hidden and then shown, as a time of `monotonicMicroseconds`.
  private var start: Int64 = 0
  private var isOn = false
  private var shown: Timestamp?
  private var refresh: Int64 = 0

  /// - Parameter signal: nil if no other user may see the signal.
  package init(_ signal: TypingSignal?, of messenger: Messenger) { (self.signal, self.messenger) = (signal, messenger) }

  deinit { if isOn { hide() } }

  private func hide() {
    guard let signal else { return }
    signal.hide(unlessShownSince: shown)
    messenger.reportTyping(for: monotonicMicroseconds() - start)
  }

  /// Shows or hides the typing signal; a call that keeps it shown also renews it before it expires.
  package mutating func show(_ isWanted: Bool) {
    let now = monotonicMicroseconds()
    if isWanted, !isOn { start = now }
    if isWanted, !isOn || now >= refresh {
      shown = signal?.show()
      refresh = now + TypingSignal.refresh.microseconds
    } else if !isWanted, isOn {
      hide()
    }
    isOn = isWanted
  }

  /// When typing must be shown again, as a time of `monotonicMicroseconds`; `.max` while it is hidden.
  package var due: Int64 { isOn ? refresh : .max }
}

/// Decides from the times of the keystrokes whether typing is shown: from 300 ms after the first until 4 s after the
/// last.
package struct KeystrokeClock {
  private var first: Int64?
  private var last: Int64 = 0

  package init() {}

  static let delay: Int64 = 300_000
  static let idleTimeout: Int64 = 4_000_000

  package mutating func strike(at time: Int64) {
    if first == nil || time - last >= Self.idleTimeout { first = time }
    last = time
  }

  /// Stops showing typing until the next key, for example because the line was sent.
  package mutating func stop() { first = nil }

  package mutating func isShowing(at time: Int64) -> Bool {
    if time - last >= Self.idleTimeout { first = nil }
    return first.map { time - $0 >= Self.delay } ?? false
  }

  /// The time at which `isShowing` changes if no key is typed; nil if only a key can change it.
  package func due(after time: Int64) -> Int64? {
    guard let first else { return nil }
    return time < first + Self.delay ? first + Self.delay : last + Self.idleTimeout
  }
}
