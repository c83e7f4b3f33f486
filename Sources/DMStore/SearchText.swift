/// Texts as the search index takes them.
package enum SearchText {
  /// Stands around each character that is a word: the unit separator, which the tokenizer takes for a space.
  package static let mark: Unicode.Scalar = "\u{1F}"

  /// What the index makes of a character.
  package enum Kind {
    /// What the tokenizer makes of it.
    case plain
    /// A word by itself, because words of its script are not set apart.
    case alone
    /// A space.
    ///
    /// The tokenizer knows the characters of about 2012: an emoji that is newer would be a letter of the word before it.
    case space
  }

  package static func kind(of scalar: UInt32) -> Kind {
    switch scalar {
    case ..<0xE00: .plain
    // Thai, Lao; Burmese; Hangul in parts; Khmer.
    case 0xE00...0xEFF, 0x1000...0x109F, 0x1100...0x11FF, 0x1780...0x17FF: .alone
    // Currencies; emoji.
    case 0x20A0...0x20CF, 0x1F000...0x1FAFF: .space
    // Marks of iteration and zero; kana, Bopomofo, letters of Hangul; Han; Hangul.
    case 0x3005...0x3007, 0x3040...0x31FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3: .alone
    // Han and kana again, for the sake of older character sets; rarer Han.
    case 0xF900...0xFAFF, 0xFF66...0xFF9F, 0x20000...0x3FFFF: .alone
    default: .plain
    }
  }

  /// Whether words of its script are not set apart by spaces.
  package static func standsAlone(_ scalar: Unicode.Scalar) -> Bool { kind(of: scalar.value) == .alone }

  /// The text of which the words are indexed.
  ///
  /// Most texts have plain characters only and come back as they are, after one look at their bytes.
  package static func indexed(_ text: String) -> String {
    var text = text
    return text.withUTF8 { bytes in
      guard let first = firstSpecial(in: bytes) else { return nil }
      return String(decoding: setApart(bytes, from: first), as: UTF8.self)
    } ?? text
  }

  private static func firstSpecial(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    var index = 0
    while index < bytes.count {
      // What is encoded in one byte or two is plain.
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

  /// The character of three or four bytes that begins there; a String's are well formed.
  private static func scalar(in bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> UInt32 {
    func tail(_ offset: Int) -> UInt32 { UInt32(bytes[index + offset] & 0x3F) }
    let lead = UInt32(bytes[index])
    return lead < 0xF0
      ? (lead & 0x0F) << 12 | tail(1) << 6 | tail(2)
      : (lead & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3)
  }

  /// Whether the index keeps anything of it: a letter, a digit, or a character for private use.
  static func isWord(_ scalar: Unicode.Scalar) -> Bool {
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
