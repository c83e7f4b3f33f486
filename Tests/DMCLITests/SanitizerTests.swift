import Testing

@testable import DMCLI

struct SanitizerTests {
  @Test(arguments: [
    ("\u{1B}[2J", "\\u{1B}[2J"), ("\u{0}", "\\u{0}"), ("\u{7}", "\\u{7}"), ("\r", "\\u{D}"), ("\n", "\\u{A}"),
    ("\u{B}", "\\u{B}"),
    ("\u{7F}", "\\u{7F}"), ("\u{80}", "\\u{80}"), ("\u{85}", "\\u{85}"), ("\u{9B}31m", "\\u{9B}31m"),
    ("\u{9F}", "\\u{9F}"),
    ("\u{2028}", "\\u{2028}"), ("\u{2029}", "\\u{2029}"), ("\u{61C}", "\\u{61C}"), ("\u{200E}", "\\u{200E}"),
    ("\u{200F}", "\\u{200F}"),
    ("\u{202A}", "\\u{202A}"), ("\u{202E}", "\\u{202E}"), ("\u{2066}", "\\u{2066}"), ("\u{2069}", "\\u{2069}"),
    ("\u{FEFF}", "\\u{FEFF}"),
    ("\u{E0041}", "\\u{E0041}"), ("\u{E007F}", "\\u{E007F}"), ("a\r\nb", "a\\u{D}\\u{A}b"), ("\t", "    "),
  ])
  func `control and direction characters are escaped, and a tab becomes spaces`(_ text: String, _ shown: String) {
    #expect(visible(text) == shown)
  }

  @Test(arguments: [
    "", "hello", "é", "e\u{301}", "海", "😀", "👨‍👩‍👧", "नमस्ते", "שלום", "مرحبا", "\u{A0}", "\u{200B}", "~", "\\u{1B}",
  ])
  func `ordinary text of any script is shown unchanged`(_ text: String) {
    #expect(Array(visible(text, indent: nil).utf8) == Array(text.utf8))
  }

  @Test(arguments: [
    ("bob\u{200B}", "bob\\u{200B}"), ("b\u{AD}ob", "b\\u{AD}ob"), ("bob\u{FE0F}", "bob\\u{FE0F}"),
    ("bob\u{FFF9}", "bob\\u{FFF9}"), ("1\u{FE0F}", "1\\u{FE0F}"), ("👍\u{200D}", "👍\\u{200D}"),
    ("\u{2800}\u{3164}", "\\u{2800}\\u{3164}"), ("👨‍👩‍👧 ❤️ 1️⃣", "👨‍👩‍👧 ❤️ 1️⃣"), ("نامه‌ها", "نامه‌ها"),
  ])
  func `an invisible character in a name is escaped, unless it changes how the name looks`(
    _ name: String, _ shown: String
  ) {
    #expect(visible(name) == shown)
  }

  @Test func `a character keeps at most eight combining marks`() {
    let marks = String(repeating: "\u{301}", count: 20)
    #expect(visible("a\(marks)b\(marks)").unicodeScalars.count == 2 + 8 + 8)
    #expect(visible("a" + String(repeating: "\u{20DD}", count: 20)).unicodeScalars.count == 9)
  }

  @Test(arguments: ["\u{200D}", "\u{200C}", "\u{2060}"])
  func `zero-width joiners between combining marks do not raise the limit of marks`(_ joiner: String) {
    let marks = String(repeating: String(repeating: "\u{301}", count: 8) + joiner, count: 10)
    let shown = visible("a" + marks).unicodeScalars.count { $0 == "\u{301}" }
    #expect(shown <= 8)
  }

  @Test func `the further lines of a text are indented, so that none looks like another message`() {
    #expect(visible("one\ntwo\n14:30  7 bob: three", indent: "  ") == "one\n  two\n  14:30  7 bob: three")
    #expect(visible("one\r\ntwo", indent: "  ") == "one\\u{D}\n  two")
    #expect(visible("one\u{2028}two", indent: "  ") == "one\\u{2028}two")
  }

  @Test func `the escaped text contains no control or direction characters`() {
    for value in 0...0x2FFF as ClosedRange<UInt32> {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let shown = visible("x\(scalar)y").unicodeScalars
      #expect(!shown.contains { $0.properties.generalCategory == .control }, "U+\(String(value, radix: 16))")
      #expect(!shown.contains { (0x202A...0x202E).contains($0.value) || (0x2066...0x2069).contains($0.value) })
    }
  }
}
