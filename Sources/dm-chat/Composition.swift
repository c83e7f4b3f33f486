internal import DMCLI

/// The line that the user is writing, or that was filled in for them.
struct Composition {
  var line = EditedLine()
  /// The `/edit` command that was put into the line for the user.
  ///
  /// Until the user changes it, it is not saved as a draft.
  private(set) var offered: (text: String, number: Int)?
  /// The draft that was loaded into the line; nil after it was removed.
  ///
  /// If the stored draft differs from this one, another program has saved the stored draft.
  private(set) var loadedDraft: String?
  private var keystrokes = KeystrokeClock()
  /// The search with Ctrl-R among the texts that were entered; nil if there is none.
  private(set) var search: HistorySearch?

  /// - Parameters:
  ///   - draft: the saved unsent text.
  ///   - entered: the texts that Ctrl-R and Ctrl-P find, oldest first.
  init(draft: String?, entered: [String] = []) {
    loadedDraft = draft
    line = EditedLine(taken: entered)
    if let draft { line.replace(draft) }
  }

  /// Applies a key to the search among the texts that were entered, or begins a search.
  ///
  /// - Returns: false if there is no search, or if the key ends it and must still be applied.
  mutating func search(_ key: Key) -> Bool {
    if search == nil {
      if key == .searchHistory { search = HistorySearch(line) }
      return key == .searchHistory
    }
    guard let result = search?.apply(key) else { return false }
    switch result {
    case .goesOn(let text): line.replace(text)
    case .taken: search = nil
    case .ended:
      search = nil
      return false
    case .cancelled(let text):
      search = nil
      line.replace(text)
    }
    return true
  }

  /// Ends the search, and restores the line.
  ///
  /// - Returns: false if there is no search.
  mutating func endSearch() -> Bool {
    if search == nil { return false }
    return search(.escape)
  }

  var isOffered: Bool { line.text == offered?.text }

  /// The text to save as the draft when the user leaves; nil if it has only white space, or is the unchanged `offered`.
  var draft: String? {
    let text = isOffered ? "" : line.text
    return text.allSatisfy(\.isWhitespace) ? nil : text
  }

  /// Replaces the line with an `/edit` command for a message.
  mutating func offer(_ text: String, of number: Int) {
    let command = "/edit \(number) \(text)"
    offered = (command, number)
    line.replace(command)
  }

  mutating func dropOffer() { if isOffered { line.replace("") } }

  /// Empties the line after Enter; its text stays in the history of entered lines.
  mutating func finish() {
    _ = line.take()
    search = nil
    keystrokes.stop()
  }

  /// Notes that the stored draft was removed.
  mutating func forgetLoadedDraft() { loadedDraft = nil }

  /// Adds the keys that were typed after Enter to the user's text, on a new line.
  ///
  /// Called when the action of Enter has failed, because the user typed these keys before they could see the failure.
  ///
  /// An Enter among these keys becomes a line break, or is dropped if it is the last key.
  mutating func add(ahead keys: [Key]) {
    _ = line.apply(.end)
    _ = line.apply(.newline)
    for key in keys.last == .enter ? keys.dropLast() : keys { _ = line.apply(key == .enter ? .newline : key) }
  }

  // MARK: Typing

  /// Notes a key that was typed; commands other than `/reply` do not count as typing.
  ///
  /// - Parameter before: the text of the line before the key was typed.
  mutating func strike(after before: String, at time: Int64) {
    if search != nil { return }
    if line.isEmpty {
      keystrokes.stop()
    } else if line.text != before, !line.text.hasPrefix("/") || line.text.hasPrefix("/reply ") {
      keystrokes.strike(at: time)
    }
  }

  /// Stops showing that the user is typing, until the next key.
  mutating func pause() { keystrokes.stop() }

  /// Whether others see that the user is typing.
  mutating func isTyping(at time: Int64) -> Bool { keystrokes.isShowing(at: time) }

  /// The time, on the monotonic clock, at which `isTyping` may change without a key.
  func typingDue(after time: Int64) -> Int64 { keystrokes.due(after: time) ?? .max }
}
