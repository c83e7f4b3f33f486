/// Whether a character shows nothing of its own, so that two names with and without it look the same: the ignorable and
/// the format characters of Unicode (UAX #44), and the blank Braille pattern, but for those that are hidden anyway.
func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
  let properties = scalar.properties
  return !isHidden(scalar)
    && (properties.isDefaultIgnorableCodePoint || properties.generalCategory == .format || scalar == "\u{2800}")
}

/// Whether the character at a place of a name is invisible and changes nothing that is seen of its neighbours.
///
/// Allowed are U+FE0F after an emoji, U+200D between emoji (UTS #51, section 1.4.9), and U+200C and U+200D between
/// letters of Arabic and after a virama, which choose the shape of a letter (RFC 5892, appendix A).
public func isInvisible(at place: Int, of name: [Unicode.Scalar]) -> Bool {
  let scalar = name[place]
  guard isInvisible(scalar) else { return false }
  guard place > 0 else { return true }
  let before = name[place - 1]
  let after = place + 1 < name.count ? name[place + 1] : nil
  switch scalar {
  case "\u{FE0F}": return !isPicture(before) && after != "\u{20E3}"
  case "\u{200D}" where isPicture(before) || before == "\u{FE0F}": return after.map(isPicture) != true
  case "\u{200C}", "\u{200D}":
    let choosesShape = before.properties.canonicalCombiningClass == .virama || isArabic(before)
    return !choosesShape || after?.properties.isAlphabetic != true
  default: return true
  }
}

/// The first such character of a name, as `U+200B`; nil when there is none.
func invisibleCharacter(in name: String) -> String? {
  let scalars = Array(name.unicodeScalars)
  guard let place = scalars.indices.first(where: { isInvisible(at: $0, of: scalars) }) else { return nil }
  return codePoint(scalars[place])
}

func codePoint(_ scalar: Unicode.Scalar) -> String {
  let digits = String(scalar.value, radix: 16, uppercase: true)
  return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
}

/// Digits are emoji only as keys.
private func isPicture(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isEmoji && scalar.value >= 0x80 }

private func isArabic(_ scalar: Unicode.Scalar) -> Bool {
  scalar.properties.isAlphabetic && (0x600...0x8FF).contains(scalar.value)
}
