import FoundationEssentials
import Testing

@testable import DMCLI
@testable import DMKit

/// Pictures in terminals.
struct TerminalPictureTests {
  private func chosen(_ variables: [String: String]) throws -> PictureProtocol? {
    try PictureProtocol.chosen { variables[$0] }
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
    #expect(throws: DMError.self) { try chosen(["DM_PICTURES": "sixel"]) }
  }

  /// A file that would end each of the sequences if it were not in base64.
  private let file = Array("\u{89}PNG\u{1B}\\\u{7}\u{1B}]0;title\u{7}".utf8) + [UInt8](repeating: 0x1B, count: 9000)

  @Test func `the bytes of a picture for kitty are sequences that contain only base64`() throws {
    let picture = TerminalPicture(file, width: 320, height: 200, by: .kitty, columns: 60, rows: 20)
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
    let picture = TerminalPicture(file, width: 100, height: 1000, by: .iterm2, columns: 60, rows: 10)
    let text = String(decoding: picture.bytes, as: UTF8.self)
    let head = "\u{1B}]1337;File=inline=1;size=\(file.count);width=2;height=10:"
    #expect(text.hasPrefix(head) && text.hasSuffix("\u{7}") && picture.rows == 10)
    #expect(Data(base64Encoded: String(text.dropFirst(head.count).dropLast())) == Data(file))
  }

  @Test func `kitty shows PNG files, and iTerm2 also JPEG and WebP files`() {
    #expect(
      ["image/png", "image/jpeg", "image/webp", "image/svg+xml"].map(PictureProtocol.kitty.shows) == [
        true, false, false, false,
      ])
    #expect(
      ["image/png", "image/jpeg", "image/webp", "image/svg+xml"].map(PictureProtocol.iterm2.shows) == [
        true, true, true, false,
      ])
  }
}
