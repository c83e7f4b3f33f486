import Testing

@testable import DMCLI
@testable import DMKit

struct ScreenTests {
  private let me = Handle(stored: "alice")
  private let id = Identifier(high: 0x019a_c5f2_0a3b_7c4d, low: 0x8e5f_0123_4567_89ab)

  private func rows(_ text: String, _ columns: Int, _ colors: Screen.Colors = .never) throws -> [String] {
    try Screen(colors, isPlain: false).fixed(columns: columns, rows: 100).rows(of: text).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  private func message(_ text: String, named name: String? = nil, _ reactions: [Message.Reactions] = []) -> Message {
    Message(
      id, conversationID: id, conversation: ConversationLabel(title: "ops", isGroup: true, reference: "+ops"),
      seq: 7, sender: Handle(stored: "bob"), senderName: name, text: text, createdAt: Timestamp(microseconds: 0),
      status: .sent, nonce: nil, reactions: reactions)
  }

  @Test func `a text stays beside the name, unless the notes take more than a third of the width`() throws {
    let users = [Handle(stored: "mei"), Handle(stored: "yusuf")]
    let line = TextFormat.line(
      message("fine", named: "Bob", [Message.Reactions(emoji: "👍", users: users)]), People(me))
    let wide = try rows(line, 80)
    #expect(wide.count == 1 && wide[0].hasSuffix("Bob (bob, 👍 mei yusuf): fine"))
    let narrow = try rows(line, 40)
    #expect(narrow.count == 2 && narrow[0].hasSuffix("Bob (bob, 👍 mei yusuf):") && narrow[1] == "       fine")
  }

  @Test(arguments: [20, 40, 79, 200]) func `a line of a day is a rule over the width`(columns: Int) throws {
    for line in [TextFormat.dayLine(Timestamp(microseconds: 0)), TextFormat.unreadLine(5)] {
      let rows = try rows(line, columns)
      #expect(rows.count == 1 || columns == 20)
      #expect(rows.allSatisfy { mostColumns(of: $0) <= columns })
      if rows.count == 1 { #expect(mostColumns(of: rows[0]) == columns && rows[0].hasSuffix("──")) }
    }
  }

  @Test(arguments: 20...200)
  func `nothing that a sender wrote begins at the left edge, at any width`(columns: Int) throws {
    let texts = [
      "anyone?\n12:00  8 you (✓): yes", "── Today ──", "x" + String(repeating: " ", count: columns) + "-- bob left --",
      String(repeating: "w", count: 3 * columns) + "\n\n── 5 new ──",
      "http://a.test/" + String(repeating: "y/", count: columns),
    ]
    for text in texts {
      for name in [nil, "── Today ──", String(repeating: "n", count: 60)] as [String?] {
        let reaction = Message.Reactions(emoji: "👍", users: (1...3).map { Handle(stored: "user\($0)") })
        let line = TextFormat.line(message(text, named: name, [reaction]), People(me))
        for row in try rows(line, columns).dropFirst() where !row.isEmpty {
          #expect(row.hasPrefix(String(repeating: " ", count: min(Screen.indent, columns / 2))), "\(row)")
        }
      }
    }
  }

  @Test func `colors go on in the next row`() throws {
    let rows = try rows(Mark.person(7, "one two three four five six seven"), 20, .always)
    #expect(rows.count > 1)
    for row in rows { #expect(row.contains("\u{1B}[1m") && row.contains("\u{1B}[32m"), "\(row.debugDescription)") }
  }

  @Test(arguments: zip([Screen.dark, Screen.light], [0.0, 1.0]))
  func `the colors of a theme have a contrast of 4 or more on its background`(colors: [Int], background: Double) {
    for color in colors {
      let luminance = luminance(of: color)
      let contrast = (max(luminance, background) + 0.05) / (min(luminance, background) + 0.05)
      #expect(contrast >= 4, "\(color)")
    }
  }

  /// The relative luminance (WCAG 2.1) of a color in the cube of xterm's 256 colors.
  private func luminance(of color: Int) -> Double {
    // What the sRGB values 0, 95, 135, 175, 215 and 255 of the cube are as linear light.
    let steps = [0, 0.1144, 0.2423, 0.4287, 0.6795, 1]
    let linear = [(color - 16) / 36, (color - 16) / 6 % 6, (color - 16) % 6].map { steps[$0] }
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
  }
}
