import DMModel
import Testing

/// Comparing and searching texts byte for byte.
@Suite struct ExactStringTests {
  @Test("a byte is found at each offset of a text of up to forty bytes, and only if the text has this byte")
  func contains() {
    for count in 0...40 {
      let bytes = [UInt8](repeating: UInt8(ascii: "a"), count: count)
      for byte in [0, 1, UInt8(ascii: "@"), 0x7F] {
        #expect(!String(decoding: bytes, as: UTF8.self).contains(byte: byte))
        for index in bytes.indices {
          var changed = bytes
          changed[index] = byte
          #expect(String(decoding: changed, as: UTF8.self).contains(byte: byte))
        }
      }
    }
  }

  @Test("a byte that a text does not have is not found, even if the text has bytes of all other values")
  func notContained() {
    let others = String(String.UnicodeScalarView((1..<0x0800).compactMap(Unicode.Scalar.init)))
    for offset in 0..<8 {
      let text = String(repeating: "x", count: offset) + others
      #expect(!text.contains(byte: 0))
      #expect(!text.contains(byte: 0xFF))
      #expect(text.contains(byte: 0x01))
    }
  }

  @Test("texts of up to forty bytes are equal only if all their bytes are equal")
  func equality() {
    for count in 0...40 {
      let bytes = [UInt8](repeating: UInt8(ascii: "a"), count: count)
      let text = ExactString(String(decoding: bytes, as: UTF8.self))
      #expect(text == ExactString(String(decoding: bytes, as: UTF8.self)))
      for index in bytes.indices {
        var changed = bytes
        changed[index] = UInt8(ascii: "b")
        #expect(text != ExactString(String(decoding: changed, as: UTF8.self)))
      }
    }
  }

  @Test("a text is found and replaced wherever it occurs, byte for byte")
  func occurrences() {
    for (text, part, result) in [
      ("", "a", ""), ("a", "a", "-"), ("aaa", "aa", "-a"), ("xaya", "a", "x-y-"), ("ab", "abc", "ab"),
      ("aab", "ab", "a-"),
      ("e\u{301}", "e", "-\u{301}"), ("\u{E9}", "e\u{301}", "\u{E9}"), ("👍🏽", "👍", "-🏽"),
    ] {
      #expect(ExactString(text.replacing(text: part, with: "-")) == ExactString(result))
      #expect(text.contains(text: part) == (ExactString(text) != ExactString(result)))
    }
  }

  @Test("canonically equivalent texts differ")
  func equivalence() {
    #expect(ExactString("\u{E9}tude") != ExactString("e\u{301}tude"))
  }
}
