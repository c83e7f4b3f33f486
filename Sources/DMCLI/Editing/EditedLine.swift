/// A text with a cursor, edited key by key as in readline, with a history of earlier texts.
///
/// Keys act on grapheme clusters, which readers see as single characters.
package struct EditedLine {
  private(set) var before: String
  private(set) var after = ""
  /// The texts that `take` has returned, oldest first, without empty texts and without a text that repeats the one
  /// before it.
  private var taken: [String] = []
  /// The texts of `taken`, and a new text at the end; the user may edit each of them until the next `take`.
  private var history = [""]
  /// The index in the history of the text that is edited now.
  private var historyIndex = 0
  /// The deleted text that `yank` inserts.
  private var killed = ""
  /// Whether the last key deleted text into `killed`, so that the next deletion is added to `killed`.
  private var isKilling = false

  /// - Parameter taken: texts that were entered earlier, oldest first, for the history.
  package init(_ text: String = "", taken: [String] = []) {
    before = text
    for text in taken where self.taken.last != text { self.taken.append(text) }
    history = self.taken + [text]
    historyIndex = self.taken.count
  }

  /// The texts that were entered, the newest first.
  package var entered: ReversedCollection<[String]> { taken.reversed() }

  package var text: String { before + after }
  package var isEmpty: Bool { before.isEmpty && after.isEmpty }
  package var textBeforeCursor: String { before }

  /// Replaces the whole text; the cursor goes to its end.
  package mutating func replace(_ text: String) {
    (before, after, isKilling) = (text, "", false)
  }

  /// Replaces the last characters before the cursor, for completions.
  package mutating func replaceBeforeCursor(_ count: Int, with text: String) {
    before = before.dropLast(count) + text
    isKilling = false
  }

  /// Empties the line and returns its text.
  ///
  /// The text is added to the history if it is not empty and not the same as the last text there.
  package mutating func take() -> String {
    let text = text
    if !text.isEmpty, taken.last != text { taken.append(text) }
    history = taken + [""]
    historyIndex = taken.count
    replace("")
    return text
  }

  /// Applies a key to the line.
  ///
  /// - Returns: whether the text or the cursor changed; false for keys that the caller handles: Enter, TAB, Escape,
  ///   Page Up and Page Down, Ctrl-L, Ctrl-R, Alt-A, and Ctrl-D on an empty line.
  package mutating func apply(_ key: Key) -> Bool {
    let wasKilling = isKilling
    isKilling = false
    switch key {
    case .character(let character): return insert(String(character))
    case .paste(let text): return insert(text)
    case .newline: return insert("\n")
    case .yank: return insert(killed)
    case .backspace: return before.popLast() != nil
    case .delete, .endOfInput: return delete()
    case .left: return moveLeft(to: before.index(before.endIndex, offsetBy: -1, limitedBy: before.startIndex))
    case .right: return moveRight(to: after.index(after.startIndex, offsetBy: 1, limitedBy: after.endIndex))
    case .home: return moveLeft(to: before.startOfLastLine)
    case .end: return moveRight(to: after.endOfFirstLine)
    case .wordLeft: return moveLeft(to: before.startOfLastWord(where: \.isAlphanumeric))
    case .wordRight: return moveRight(to: after.endOfFirstWord)
    case .up: return moveUp() || recall(historyIndex - 1)
    case .down: return moveDown() || recall(historyIndex + 1)
    case .previous: return recall(historyIndex - 1)
    case .next: return recall(historyIndex + 1)
    case .deleteWordLeft: return killLeft(to: before.startOfLastWord { !$0.isWhitespace }, wasKilling)
    case .deleteWordRight: return killRight(to: after.endOfFirstWord, wasKilling)
    case .deleteToStart: return killLeft(to: before.startOfLastLine, wasKilling)
    case .deleteToEnd: return killRight(to: after.endOfFirstLine, wasKilling)
    case .enter, .tab, .escape, .pageUp, .pageDown, .redraw, .searchHistory, .nextUnread: return false
    }
  }

  private mutating func insert(_ text: String) -> Bool {
    before += text
    return !text.isEmpty
  }

  private mutating func delete() -> Bool {
    guard !after.isEmpty else { return false }
    after.removeFirst()
    return true
  }

  private mutating func moveLeft(to index: String.Index?) -> Bool {
    guard let index, index < before.endIndex else { return false }
    after = before[index...] + after
    before = String(before[..<index])
    return true
  }

  private mutating func moveRight(to index: String.Index?) -> Bool {
    guard let index, index > after.startIndex else { return false }
    before += after[..<index]
    after = String(after[index...])
    return true
  }

  /// Deletes from an index to the cursor, at least one character: at the start of a line, this is the line feed before the
  /// cursor.
  private mutating func killLeft(to index: String.Index, _ wasKilling: Bool) -> Bool {
    isKilling = wasKilling
    guard !before.isEmpty else { return false }
    let index = min(index, before.index(before: before.endIndex))
    killed = before[index...] + (wasKilling ? killed : "")
    before = String(before[..<index])
    isKilling = true
    return true
  }

  /// Deletes from the cursor to an index, at least one character: at the end of a line, this is the line feed.
  private mutating func killRight(to index: String.Index, _ wasKilling: Bool) -> Bool {
    isKilling = wasKilling
    guard !after.isEmpty else { return false }
    let index = max(index, after.index(after: after.startIndex))
    killed = (wasKilling ? killed : "") + after[..<index]
    after = String(after[index...])
    isKilling = true
    return true
  }

  // MARK: Lines and history

  private mutating func moveUp() -> Bool {
    let start = before.startOfLastLine
    guard start > before.startIndex else { return false }
    let above = before[..<before.index(before: start)]
    return moveLeft(to: above[above.startOfLastLine...].index(ofColumn: columns(of: before[start...])))
  }

  private mutating func moveDown() -> Bool {
    let end = after.endOfFirstLine
    guard end < after.endIndex else { return false }
    let below = after[after.index(after: end)...]
    let column = columns(of: before[before.startOfLastLine...])
    return moveRight(to: below[..<below.endOfFirstLine].index(ofColumn: column))
  }

  private mutating func recall(_ index: Int) -> Bool {
    guard history.indices.contains(index) else { return false }
    history[historyIndex] = text
    historyIndex = index
    replace(history[index])
    return true
  }
}

