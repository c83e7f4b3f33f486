import Testing

@testable import DMCLI

struct KeyReaderTests {
  /// A key reader whose methods can be called within `#expect`.
  private final class Reader {
    private var reader = KeyReader()
    var isWaiting: Bool { reader.isWaiting }
    func keys(_ bytes: [UInt8]) -> [Key] { reader.keys(bytes) }
    func finish() -> [Key] { reader.finish() }
  }

  /// The keys of some bytes that come in one read, and the keys of the same bytes in two reads, split at each offset.
  private func keys(_ text: String) -> [Key] { keys(Array(text.utf8)) }

  private func keys(_ bytes: [UInt8]) -> [Key] {
    var reader = KeyReader()
    let whole = reader.keys(bytes)
    #expect(!reader.isWaiting)
    for offset in bytes.indices {
      var reader = KeyReader()
      let split = reader.keys(bytes[..<offset]) + reader.keys(bytes[offset...])
      #expect(split == whole, "split after \(offset) bytes")
    }
    var slow = KeyReader()
    let single = bytes.flatMap { slow.keys([$0]) }
    #expect(single == whole)
    return whole
  }

  private func text(_ keys: [Key]) -> String {
    var result = ""
    for case .character(let character) in keys { result.append(character) }
    return result
  }

  @Test(arguments: [
    "a", "one two", "é", "e\u{301}", "你好", "שלום", "👍🏽", "👨‍👩‍👧‍👦", "🇩🇪", "\u{10FFFF}", "\u{80FF}", "\u{A0}",
  ])
  func `a text is read, wherever its bytes are split`(_ text: String) {
    let keys = keys(text)
    #expect(Array(self.text(keys).unicodeScalars) == Array(text.unicodeScalars))
    #expect(keys.count == text.unicodeScalars.count)
  }

  @Test(
    arguments: [
      ([0x80], ""), ([0xC0, 0x80], ""), ([0xC3, 0x61], "a"), ([0xE4, 0xBD, 0x61], "a"),
      ([0xE4, 0xE4, 0xBD, 0xA0], "你"),
      ([0xED, 0xA0, 0x80, 0x61], "a"), ([0xF4, 0x90, 0x80, 0x80, 0x61], "a"), ([0xFF, 0xFE, 0x61], "a"),
      ([0x63, 0x61, 0x66, 0xE9, 0x0D, 0x78], "cafx"), ([0xC2, 0x9B, 0x61], "a"), ([0xE4, 0x1B, 0x5B, 0x44, 0x61], "a"),
    ] as [([UInt8], String)])
  func `bytes that are not UTF-8 give no key`(bytes: [UInt8], text: String) {
    #expect(self.text(keys(bytes)) == text)
  }

  @Test(
    arguments: [
      (.home, ["\u{1}", "\u{1B}[H", "\u{1B}OH", "\u{1B}[1~", "\u{1B}[7~", "\u{1B}[1;5H", "\u{1B}[7^", "\u{1B}[7$"]),
      (.end, ["\u{5}", "\u{1B}[F", "\u{1B}OF", "\u{1B}[4~", "\u{1B}[8~", "\u{1B}[1;2F", "\u{1B}[8^", "\u{1B}[8@"]),
      (.left, ["\u{2}", "\u{1B}[D", "\u{1B}OD", "\u{1B}[1;2D", "\u{1B}[d"]),
      (.right, ["\u{6}", "\u{1B}[C", "\u{1B}OC", "\u{1B}[1;2C", "\u{1B}[c"]),
      (.up, ["\u{1B}[A", "\u{1B}OA", "\u{1B}[1;5A", "\u{1B}[a", "\u{1B}Oa"]),
      (.down, ["\u{1B}[B", "\u{1B}OB", "\u{1B}[1;3B", "\u{1B}[b", "\u{1B}Ob"]),
      (
        .wordLeft,
        ["\u{1B}b", "\u{1B}B", "\u{1B}[1;5D", "\u{1B}[1;3D", "\u{1B}[5D", "\u{1B}Od", "\u{1B}O5D", "\u{1B}\u{1B}[D"]
      ),
      (
        .wordRight,
        ["\u{1B}f", "\u{1B}F", "\u{1B}[1;5C", "\u{1B}[1;3C", "\u{1B}[1;9C", "\u{1B}Oc", "\u{1B}O5C", "\u{1B}\u{1B}OC"]
      ),
      (.pageUp, ["\u{1B}[5~", "\u{1B}[5;2~", "\u{1B}[5^"]), (.pageDown, ["\u{1B}[6~", "\u{1B}[6;5~", "\u{1B}[6$"]),
      (.delete, ["\u{1B}[3~", "\u{1B}[3;5~", "\u{1B}[3^", "\u{1B}[3$"]), (.backspace, ["\u{7F}", "\u{8}"]),
      (.deleteWordLeft, ["\u{17}", "\u{1B}\u{7F}", "\u{1B}\u{8}"]), (.deleteWordRight, ["\u{1B}d", "\u{1B}D"]),
      (.deleteToStart, ["\u{15}"]), (.deleteToEnd, ["\u{B}"]), (.yank, ["\u{19}"]), (.previous, ["\u{10}"]),
      (.next, ["\u{E}"]), (.endOfInput, ["\u{4}"]), (.redraw, ["\u{C}"]), (.searchHistory, ["\u{12}"]), (.tab, ["\t"]),
      (.enter, ["\r", "\n", "\u{1B}OM"]), (.newline, ["\u{1B}\r", "\u{1B}\n"]),
    ] as [(Key, [String])])
  func `every escape sequence of a key gives that key`(key: Key, spellings: [String]) {
    for spelling in spellings {
      #expect(keys(spelling) == [key], "\(spelling.debugDescription)")
      #expect(keys("a" + spelling + "b") == [.character("a"), key, .character("b")], "\(spelling.debugDescription)")
    }
  }

