import Testing

@testable import DMCLI

/// A terminal that knows only the control sequences that draw a line: CR, LF, CUU, CUD, and ED to the end.
private struct Display {
  private(set) var rows: [[String]] = [[]]
  private(set) var (row, column) = (0, 0)

  var text: [String] { rows.map { $0.joined() } }

  mutating func show(_ bytes: String) {
    var rest = bytes[...]
    while let character = rest.popFirst() {
      switch character {
      case "\r\n": (row, column) = (row + 1, 0)
      case "\r": column = 0
      case "\u{1B}":
        let sequence = rest.prefix { !$0.isLetter }
        rest = rest.dropFirst(sequence.count)
        let count = Int(sequence.dropFirst()) ?? 1
        switch rest.popFirst() {
        case "A": row = max(0, row - count)
        case "B": row += count
        default: clear()
        }
      default: put(character)
      }
      while rows.count <= row { rows.append([]) }
    }
  }

  private mutating func clear() {
    rows.removeSubrange((row + 1)...)
    rows[row].removeSubrange(min(column, rows[row].count)...)
  }

  private mutating func put(_ character: Character) {
    let width = columns(of: String(character))
    // A combining mark is added to the character before it.
    if width == 0 {
      rows[row][column - 1].append(character)
      return
    }
    let cells = [String(character)] + Array(repeating: "", count: width - 1)
    while rows[row].count < column { rows[row].append(" ") }
    rows[row].replaceSubrange(column..<min(column + width, rows[row].count), with: cells)
    column += width
  }
}

/// A line and its drawing; a class, so that its methods can be called within `#expect`.
private final class Drawing {
  var line: EditedLine
  private var drawn = DrawnLine()

  init(_ text: String) { line = EditedLine(text) }

  func draw(prompt: String = "", width: Int, height: Int = 24) -> String {
    drawn.draw(line, prompt: prompt, width: width, height: height)
  }

  func draw(_ text: String) -> String {
    line.replace(text)
    return draw(prompt: "> ", width: 8)
  }

  func leave() -> String { drawn.leave() }
}

struct DrawnLineTests {
  @Test func `text added at the end is printed without redrawing the line`() {
    let drawing = Drawing("")
    #expect(drawing.draw("a") == "> a")
    #expect(drawing.draw("ae") == "e")
    #expect(drawing.draw("ae\u{301}") == "\u{301}")
    #expect(drawing.draw("ae\u{301}123456") == "123\r\n  456")
    #expect(drawing.draw("ae\u{301}123456").isEmpty)
    _ = drawing.line.apply(.left)
    #expect(drawing.draw(prompt: "> ", width: 8).hasSuffix("\r  45"))
    #expect(drawing.draw(prompt: "> ", width: 8).isEmpty)
    #expect(drawing.leave() == "\r\n")
    drawing.line.replace("b")
    #expect(drawing.draw(width: 8) == "b")
  }

  @Test func `a line that is higher than the terminal shows the rows around the cursor`() {
    let drawing = Drawing("1\n2\n3\n4\n5")
    #expect(drawing.draw(width: 20, height: 3) == "3\r\n4\r\n5")
    for _ in 1...3 { _ = drawing.line.apply(.up) }
    #expect(drawing.draw(width: 20, height: 3) == "\r\u{1B}[2A\u{1B}[J2\r\n3\r\n4\u{1B}[2A\r2")
    #expect(drawing.leave() == "\u{1B}[2B\r\n")
  }

  @Test func `after the terminal became narrower, the line is redrawn from its first row`() {
    let drawing = Drawing(String(repeating: "x", count: 30))
    _ = drawing.draw(width: 40)
    // The 30 columns now take three rows of 12 columns.
    #expect(drawing.draw(width: 12).hasPrefix("\r\u{1B}[2A\u{1B}[J"))
  }

  @Test(arguments: 1...20) func `after any sequence of keys, the terminal shows the edited line`(seed: UInt64) {
    var state = seed
    func below(_ limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % limit
    }
    let keys: [Key] =
      "ab 你好é한\n".map { .character($0) } + [
        .paste("one two\nthree"), .paste("x\u{301}👨‍👩‍👧‍👦🇩🇪"), .left, .right, .up, .down, .home, .end, .wordLeft, .wordRight,
        .backspace, .delete, .deleteWordLeft, .yank, .previous, .next,
      ]
    var (line, drawn, display) = (EditedLine(), DrawnLine(), Display())
    display.show("above\r\n")
    for _ in 1...300 {
      _ = line.apply(keys[below(keys.count)])
      display.show(drawn.draw(line, prompt: "> ", width: 20, height: 1000))
      let (rows, row, column) = line.rows(width: 20, prompt: "> ")
      #expect(display.text == ["above"] + rows)
      #expect((display.row, display.column) == (row + 1, column))
      if below(40) == 0 {
        _ = line.take()
        display.show(drawn.leave())
        #expect(display.row == rows.count + 1 && display.column == 0)
        display = Display()
        display.show("above\r\n")
      }
    }
  }
}
