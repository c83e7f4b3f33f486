internal import DMKit

/// A command line up to the cursor, split into words as bash splits it; nothing in the line is evaluated.
struct ShellLine {
  /// The words without their quotes; the last one ends at the cursor, and is empty after a space.
  private(set) var words: [String] = []
  /// The last word as it was typed.
  private(set) var raw = ""
  /// The quote that is open at the cursor.
  private(set) var quote: Unicode.Scalar?

  init(_ line: String) {
    var word: String.UnicodeScalarView?
    var typed = String.UnicodeScalarView()
    var rest = line.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      typed.append(scalar)
      switch (scalar, quote) {
      case (" ", nil), ("\t", nil), ("\n", nil):
        if let word { words.append(String(word)) }
        word = nil
        typed = String.UnicodeScalarView()
        continue
      case ("'", nil), ("\"", nil): quote = scalar
      case (_, let open?) where scalar == open: quote = nil
      case ("\\", nil), ("\\", "\""):
        guard let next = rest.popFirst() else { break }
        typed.append(next)
        // Within double quotes, a backslash before other characters is an ordinary backslash.
        if quote != nil, !"$`\"\\\n".unicodeScalars.contains(next) { word = (word ?? .init()) + [scalar] }
        word = (word ?? .init()) + [next]
        continue
      default:
        word = (word ?? .init()) + [scalar]
        continue
      }
      word = word ?? .init()
    }
    words.append(word.map { String($0) } ?? "")
    raw = String(typed)
  }

  /// The text that bash must insert instead of `part`, so that the last word becomes `value`; nil if that is
  /// impossible.
  ///
  /// - Parameter part: the part of the last word that bash replaces. In `bob:4`, this is only the `4`. An open quote is
  ///   never part of it.
  func insertion(of value: String, replacing part: String) -> String? {
    guard raw.utf8.suffix(part.utf8.count).elementsEqual(part.utf8) else { return nil }
    let kept = ShellLine(String(Substring(raw.utf8.dropLast(part.utf8.count))))
    let keptWord = kept.words[kept.words.count - 1]
    guard value.utf8.starts(with: keptWord.utf8) else { return nil }
    return quoted(String(Substring(value.utf8.dropFirst(keptWord.utf8.count))), within: kept.quote)
  }
}

/// A text that is escaped for bash, for use inside the open quote if there is one.
private func quoted(_ text: String, within quote: Unicode.Scalar?) -> String {
  var result = ""
  for scalar in text.unicodeScalars {
    switch (scalar, quote) {
    case ("'", "'"): result += "'\\''"
    // Within double quotes, bash keeps the backslash that escapes `!`: bash(1), QUOTING.
    case ("!", "\""): result += "\"\\!\""
    case ("$", "\""), ("`", "\""), ("\"", "\""), ("\\", "\""): result += "\\\(scalar)"
    case (_, nil) where scalar.isASCII && !isPlain(scalar): result += "\\\(scalar)"
    default: result.unicodeScalars.append(scalar)
    }
  }
  // Bash adds the closing quote itself, but not if the text ends with the same character. In this case, the quote is
  // added here.
  if let quote, result.unicodeScalars.last == quote { result.unicodeScalars.append(quote) }
  return result
}

/// Whether an ASCII character needs no escape outside quotes in bash.
private func isPlain(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar {
  case "a"..."z", "A"..."Z", "0"..."9", "_", "-", "+", ".", ",", "/", ":", "@", "%", "=": true
  default: false
  }
}
