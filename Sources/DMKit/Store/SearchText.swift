/// Texts and queries as the search index takes them.
enum SearchText {
  /// Stands around each character of a script without spaces: the unit separator, which the tokenizer takes for a space.
  static let mark: Unicode.Scalar = "\u{1F}"

  /// Whether words of its script are not set apart, so that each character is a word of the index.
  static func standsAlone(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case ..<0xE00: false
    // Thai, Lao; Burmese; Khmer.
    case 0xE00...0xEFF, 0x1000...0x109F, 0x1780...0x17FF: true
    // Marks of iteration and zero, kana, Han, Hangul.
    case 0x3005...0x3007, 0x3040...0x30FF, 0x31F0...0x31FF, 0x3400...0x4DBF, 0x4E00...0x9FFF: true
    case 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFF66...0xFF9F, 0x20000...0x3FFFF: true
    default: false
    }
  }

  /// The text of which the words are indexed.
  static func indexed(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0xE0 && $0 != 0x1F }) { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if standsAlone(scalar) {
        result.append(mark)
        result.append(scalar)
        result.append(mark)
      } else {
        result.append(scalar == mark ? " " : scalar)
      }
    }
    return String(result)
  }
}
