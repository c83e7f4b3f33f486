import Testing

@testable import DMCLI

struct KeyedLineTests {
  /// A terminal of one row: what it shows after all those echoes.
  private struct Screen {
    private var bytes: [UInt8] = []
    var text: String { String(decoding: bytes, as: UTF8.self) }

    mutating func show(_ echo: [UInt8]) {
      var rest = echo[...]
      while let byte = rest.first {
        // Backspace, blank, backspace takes one character back.
        if rest.starts(with: [0x08, 0x20, 0x08]) {
          #expect(!bytes.isEmpty)
          bytes = Array(text.dropLast().utf8)
          rest = rest.dropFirst(3)
        } else {
          bytes.append(byte)
          rest = rest.dropFirst()
        }
      }
    }
  }

  /// One that can be typed into within an expectation.
  private final class Line {
    private var line = KeyedLine()
    @discardableResult func take(_ byte: UInt8) -> KeyedLine.Outcome { line.take(byte) }
  }

  /// What a line holds after some keys, and what the terminal showed then; keys after its end are left.
  private func type(_ keys: some Sequence<UInt8>, into line: Line) -> (line: String?, screen: String) {
    var screen = Screen()
    for key in keys {
      switch line.take(key) {
      case .echo(let bytes): screen.show(bytes)
      case .line(let bytes): return (String(decoding: bytes, as: UTF8.self), screen.text)
      case .end: return (nil, screen.text)
      }
    }
    return (nil, screen.text)
  }

  private func type(_ keys: String) -> (line: String?, screen: String) {
    return type(keys.utf8, into: Line())
  }

  @Test func `keys are echoed and make a line`() {
    let line = Line()
    #expect(line.take(UInt8(ascii: "h")) == .echo([UInt8(ascii: "h")]))
    #expect(line.take(UInt8(ascii: "i")) == .echo([UInt8(ascii: "i")]))
    #expect(line.take(0x0A) == .line(Array("hi".utf8)))
    #expect(line.take(0x0D) == .line([]))
  }

  @Test(arguments: [
    ("hix\u{7F}\n", "hi"), ("hix\u{8}\n", "hi"), ("x\u{7F}\u{7F}\u{7F}hi\n", "hi"), ("\u{7F}\n", ""),
    ("caf\u{E9}\u{7F}e\n", "cafe"), ("漢字\u{7F}\n", "漢"), ("a😀\u{7F}b\n", "ab"),
    ("abc\u{15}hi\n", "hi"), ("\u{15}\n", ""), ("漢字 x\u{15}\n", ""),
    ("say hello\u{17}hi\n", "say hi"), ("say hello  \u{17}hi\n", "say hi"), ("hello\u{17}\n", ""), ("  \u{17}\n", ""),
    ("\u{17}\n", ""), ("über 漢字\u{17}\n", "über "), ("a b c\u{17}\u{17}\n", "a "),
    ("a\tb\n", "a\tb"), ("a\u{1}\u{2}\u{1F}b\n", "ab"), ("a\u{4}b\n", "ab"),
    ("a\u{1B}[Ab\n", "ab"), ("a\u{1B}[1;5Cb\n", "ab"), ("a\u{1B}OPb\n", "ab"), ("a\u{1B}[3~b\n", "ab"),
    ("a\u{1B}xb\n", "ab"), ("\u{1B}[200~hi\u{1B}[201~\n", "hi"),
  ])
  func `the keys of a terminal do what they do there, and the screen shows the line`(
    _ keys: String, _ expected: String
  ) {
    let (line, screen) = type(keys)
    #expect(line == expected)
    #expect(screen == expected)
  }

  @Test func `a character of several bytes is erased whole`() {
    let line = Line()
    for byte in "a\u{E9}".utf8 { line.take(byte) }
    #expect(line.take(0x7F) == .echo([0x08, 0x20, 0x08]))
    #expect(line.take(0x0A) == .line([UInt8(ascii: "a")]))
  }

  @Test func `what is left after an erasure is what was typed, byte for byte`() {
    // A line in Latin-1 is none in UTF-8; the program that reads it says so, and not the terminal.
    let line = Line()
    for byte: UInt8 in [0x63, 0x61, 0x66, 0xE9, 0x78] { line.take(byte) }
    line.take(0x7F)
    #expect(line.take(0x0A) == .line([0x63, 0x61, 0x66, 0xE9]))
  }

  @Test func `end of file ends an empty line and no other`() {
    let line = Line()
    #expect(line.take(0x04) == .end)
    #expect(line.take(UInt8(ascii: "x")) == .echo([UInt8(ascii: "x")]))
    #expect(line.take(0x04) == .echo([]))
    #expect(line.take(0x7F) == .echo([0x08, 0x20, 0x08]))
    #expect(line.take(0x04) == .end)
  }

  @Test func `a line begins empty, whatever came before`() {
    let line = Line()
    #expect(type("one\n".utf8, into: line).line == "one")
    #expect(type("\n".utf8, into: line).line?.isEmpty == true)
    #expect(type("x\u{15}two\r".utf8, into: line).line == "two")
    #expect(type("\u{7F}three\n".utf8, into: line).line == "three")
  }

  @Test func `a line ends also after a lone escape`() {
    // A person who strikes Escape and then Enter means Enter.
    let line = Line()
    for byte in "hi".utf8 { line.take(byte) }
    line.take(0x1B)
    #expect(line.take(0x0A) == .line(Array("hi".utf8)))
  }
}