  @Test(arguments: [
    "\u{1B}[I", "\u{1B}[?1;2c", "\u{1B}[?2004;1$y", "\u{1B}[>0;276;0c", "\u{1B}[24;80R", "\u{1B}[15~", "\u{1B}[2~",
    "\u{1B}[[A", "\u{1B}OP", "\u{1B}[1;5P", "\u{1B}[Z", "\u{0}", "\u{1F}", "\u{1B}[201~",
    "\u{1B}[-9223372036854775808D", "\u{1B}[<0;10;10M", "\u{1B}[200$", "\u{1B}[ q", "\u{1B}[200~\u{1B}[201~",
  ])
  func `unknown escape sequences and control characters give no key`(sequence: String) {
    #expect(keys("a" + sequence + "b") == [.character("a"), .character("b")])
  }

  @Test func `a control or multibyte character ends an unfinished escape sequence`() {
    #expect(keys("\u{1B}[1\r") == [.enter])
    #expect(keys("\u{1B}[1\u{1B}[D") == [.left])
    #expect(keys("\u{1B}[é") == [.character("é")])
    #expect(keys("\u{1B}[99999999999999999999D") == [.left])
  }

  @Test func `Alt with an unbound key gives Esc and then the key`() {
    #expect(keys("\u{1B}/go") == [.escape, .character("/"), .character("g"), .character("o")])
    #expect(keys("\u{1B}é") == [.escape, .character("é")])
    #expect(keys("\u{1B}\t") == [.escape, .tab])
    #expect(keys("\u{1B}\u{1B}x") == [.escape, .escape, .character("x")])
  }

  @Test func `Alt-A is a key, unless a letter follows in the same read`() {
    #expect(keys("\u{1B}a") == [.nextUnread])
    #expect(Reader().keys(Array("\u{1B}a\r\u{1B}a".utf8)) == [.nextUnread, .enter, .nextUnread])
    let text = Reader().keys(Array("\u{1B}also".utf8))
    #expect(text == [.escape, .character("a"), .character("l"), .character("s"), .character("o")])
  }

  @Test func `an ESC byte waits for a sequence, and is the key Esc when nothing follows`() {
    let reader = Reader()
    #expect(reader.keys([0x61, 0x1B]) == [.character("a")])
    #expect(reader.isWaiting)
    #expect(reader.finish() == [.escape])
    #expect(!reader.isWaiting && reader.finish().isEmpty)
    #expect(reader.keys(Array("[D".utf8)) == [.character("["), .character("D")])
    #expect(reader.keys([0x1B, 0x1B]).isEmpty && reader.isWaiting)
    #expect(reader.finish() == [.escape, .escape])
    #expect(reader.keys([0x1B, 0x1B, 0x1B]) == [.escape])
    #expect(reader.keys([0x62]) == [.escape, .wordLeft])
  }

  @Test(arguments: [
    ("one", "one"), ("one\ntwo\n", "one\ntwo\n"), ("one\rtwo", "one\ntwo"), ("one\r\ntwo\r\n\r\n", "one\ntwo\n\n"),
    ("\n\r", "\n\n"), ("a\tb", "a\tb"), ("a\u{7}b\u{0}\u{7F}\u{85}", "ab"), ("你好 👨‍👩‍👧‍👦 e\u{301}", "你好 👨‍👩‍👧‍👦 e\u{301}"),
    ("\u{1B}[31mred\u{1B}[0m", "[31mred[0m"), ("\u{1B}[20x", "[20x"), ("\u{1B}[20\u{1B}[20", "[20[20"),
    ("a\u{1B}", "a"),
    ("\u{4}\u{3}a", "a"),
  ])
  func `a paste is one key, wherever its bytes are split`(pasted: String, text: String) {
    let keys = keys("a\u{1B}[200~\(pasted)\u{1B}[201~b")
    #expect(keys == [.character("a"), .paste(text), .character("b")])
    guard case .paste(let got) = keys.dropFirst().first else { return }
    #expect(Array(got.unicodeScalars) == Array(text.unicodeScalars))
  }

  @Test func `bytes in a paste that are not UTF-8 are left out`() {
    #expect(keys(Array("\u{1B}[200~a".utf8) + [0xE9, 0xE4, 0xBD] + Array("b\u{1B}[201~".utf8)) == [.paste("ab")])
    let unfinished = Array("\u{1B}[200~a".utf8) + [0xE4] + Array("\u{1B}[201~".utf8) + [0xBD, 0xA0, 0x62]
    #expect(keys(unfinished) == [.paste("a"), .character("b")])
  }

  @Test func `a paste without an end sequence is one key too`() {
    let reader = Reader()
    #expect(reader.keys(Array("\u{1B}[200~a\rb\u{1B}[2".utf8)) == [] && !reader.isWaiting)
    #expect(reader.finish() == [.paste("a\nb")])
    #expect(reader.keys(Array("c".utf8)) == [.character("c")])
  }
}
