internal import Glibc

extension String {
  /// The text without one of the signs at its beginning, if it begins with one: `@bob` is bob.
  ///
  /// By bytes: a sign that bears a combining mark is another Character.
  package func without(_ signs: String) -> String {
    guard let first = utf8.first, signs.utf8.contains(first) else { return self }
    return String(Substring(utf8.dropFirst()))
  }

  /// Whether a byte is in its UTF-8; a `String.UTF8View` looks at one after the other, which takes five times as long.
  package func contains(byte: UInt8) -> Bool {
    utf8.withContiguousStorageIfAvailable { bytes in
      bytes.baseAddress.map { memchr($0, Int32(byte), bytes.count) != nil } ?? false
    } ?? utf8.contains(byte)
  }
}

/// A text that equals only itself, byte for byte.
///
/// `String`'s own `==` takes equivalent spellings for one (Unicode Standard Annex #15), and so would
/// make two users of one, or a duplicate of another text.
package struct ExactString: Hashable, Sendable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (a: ExactString, b: ExactString) -> Bool {
    if a.text.utf8.count != b.text.utf8.count { return false }
    let areEqual = a.text.utf8.withContiguousStorageIfAvailable { a -> Bool? in
      b.text.utf8.withContiguousStorageIfAvailable { b in
        guard let a = a.baseAddress, let first = b.baseAddress else { return true }
        return memcmp(a, first, b.count) == 0
      }
    }
    return (areEqual ?? nil) ?? a.text.utf8.elementsEqual(b.text.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(0xFF as UInt8)
  }
}
