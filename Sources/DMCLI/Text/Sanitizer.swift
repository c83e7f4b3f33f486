internal import DMKit

/// Escapes a name from a store, or a line with such names, for a terminal.
///
/// A TAB becomes four spaces. Other control characters and invisible characters are written as `\u{200B}`, so that two
/// different names do not look the same because of them.
package func visible(_ name: String) -> String {
  if isOrdinary(name) { return name }
  let scalars = Array(name.unicodeScalars)
  return visible(name, indent: nil) { isInvisible(at: $0, of: scalars) }
}

/// Escapes a text from a store for a terminal.
///
/// A TAB becomes four spaces, other control characters are written as `\u{9B}`, and a character keeps at most eight
/// combining marks.
///
/// - Parameter indent: put before each line after the first, so that none of them looks like a line that dm prints; nil
///   to write line feeds as `\u{A}`.
package func visible(_ text: String, indent: String?) -> String { visible(text, indent: indent) { _ in false } }

private func visible(_ text: String, indent: String?, isSpelled: (Int) -> Bool) -> String {
  if isOrdinary(text) { return text }
  var result = String.UnicodeScalarView()
  var marks = 0
  for (index, scalar) in text.unicodeScalars.enumerated() {
    if isOrdinary(scalar.value) {
      marks = 0
      result.append(scalar)
      continue
    }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark:
      marks += 1
      if marks > 8 { continue }
    // A zero-width joiner does not reset the count of marks.
    case .format: break
    default: marks = 0
    }
    if scalar == "\n", let indent {
      result.append(scalar)
      result.append(contentsOf: indent.unicodeScalars)
    } else if scalar == "\t" {
      result.append(contentsOf: "    ".unicodeScalars)
    } else if isHidden(scalar) || isTag(scalar) || isSpelled(index) || scalar.properties.isNoncharacterCodePoint {
      result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
    } else {
      result.append(scalar)
    }
  }
  return String(result)
}

/// Whether a text has only printable ASCII.
func isASCII(_ text: some StringProtocol) -> Bool {
  text.utf8.withContiguousStorageIfAvailable { $0.allSatisfy { 0x20...0x7E ~= $0 } }
    ?? text.utf8.allSatisfy { 0x20...0x7E ~= $0 }
}

private func isOrdinary(_ text: String) -> Bool {
  isASCII(text) || text.unicodeScalars.allSatisfy { isOrdinary($0.value) }
}

/// Whether a character is always printed unchanged, so that no look-up in a Unicode table is needed.
///
/// These characters are Latin letters and signs, ideographs and Hangul syllables.
private func isOrdinary(_ value: UInt32) -> Bool {
  switch value {
  case 0x20...0x7E, 0xA1...0xAC, 0xAE...0x2FF, 0x4E00...0x9FFF, 0xAC00...0xD7A3: true
  default: false
  }
}
