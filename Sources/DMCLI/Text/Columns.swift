/// How many columns a text takes on a terminal.
///
/// - Complexity: O(*n*); ASCII is counted without a table.
package func columns(of text: some StringProtocol) -> Int { sum(text, columns) }

/// How many columns a text takes at most: terminals differ in emoji that are made of several characters.
func mostColumns(of text: some StringProtocol) -> Int { sum(text, mostColumns) }

private func sum(_ text: some StringProtocol, _ columns: (Character) -> Int) -> Int {
  if isASCII(text) { return text.utf8.count }
  return text.reduce(0) { $0 + columns($1) }
}

/// What a terminal that knows grapheme clusters (UAX #29) shows for a character.
private func columns(_ character: Character) -> Int {
  let scalars = character.unicodeScalars
  guard scalars.count > 1, let first = scalars.first else { return mostColumns(character) }
  let isPicture =
    // A sign that is asked for as a picture, a flag of two letters, a skin tone, several emoji in one (UTS #51).
    scalars.contains("\u{FE0F}") || 0x1F1E6...0x1F1FF ~= first.value
    || scalars.contains { 0x1F3FB...0x1F3FF ~= $0.value }
    || first.properties.isEmojiPresentation && scalars.contains("\u{200D}")
  return isPicture ? 2 : mostColumns(character)
}

/// What a terminal shows that adds up the characters of a cluster, or the two columns of a picture if that is more.
private func mostColumns(_ character: Character) -> Int {
  let scalars = character.unicodeScalars
  let sum = scalars.reduce(0) { $0 + columns(of: $1) }
  return scalars.contains("\u{FE0F}") ? max(2, sum) : sum
}

private func columns(of scalar: Unicode.Scalar) -> Int {
  let value = scalar.value
  if value < 0x300 { return value < 0x20 || 0x7F...0x9F ~= value ? 0 : 1 }
  // The vowels and the last consonants of Hangul join the letter before them.
  if 0x1160...0x11FF ~= value { return 0 }
  switch scalar.properties.generalCategory {
  case .nonspacingMark, .enclosingMark: return 0
  // Some signs of Arabic stand around numbers, and are seen.
  case .format: return scalar.properties.isDefaultIgnorableCodePoint ? 0 : 1
  // Hexagrams and circled numbers on black squares are narrow in Unicode 14, and wide on terminals.
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

/// As much of the beginning of a text as fits, with an ellipsis if that is not all.
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

/// A text cut to a width, and spaces up to it.
func left(_ text: String, _ width: Int) -> String {
  let text = cut(text, width)
  return text + String(repeating: " ", count: max(0, width - columns(of: text)))
}

/// A text after spaces, so that it ends at a width.
func right(_ text: String, _ width: Int) -> String {
  String(repeating: " ", count: max(0, width - columns(of: text))) + text
}

/// A line as lines of a width: broken between words, or within a word that is longer.
///
/// The lines after the first begin with an indent, so that nothing in the line reaches the left edge of the terminal.
func wrapped(_ line: Substring, width: Int, indent: Int) -> String {
  if line.utf8.count <= width || mostColumns(of: line) <= width { return String(line) }
  let margin = String(repeating: " ", count: min(indent, width / 2))
  var (result, column, isFirst, isBroken) = ("", 0, true, false)
  // The last space, where the line can be broken.
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
      // The word that does not fit begins the next line.
      let word = space.map { String(result[$0...].drop { $0 == " " }) } ?? ""
      if let space { result.removeSubrange(space...) }
      goOn(with: word[...])
    }
    // A line is not broken in the spaces of its margin.
    if character == " ", column > (isFirst ? indent : margin.utf8.count) { space = result.endIndex }
    result.append(character)
    column += size
  }
  for character in line {
    let size = mostColumns(character)
    if size <= width - margin.utf8.count {
      add(character, size)
    } else {
      // It has no room on a line by itself.
      for scalar in character.unicodeScalars { add(Character(scalar), mostColumns(Character(scalar))) }
    }
  }
  return result
}
