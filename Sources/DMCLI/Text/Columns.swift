/// How many columns a text takes on a terminal.
///
/// - Complexity: O(*n*); ASCII needs no look-up in a table.
package func columns(of text: some StringProtocol) -> Int { sum(text, columns) }

/// The maximum number of columns that a text has on any terminal.
///
/// Terminals differ in the width of emoji made of several code points.
func mostColumns(of text: some StringProtocol) -> Int { sum(text, mostColumns) }

private func sum(_ text: some StringProtocol, _ columns: (Character) -> Int) -> Int {
  if isASCII(text) { return text.utf8.count }
  return text.reduce(0) { $0 + columns($1) }
}

/// The width of a character on a terminal that supports grapheme clusters (UAX #29).
private func columns(_ character: Character) -> Int {
  let scalars = character.unicodeScalars
  guard scalars.count > 1, let first = scalars.first else { return mostColumns(character) }
  let isPicture =
    // An emoji variation selector, a flag of two letters, a skin tone, or several joined emoji (UTS #51).
    scalars.contains("\u{FE0F}") || 0x1F1E6...0x1F1FF ~= first.value
    || scalars.contains { 0x1F3FB...0x1F3FF ~= $0.value }
    || first.properties.isEmojiPresentation && scalars.contains("\u{200D}")
  return isPicture ? 2 : mostColumns(character)
}

/// The width of a character on a terminal that adds up the widths of its code points.
///
/// With an emoji variation selector, the width is at least 2.
private func mostColumns(_ character: Character) -> Int {
  let scalars = character.unicodeScalars
  let sum = scalars.reduce(0) { $0 + columns(of: $1) }
  return scalars.contains("\u{FE0F}") ? max(2, sum) : sum
}

private func columns(of scalar: Unicode.Scalar) -> Int {
  let value = scalar.value
  if value < 0x300 { return value < 0x20 || 0x7F...0x9F ~= value ? 0 : 1 }
  // The vowels and the final consonants of Hangul take no column, because they join the letter before them.
  if 0x1160...0x11FF ~= value { return 0 }
  switch scalar.properties.generalCategory {
  case .nonspacingMark, .enclosingMark: return 0
  // Some Arabic format characters are visible signs for numbers, and take a column.
  case .format: return scalar.properties.isDefaultIgnorableCodePoint ? 0 : 1
  // Hexagrams and circled numbers on black squares are not in `wideCharacters`, but are wide on terminals.
  default: return isWide(value) || 0x4DC0...0x4DFF ~= value || 0x3248...0x324F ~= value ? 2 : 1
  }
}

private func isWide(_ value: UInt32) -> Bool {
  guard value >= wideCharacters[0].first else { return false }
  var (low, high) = (0, wideCharacters.count - 1)
  while low < high {
    let middle = (low + high + 1) / 2
    if wideCharacters[middle].first <= value { low = middle } else { high = middle - 1 }
  }
  return value <= wideCharacters[low].last
}

/// A text that is cut to at most `width` columns; a text that was cut ends in an ellipsis.
package func cut(_ text: String, _ width: Int) -> String {
  if text.utf8.count <= width || mostColumns(of: text) <= width { return text }
  var (taken, rest) = (text.startIndex, max(0, width - 1))
  while taken < text.endIndex {
    rest -= mostColumns(text[taken])
    if rest < 0 { break }
    taken = text.index(after: taken)
  }
  return text[..<taken] + "…"
}

/// A text that is cut, or padded with spaces on its right, to exactly this width.
package func left(_ text: String, _ width: Int) -> String {
  let text = cut(text, width)
  return text + String(repeating: " ", count: max(0, width - columns(of: text)))
}

/// A text that is padded with spaces on its left to a width; a longer text is not cut.
package func right(_ text: String, _ width: Int) -> String {
  String(repeating: " ", count: max(0, width - columns(of: text))) + text
}

/// Wraps a line to a width: between words, or within a word that is longer than a line.
///
/// The lines after the first begin with an indent, so that no text of the line appears at the left edge of the
/// terminal.
func wrapped(_ line: Substring, width: Int, indent: Int) -> String {
  if line.utf8.count <= width || mostColumns(of: line) <= width { return String(line) }
  let margin = String(repeating: " ", count: min(indent, width / 2))
  var (result, column, isFirst, isBroken) = ("", 0, true, false)
  // The index of the last space at which the line can be broken.
  var space: String.Index?
  func goOn(with word: Substring = "") {
    while result.last == " " { result.removeLast() }
    result += "\n" + margin + word
    column = margin.utf8.count + mostColumns(of: word)
    (space, isFirst, isBroken) = (nil, false, false)
  }
  func add(_ character: Character, _ size: Int) {
    // Spaces at a break are not shown.
    if isBroken, character == " " { return }
    if isBroken { goOn() }
    if column + size > width, size > 0 {
      if character == " " { return isBroken = true }
      // A word that does not fit moves to the next line.
      let word = space.map { String(result[$0...].drop { $0 == " " }) } ?? ""
      if let space { result.removeSubrange(space...) }
      goOn(with: word[...])
    }
    // A line must not be broken within its own indent.
    if character == " ", column > (isFirst ? indent : margin.utf8.count) { space = result.endIndex }
    result.append(character)
    column += size
  }
  for character in line {
    let size = mostColumns(character)
    if size <= width - margin.utf8.count {
      add(character, size)
    } else {
      // The character is wider than a line, so its code points are added separately.
      for scalar in character.unicodeScalars { add(Character(scalar), mostColumns(Character(scalar))) }
    }
  }
  return result
}
