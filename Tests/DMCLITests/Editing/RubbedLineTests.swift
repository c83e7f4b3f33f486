import Testing

@testable import DMCLI

struct RubbedLineTests {
  private final class Drawing {
    var line = EditedLine()
    private var shown = RubbedLine()

    func draw(_ key: Key) -> String {
      _ = line.apply(key)
      return shown.draw(line)
    }

    func leave() -> String { shown.leave() }
  }

  private let rubout = "\u{8} \u{8}"

  @Test func `deleted characters are erased with one backspace sequence for each column`() {
    let drawing = Drawing()
    let draw = drawing.draw
    #expect(draw(.paste("one 你好")) == "one 你好")
    #expect(draw(.character("!")) == "!")
    #expect(draw(.backspace) == rubout)
    #expect(draw(.backspace) == rubout + rubout)
    #expect(draw(.deleteWordLeft) == rubout + rubout)
    #expect(draw(.character("e")) == "e")
    #expect(draw(.character("\u{301}")) == rubout + "e\u{301}")
    #expect(draw(.deleteToStart) == String(repeating: rubout, count: 5))
    #expect(draw(.yank) == "one e\u{301}")
    #expect(draw(.escape).isEmpty)
    #expect(drawing.leave() == "\r\n")
    #expect(drawing.line.take() == "one e\u{301}")
    #expect(draw(.character("x")) == "x")
    #expect(draw(.previous) == rubout + "one e\u{301}")
  }

  @Test func `keys that would move the cursor are not accepted`() {
    #expect([Key.left, .up, .home, .wordLeft, .delete, .newline].allSatisfy { !RubbedLine.shows($0) })
    #expect([Key.character("a"), .paste("a\nb"), .backspace, .previous, .yank].allSatisfy(RubbedLine.shows))
  }
}
