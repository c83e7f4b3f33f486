internal import DMModel

/// The first link in a text, exactly as it is written there; nil if there is none.
///
/// A link begins with `http://` or `https://` in either case, and ends before white space, quotes, `<`, `>`, or a character
/// that is not visible. Punctuation after it, and a bracket that closes one before it, are not parts of it.
package func firstLink(in text: String) -> String? {
  let scalars = Array(text.unicodeScalars)
  var index = 0
  while let start = scalars[index...].firstIndex(where: { $0 == ":" }) {
    index = start + 1
    guard scalars[index...].prefix(2).elementsEqual(["/", "/"]), let first = schemeStart(before: start, in: scalars)
    else { continue }
    let end = scalars[start...].firstIndex(where: endsLink) ?? scalars.count
    let link = trimmed(scalars[first..<end])
    // The scheme, '://', and at least one character of a host.
    guard link.count > start - first + 3 else { continue }
    var result = String.UnicodeScalarView()
    result.append(contentsOf: link)
    return String(result)
  }
  return nil
}

/// The index at which `http` or `https` begins that ends before a colon, and is not the end of a longer word.
private func schemeStart(before colon: Int, in scalars: [Unicode.Scalar]) -> Int? {
  for scheme in ["https", "http"] {
    let start = colon - scheme.utf8.count
    guard start >= 0, zip(scalars[start..<colon], scheme.unicodeScalars).allSatisfy({ isLetter($0, $1) }) else {
      continue
    }
    let isWord = start > 0 && (scalars[start - 1].properties.isAlphabetic || ("0"..."9").contains(scalars[start - 1]))
    return isWord ? nil : start
  }
  return nil
}

/// Whether a character is a lower-case ASCII letter, or its upper case.
private func isLetter(_ scalar: Unicode.Scalar, _ letter: Unicode.Scalar) -> Bool {
  scalar == letter || scalar.value == letter.value - 32
}

private func endsLink(_ scalar: Unicode.Scalar) -> Bool {
  let properties = scalar.properties
  return properties.isWhitespace || properties.generalCategory == .control || properties.generalCategory == .format
    || "<>\"`\u{AB}\u{BB}\u{201C}\u{201D}".unicodeScalars.contains(scalar)
}

private func trimmed(_ link: ArraySlice<Unicode.Scalar>) -> ArraySlice<Unicode.Scalar> {
  var link = link
  // How many more brackets of each kind are closed than opened.
  var closed: [Unicode.Scalar: Int] = [:]
  for (open, close) in [("(", ")"), ("[", "]"), ("{", "}")] as [(Unicode.Scalar, Unicode.Scalar)] {
    closed[close] = link.count { $0 == close } - link.count { $0 == open }
  }
  while let last = link.last {
    switch last {
    case ".", ",", ";", ":", "!", "?", "'", "*", "_", "~", "|", "\u{2019}", "\u{2026}", "\u{3001}", "\u{3002}":
      link.removeLast()
    case ")", "]", "}":
      guard let count = closed[last], count > 0 else { return link }
      closed[last] = count - 1
      link.removeLast()
    default: return link
    }
  }
  return link
}
