import FoundationEssentials
import Testing

@testable import DMCLI
@testable import DMKit

/// Pictures in terminals.
struct TerminalPictureTests {
  private func chosen(_ variables: [String: String]) throws -> PictureProtocol? {
    try PictureProtocol.chosen(variables["DM_PICTURES"]) { variables[$0] }
  }

  @Test func `only terminals that show pictures get them, unless the user decides otherwise`() throws {
    for (variables, expected) in [
      ([:], nil), (["TERM": "xterm-kitty", "KITTY_WINDOW_ID": "1"], .kitty), (["TERM": "xterm-ghostty"], .kitty),
      (["TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"], .iterm2),
      (["TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"], .iterm2),
      (["TERM": "xterm-256color", "LC_TERMINAL": "iTerm2"], .iterm2),
      (["TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"], nil), (["TERM": "linux"], nil),
      (["TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app", "VTE_VERSION": "7000"], nil),
      (["TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"], nil),
      (["TERM": "xterm-kitty", "TMUX": "/tmp/tmux"], nil), (["TERM": "screen-256color", "LC_TERMINAL": "iTerm2"], nil),
      (["TERM": "xterm-kitty", "DM_PICTURES": "never"], nil), (["TERM": "linux", "DM_PICTURES": "iterm2"], .iterm2),
      (["TERM": "xterm-kitty", "DM_PICTURES": "auto"], .kitty),
    ] as [([String: String], PictureProtocol?)] {
      #expect(try chosen(variables) == expected, "\(variables)")
    }
  }

  /// A file that would end each of the sequences if it were not in base64.
  private let file = Array("\u{89}PNG\u{1B}\\\u{7}\u{1B}]0;title\u{7}".utf8) + [UInt8](repeating: 0x1B, count: 9000)

  @Test func `the bytes of a picture for kitty are sequences that contain only base64`() throws {
    let cells = TerminalPicture.cells(320, 200, columns: 60, rows: 20)
    let picture = TerminalPicture(file, cells, by: .kitty)
    #expect(picture.rows == 13)
    let text = String(decoding: picture.bytes, as: UTF8.self)
    let parts = text.split(separator: "\u{1B}\\").map { $0.split(separator: ";", maxSplits: 1) }
    #expect(
      parts.map { String($0[0]) } == [
        "\u{1B}_Ga=T,f=100,c=40,r=13,C=1,q=2,m=1", "\u{1B}_Gm=1", "\u{1B}_Gm=0",
      ])
    #expect(parts.allSatisfy { $0[1].utf8.count <= 4096 })
    #expect(Data(base64Encoded: parts.map { String($0[1]) }.joined()) == Data(file))
    #expect(String(decoding: picture.removal, as: UTF8.self) == "\u{1B}_Ga=d,d=A,q=2\u{1B}\\")
  }

  @Test func `the bytes of a picture for iTerm2 are one sequence that contains only base64`() throws {
    let picture = TerminalPicture(file, TerminalPicture.cells(100, 1000, columns: 60, rows: 10), by: .iterm2)
    let text = String(decoding: picture.bytes, as: UTF8.self)
    let head = "\u{1B}]1337;File=inline=1;size=\(file.count);width=2;height=10:"
    #expect(text.hasPrefix(head) && text.hasSuffix("\u{7}") && picture.rows == 10)
    #expect(Data(base64Encoded: String(text.dropFirst(head.count).dropLast())) == Data(file))
  }

  @Test func `kitty shows PNG files, and iTerm2 also JPEG and WebP files`() {
    #expect(
      ["image/png", "image/jpeg", "image/webp", "image/svg+xml"].map { PictureProtocol.kitty.shows($0) } == [
        true, false, false, false,
      ])
    #expect(
      ["image/png", "image/jpeg", "image/webp", "image/svg+xml"].map { PictureProtocol.iterm2.shows($0) } == [
        true, true, true, false,
      ])
  }

  @Test func `sixels are taken out of the output of chafa only if nothing in them can end them`() throws {
    let picture = "\u{1B}P0;1;0q\"1;1;120;78#0;2;29;23;58#0!9?-\u{1B}\\"
    let sixels = try #require(Sixels(Array("\u{1B}[?25l\(picture)\u{1B}[?25h\n".utf8)))
    #expect(String(decoding: sixels.bytes, as: UTF8.self) == picture && sixels.width == 120 && sixels.height == 78)
    let (start, end) = ("\u{1B}P0q\"1;1;9;9#0", "\u{1B}\\")
    try #require(Sixels(Array((start + end).utf8)) != nil)
    for wrong in [
      "", "text", "\u{1B}[?25l", start, start + "\u{1B}]0;title\u{7}" + end, start + "\n" + end,
      start + "\u{9C}x" + end, "\u{1B}P0q#0" + end, "\u{1B}P0q\"1;1;0;78#0" + end, "\u{1B}P0q\"1;1;9#0" + end,
    ] { #expect(Sixels(Array(wrong.utf8)) == nil, "\(wrong.debugDescription)") }
  }

  @Test func `a terminal reports its attributes between keys`() {
    var reader = KeyReader()
    #expect(reader.keys(Array("a\u{1B}[?62;4;2".utf8)) == [.character("a")] && reader.attributes == nil)
    #expect(reader.keys(Array("2cb".utf8)) == [.character("b")] && reader.attributes == [62, 4, 22])
  }

  @Test func `never and a terminal without sixels show no pictures`() throws {
    #expect(PictureProtocol.iterm2.converts == false)
    #expect(PictureProtocol.sixel.shows("image/webp", converting: true) && !PictureProtocol.sixel.shows("image/png"))
    #expect(PictureProtocol.kitty.shows("image/webp", converting: true))
    #expect(!PictureProtocol.kitty.shows("image/svg+xml", converting: true))
    #expect(try chosen(["DM_PICTURES": "sixel"]) == .sixel)
  }
}
