extension String {
  /// The text without its first byte, if this byte is one of the signs: `@bob` becomes `bob`.
  ///
  /// Compares bytes, because a sign with a combining mark is another Character.
  package func without(_ signs: String) -> String {
    guard let first = utf8.first, signs.utf8.contains(first) else { return self }
    return String(Substring(utf8.dropFirst()))
  }

  /// Whether the UTF-8 of the text contains a byte.
  package func contains(byte: UInt8) -> Bool {
    utf8.withContiguousStorageIfAvailable { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      // Eight bytes at a time: after the XOR, the wanted byte is 0, and subtracting 1 from it sets its highest bit.
      let (ones, highest) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
      var offset = 0
      while offset + 8 <= bytes.count {
        let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ (ones &* UInt64(byte))
        if (word &- ones) & ~word & highest != 0 { return true }
        offset += 8
      }
      while offset < bytes.count {
        if bytes[offset] == byte { return true }
        offset += 1
      }
      return false
    } ?? utf8.contains(byte)
  }
}

/// Texts within texts, found byte for byte.
///
/// The functions of the standard library for this need its module of regular expressions, which is a tenth of the size
/// of all programs.
extension String {
  /// Whether another text occurs in this one; linear in the product of their lengths.
  package func contains(text part: String) -> Bool { self[...].range(of: part) != nil }

  /// The text with other text in place of each occurrence of `part`, which is not empty.
  package func replacing(text part: String, with other: String) -> String {
    var (result, rest) = ("", self[...])
    while let found = rest.range(of: part) {
      result += rest[..<found.lowerBound] + other
      rest = rest[found.upperBound...]
    }
    return result + rest
  }
}

extension Substring {
  /// The first occurrence of a text; nil if there is none.
  package func range(of part: String) -> Range<Index>? {
    var rest = utf8
    while !rest.starts(with: part.utf8) { if rest.popFirst() == nil { return nil } }
    return rest.startIndex..<rest.index(rest.startIndex, offsetBy: part.utf8.count)
  }
}

/// A text that is compared byte for byte.
///
/// `==` of `String` treats canonically equivalent texts as equal (Unicode Standard Annex #15), and so would confuse two
/// users, or take a different text for a duplicate.
package struct ExactString: Hashable, Sendable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (a: ExactString, b: ExactString) -> Bool {
    if a.text.utf8.count != b.text.utf8.count { return false }
    let areEqual = a.text.utf8.withContiguousStorageIfAvailable { a in
      b.text.utf8.withContiguousStorageIfAvailable { b in
        hasSameBytes(UnsafeRawBufferPointer(a), UnsafeRawBufferPointer(b))
      }
    }
    return (areEqual ?? nil) ?? a.text.utf8.elementsEqual(b.text.utf8)
  }

  /// Whether two buffers of the same size contain the same bytes.
  ///
  /// Compares eight bytes at a time; the last eight may include bytes that were compared before.
  private static func hasSameBytes(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    func isSame<Word: FixedWidthInteger & BitwiseCopyable>(at offset: Int, _: Word.Type) -> Bool {
      a.loadUnaligned(fromByteOffset: offset, as: Word.self) == b.loadUnaligned(fromByteOffset: offset, as: Word.self)
    }
    let count = a.count
    if count >= 8 {
      var offset = 0
      while offset < count - 8 {
        if !isSame(at: offset, UInt64.self) { return false }
        offset += 8
      }
      return isSame(at: count - 8, UInt64.self)
    }
    if count >= 4 { return isSame(at: 0, UInt32.self) && isSame(at: count - 4, UInt32.self) }
    return (0..<count).allSatisfy { a[$0] == b[$0] }
  }

  package func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(0xFF as UInt8)
  }
}