extension Character {
  /// Whether this character ends a line of a text; CR LF is a single `Character`.
  var isLineFeed: Bool { self == "\n" || self == "\r\n" }

  fileprivate var isAlphanumeric: Bool { isLetter || isNumber }
}

extension StringProtocol {
  fileprivate var startOfLastLine: Index { lastIndex(where: \.isLineFeed).map(index(after:)) ?? startIndex }
  fileprivate var endOfFirstLine: Index { firstIndex(where: \.isLineFeed) ?? endIndex }

  /// The start of the last word; characters that are not part of a word may follow it.
  fileprivate func startOfLastWord(where isOfWord: (Character) -> Bool) -> Index {
    guard let last = lastIndex(where: isOfWord) else { return startIndex }
    return self[..<last].lastIndex { !isOfWord($0) }.map(index(after:)) ?? startIndex
  }

  /// The end of the first word; characters that are not part of a word may precede it.
  fileprivate var endOfFirstWord: Index {
    guard let first = firstIndex(where: \.isAlphanumeric) else { return endIndex }
    return self[first...].firstIndex { !$0.isAlphanumeric } ?? endIndex
  }

  /// The last index for which the text before it takes at most `column` columns.
  fileprivate func index(ofColumn column: Int) -> Index {
    var (index, rest) = (startIndex, column)
    while index < endIndex {
      rest -= columns(of: String(self[index]))
      if rest < 0 { break }
      index = self.index(after: index)
    }
    return index
  }
}
