/// Prepares texts for the search index.
package enum SearchText {
  /// The separator that is put before and after each character that is a word by itself.
  ///
  /// The separator is U+001F (unit separator), which the tokenizer treats as a space.
  package static let mark: Unicode.Scalar = "\u{1F}"

  /// How a character is indexed.
  package enum Kind {
    /// The character is indexed as it is: the tokenizer decides whether it is part of a word.
    case plain
    /// The character is a word by itself: spaces do not separate the words of its script, or not all, as in Korean.
    case alone
    /// The character is indexed as a space.
    ///
    /// The tokenizer has Unicode data of about 2012, and would treat a newer emoji as a letter of the word before it.
    case space
  }

  package static func kind(of scalar: UInt32) -> Kind {
    switch scalar {
    case ..<0xE00: .plain
    // Thai, Lao; Burmese; Hangul Jamo; Khmer.
    case 0xE00...0xEFF, 0x1000...0x109F, 0x1100...0x11FF, 0x1780...0x17FF: .alone
    // Currency signs; emoji.
    case 0x20A0...0x20CF, 0x1F000...0x1FAFF: .space
    // Iteration marks and the ideographic zero; kana, Bopomofo, Hangul letters; Han; Hangul syllables.
    case 0x3005...0x3007, 0x3040...0x31FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3: .alone
    // Han and kana for compatibility with older character sets; rarer Han.
    case 0xF900...0xFAFF, 0xFF66...0xFF9F, 0x20000...0x3FFFF: .alone
    default: .plain
    }
  }

  /// Whether a character is a word by itself; see `Kind.alone`.
  package static func standsAlone(_ scalar: Unicode.Scalar) -> Bool { kind(of: scalar.value) == .alone }

  /// Returns a text with the separators and spaces that the tokenizer needs.
  ///
  /// Most texts have only characters of the kind `plain`. Such a text is returned unchanged, after one pass over its
  /// bytes.
  package static func indexed(_ text: String) -> String {
    var text = text
    return text.withUTF8 { bytes in
      guard let first = firstSpecial(in: bytes) else { return nil }
      return String(decoding: setApart(bytes, from: first), as: UTF8.self)
    } ?? text
  }

  private static func firstSpecial(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    let words = UnsafeRawBufferPointer(bytes)
    var index = 0
    // Skips ASCII characters, eight bytes at a time.
    while index + 8 <= bytes.count,
      words.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
    {
      index += 8
    }
    while index < bytes.count {
      // A character that UTF-8 encodes in one or two bytes is below U+0800, and so has the kind `plain`.
      if bytes[index] < 0xE0 {
        index += 1
      } else if kind(of: scalar(in: bytes, at: index)) != .plain {
        return index
      } else {
        index += 3
      }
    }
    return nil
  }

  private static func setApart(_ bytes: UnsafeBufferPointer<UInt8>, from first: Int) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count * 2)
    result += bytes[..<first]
    let mark = UInt8(ascii: mark)
    var index = first
    while index < bytes.count {
      guard bytes[index] >= 0xE0 else {
        result.append(bytes[index])
        index += 1
        continue
      }
      let end = index + (bytes[index] < 0xF0 ? 3 : 4)
      switch kind(of: scalar(in: bytes, at: index)) {
      case .plain: result += bytes[index..<end]
      case .space: result.append(mark)
      case .alone:
        result.append(mark)
        result += bytes[index..<end]
        result.append(mark)
      }
      index = end
    }
    return result
  }

  /// Decodes the character of three or four bytes at an index.
  ///
  /// The bytes of a String are always valid UTF-8.
  private static func scalar(in bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> UInt32 {
    func tail(_ offset: Int) -> UInt32 { UInt32(bytes[index + offset] & 0x3F) }
    let lead = UInt32(bytes[index])
    return lead < 0xF0
      ? (lead & 0x0F) << 12 | tail(1) << 6 | tail(2)
      : (lead & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3)
  }

  static func isASCII(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }

  /// Whether a character is part of a word in the index: a letter, a digit, or a private-use character.
  package static func isWord(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII {
      return switch scalar {
      case "0"..."9", "A"..."Z", "a"..."z": true
      default: false
      }
    }
    if kind(of: scalar.value) == .space { return false }
    return switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
    case .decimalNumber, .letterNumber, .otherNumber, .privateUse: true
    default: false
    }
  }
}
