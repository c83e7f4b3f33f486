/// Whether a character is invisible, so that names with and without it look the same.
///
/// The default-ignorable and the format characters of Unicode (UAX #44) and the blank Braille pattern are invisible,
/// except characters for which `isHidden` is true.
func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
  let properties = scalar.properties
  return !isHidden(scalar)
    && (properties.isDefaultIgnorableCodePoint || properties.generalCategory == .format || scalar == "\u{2800}")
}

/// Whether the character at an index of a name is invisible and does not change how the characters beside it look.
///
/// The result is false for U+FE0F after an emoji or in a keycap, and for U+200D between emoji (UTS #51, section 1.4.9).
/// The result is also false for U+200C and U+200D that are before a letter, and after an Arabic letter or a virama: there
/// they choose the shape of a letter (RFC 5892, appendix A).
package func isInvisible(at index: Int, of name: [Unicode.Scalar]) -> Bool {
  let scalar = name[index]
  guard isInvisible(scalar) else { return false }
  guard index > 0 else { return true }
  let before = name[index - 1]
  let after = index + 1 < name.count ? name[index + 1] : nil
  switch scalar {
  case "\u{FE0F}": return !isPicture(before) && after != "\u{20E3}"
  case "\u{200D}" where isPicture(before) || before == "\u{FE0F}": return after.map(isPicture) != true
  case "\u{200C}", "\u{200D}":
    let choosesShape = before.properties.canonicalCombiningClass == .virama || isArabic(before)
    return !choosesShape || after?.properties.isAlphabetic != true
  default: return true
  }
}

/// The first invisible character of a name, in the form `U+200B`; nil if there is none.
///
/// Whether a character is invisible depends on the characters beside it.
func invisibleCharacter(in name: String) -> String? {
  let scalars = Array(name.unicodeScalars)
  guard let index = scalars.indices.first(where: { isInvisible(at: $0, of: scalars) }) else { return nil }
  return codePoint(scalars[index])
}

func codePoint(_ scalar: Unicode.Scalar) -> String {
  let digits = String(scalar.value, radix: 16, uppercase: true)
  return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
}

/// Whether a character is an emoji by itself; a digit is part of an emoji only in a keycap.
private func isPicture(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isEmoji && scalar.value >= 0x80 }

private func isArabic(_ scalar: Unicode.Scalar) -> Bool {
  scalar.properties.isAlphabetic && (0x600...0x8FF).contains(scalar.value)
}
