internal import DMKit

/// Escapes a name from a store, or a line with such names, for a terminal: as a text, and invisible characters too, as
/// `\u{200B}`, so that two names never look the same.
package func visible(_ name: String) -> String {
  let scalars = Array(name.unicodeScalars)
  return visible(name, indent: nil) { isInvisible(at: $0, of: scalars) }
}

/// Escapes a text from a store for a terminal: control characters are written as `\u{9B}`, and a character keeps at
/// most eight combining marks.
///
/// The lines after the first are indented, so that none of them looks like a line of ours.
package func visible(_ text: String, indent: String?) -> String { visible(text, indent: indent) { _ in false } }

private func visible(_ text: String, indent: String?, isSpelled: (Int) -> Bool) -> String {
  var result = String.UnicodeScalarView()
  var marks = 0
  for (place, scalar) in text.unicodeScalars.enumerated() {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark:
      marks += 1
      if marks > 8 { continue }
    // Marks after a zero-width joiner still count for the character before it.
    case .format: break
    default: marks = 0
    }
    if scalar == "\n", let indent {
      result.append(scalar)
      result.append(contentsOf: indent.unicodeScalars)
    } else if scalar == "\t" {
      result.append(contentsOf: "    ".unicodeScalars)
    } else if isHidden(scalar) || (0xE0000...0xE007F).contains(scalar.value) || isSpelled(place) {
      result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
    } else {
      result.append(scalar)
    }
  }
  return String(result)
}
