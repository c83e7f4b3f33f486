internal import DMCLI

/// What the user writes, with what was put there for them.
struct Composition {
  private(set) var line = EditedLine()
  /// `/edit` of a message of the user, which the key Up has put into the line; it is nothing that the user has written.
  private(set) var offered: (text: String, number: Int)?
  /// The draft that was in the line at the beginning; another one was left by another window.
  let loadedDraft: String?
  private var keystrokes = KeystrokeClock()

  /// - Parameter draft: what the user had begun to write before.
  init(draft: String?) {
    loadedDraft = draft
    if let draft { line.replace(draft) }
  }

  var isOffered: Bool { line.text == offered?.text }

  /// What is kept as the draft at the end; nil for nothing but white space.
  var draft: String? {
    let text = isOffered ? "" : line.text
    return text.allSatisfy(\.isWhitespace) ? nil : text
  }

  /// - Returns: whether the key changed or moved something.
  mutating func apply(_ key: Key) -> Bool { line.apply(key) }

  mutating func complete(_ count: Int, with text: String) { line.replaceBeforeCursor(count, with: text) }

  /// Puts a line there that edits a message.
  mutating func offer(_ text: String, of number: Int) {
    let command = "/edit \(number) \(text)"
    offered = (command, number)
    line.replace(command)
  }

  mutating func dropOffer() { if isOffered { line.replace("") } }

  /// Empties the line after Enter; it stays in the history.
  mutating func finish() {
    _ = line.take()
    keystrokes.stop()
  }

  // MARK: Typing

  /// A key has done its work; commands but `/reply` are no typing.
  ///
  /// - Parameter before: the text before the key.
  mutating func strike(after before: String, at time: Int64) {
    if line.isEmpty {
      keystrokes.stop()
    } else if line.text != before, !line.text.hasPrefix("/") || line.text.hasPrefix("/reply ") {
      keystrokes.strike(at: time)
    }
  }

  /// Typing does not show until the next key.
  mutating func pause() { keystrokes.stop() }

  /// Whether others are shown that the user is typing.
  mutating func isTyping(at time: Int64) -> Bool { keystrokes.isShowing(at: time) }

  /// When that may change without a key, on the monotonic clock.
  func typingDue(after time: Int64) -> Int64 { keystrokes.due(after: time) ?? .max }
}
