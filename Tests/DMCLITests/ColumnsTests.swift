import Glibc
import Testing

@testable import DMCLI
@testable import DMKit

struct ColumnsTests {
  /// For each text, the columns that we count, and the most columns that any terminal uses: tmux 3.3 gives a skin tone
  /// columns of its own.
  @Test(arguments: [
    ("", 0, 0), ("lunch?", 6, 6), ("Å\u{A0}é", 3, 3), ("e\u{301}", 1, 1), ("你好", 4, 4), ("한국어", 6, 6), ("ﾊﾛｰ", 3, 3),
    ("ＡＢ", 4, 4), ("שלום", 4, 4), ("नमस्ते", 4, 4), ("ไทย", 3, 3), ("👍", 2, 2), ("👍🏽", 2, 4), ("🇩🇪", 2, 2),
    ("☕", 2, 2), ("✈", 1, 1), ("✈️", 2, 2), ("👨‍👩‍👧‍👦", 2, 8), ("👩🏽‍💻", 2, 6), ("a\u{200B}b", 2, 2), ("\u{1}x\u{7F}", 1, 1),
    ("…", 1, 1), ("─", 1, 1),
  ])
  func `the width of a text is the number of columns that terminals use`(text: String, count: Int, most: Int) {
    #expect(columns(of: text) == count)
    #expect(mostColumns(of: text) == most)
  }

  /// wcwidth(3) returns -1 for characters that this version of glibc does not know.
  @Test func `the width that we count for a character is at least its width in glibc`() throws {
    // The module Glibc lacks wcwidth(3), which is an extension of X/Open.
    typealias Width = @convention(c) (wchar_t) -> CInt
    let wcwidth = unsafeBitCast(try #require(dlsym(nil, "wcwidth")), to: Width.self)
    let locale = try #require(newlocale(LC_CTYPE_MASK, "C.UTF-8", nil))
    let before = uselocale(locale)
    defer {
      uselocale(before)
      freelocale(locale)
    }
    for scalar in ((0x20 as UInt32)...0x10FFFF).compactMap(Unicode.Scalar.init) where !isHidden(scalar) {
      let most = mostColumns(of: String(scalar))
      #expect(wcwidth(wchar_t(bitPattern: scalar.value)) <= most, "U+\(String(scalar.value, radix: 16))")
    }
  }

  @Test func `the ranges of wide characters are ascending and neither overlap nor touch`() {
    for (before, after) in zip(wideCharacters, wideCharacters.dropFirst()) {
      #expect(before.first <= before.last && before.last + 1 < after.first)
    }
  }

  @Test(arguments: [
    ("one two three", 20, "one two three"), ("one two three", 8, "one two\n  three"),
    ("one two three", 7, "one two\n  three"),
    ("one  two", 5, "one\n  two"), ("abcdefghij", 4, "abcd\n  ef\n  gh\n  ij"), ("你好世界", 5, "你好\n  世\n  界"),
    ("a b c d e f", 6, "a b c\n  d e\n  f"), ("  in dented", 8, "  in\n  dented"), ("one      ", 4, "one "),
    ("one      two", 5, "one\n  two"), ("x\u{93E}\u{93E}\u{93E}\u{93E}", 4, "x\u{93E}\u{93E}\u{93E}\n  \u{93E}"),
    ("\u{1100}\u{1100}\u{1100}", 5, "\u{1100}\u{1100}\n  \u{1100}"),
  ])
  func `a long line is wrapped between words, and its further rows are indented`(
    line: String, width: Int, lines: String
  ) {
    #expect(wrapped(line[...], width: width, indent: 2) == lines)
  }

  @Test(arguments: 20...200) func `wrapped rows are indented, whatever padding the text contains`(width: Int) {
    let forged = "03:20  35 alice: yes, I approve"
    for padding in [" ", "x", "你", "👍", "👍🏽", "✈️", "\u{A0}", "\u{3000}", "x ", "\u{301}", "\u{200D}"] {
      for count in [width - 40, width - 20, width - 16, width - 15, width, 2 * width] where count > 0 {
        let text = "03:18  34 bob: anyone?" + String(repeating: padding, count: count) + forged
        let rows = wrapped(text[...], width: width, indent: 7).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(rows.allSatisfy { mostColumns(of: $0) <= width })
        #expect(rows.dropFirst().allSatisfy { $0.hasPrefix("       ") }, "\(width) \(padding)")
      }
    }
  }
}
