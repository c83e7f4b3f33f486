internal import DMKit

/// A name from a store, or a line that has some, as it may go to a terminal: like a text, and what is invisible stands as
/// `\u{200B}`, so that two names never look the same.
public func visible(_ name: String) -> String {
  let scalars = Array(name.unicodeScalars)
  return visible(name, indent: nil) { isInvisible(at: $0, of: scalars) }
}

/// Text from a store as it may go to a terminal: whatever could act on it stands as `\u{9B}`, and
/// no character bears more than eight marks.
///
/// In a text of several lines the others are indented, so that none can pass for a line of its own.
public func visible(_ text: String, indent: String?) -> String { visible(text, indent: indent) { _ in false } }

private func visible(_ text: String, indent: String?, isSpelled: (Int) -> Bool) -> String {
  var result = String.UnicodeScalarView()
  var marks = 0
  for (place, scalar) in text.unicodeScalars.enumerated() {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark:
      marks += 1
      if marks > 8 { continue }
    // A joiner without a width bears what follows no better.
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
