package import DMKit
internal import DMSystem

/// Shows and hides the typing signal of the user; `deinit` hides it.
package struct ShownTyping: ~Copyable {
  private let signal: TypingSignal?
  private var isOn = false
  private var shown: Timestamp?
  private var refresh: Int64 = 0

  /// - Parameter signal: nil if no other user may see it.
  package init(_ signal: TypingSignal?) { self.signal = signal }

  deinit { if isOn { signal?.hide(unlessShownSince: shown) } }

  /// Shows typing, shows it again before it expires, or hides it.
  package mutating func show(_ isWanted: Bool) {
    let now = monotonicMicroseconds()
    if isWanted, !isOn || now >= refresh {
      shown = signal?.show()
      refresh = now + TypingSignal.refresh.microseconds
    } else if !isWanted, isOn {
      signal?.hide(unlessShownSince: shown)
    }
    isOn = isWanted
  }

  /// When typing must be shown again, in `monotonicMicroseconds`; `.max` while it is hidden.
  package var due: Int64 { isOn ? refresh : .max }
}
