internal import DMModel

/// A search among the texts that were entered into a line, as Ctrl-R in readline.
package struct HistorySearch {
  /// What a key has done.
  package enum Result: Equatable {
    /// The line shows this text.
    case goesOn(String)
    /// The search has ended, and the line keeps the text that was found.
    case taken
    /// As `taken`, but the key must still be applied to the line.
    case ended
    /// The search has ended, and the line has the text from before the search.
    case cancelled(String)
  }

  /// What the user looks for.
  package private(set) var words = ""
  /// Whether a text has these words.
  package private(set) var isFound = true
  private let entered: [String]
  private let before: String
  /// How many newer texts with these words were skipped.
  private var skipped = 0

  package init(_ line: EditedLine) {
    (entered, before) = (Array(line.entered), line.text)
  }

  package mutating func apply(_ key: Key) -> Result {
    switch key {
    case .character(let character): look(for: words + String(character))
    case .paste(let text): look(for: words + text)
    case .backspace: look(for: String(words.dropLast()))
    case .searchHistory: if found(skipped + 1) != nil { skipped += 1 }
    case .enter, .tab: return .taken
    case .escape: return .cancelled(before)
    default: return .ended
    }
    let text = found(skipped)
    isFound = words.isEmpty || text != nil
    return .goesOn(text ?? before)
  }

  private mutating func look(for words: String) { (self.words, skipped) = (words, 0) }

  /// The newest text with the words, after this many different ones; case is ignored.
  private func found(_ count: Int) -> String? {
    if words.isEmpty { return nil }
    let wanted = words.lowercased()
    var seen: Set<String> = []
    for text in entered where text.lowercased().contains(text: wanted) && seen.insert(text).inserted {
      if seen.count > count { return text }
    }
    return nil
  }
}
