import Testing

@testable import DMCLI

struct EditedLineRowsTests {
  static let texts = [
    "", "one two 你好", "e\u{301}a\u{308}", "👨‍👩‍👧‍👦", "🇩🇪🇫🇷", "👩🏽‍💻👍🏽✈️☕", "שלום עולם", "नमस्ते ไทย 한국어",
    String(repeating: "x", count: 200), String(repeating: "你", count: 100), "a" + String(repeating: "你", count: 100),
    String(repeating: "👨‍👩‍👧‍👦", count: 20), "one\ntwo\n\nthree\n", "\n", String(repeating: "one two\n你好 ", count: 30),
  ]

  @Test func `the first row begins with the prompt, and the others with as many spaces`() {
    var line = EditedLine("one two 你好")
    #expect(line.rows(width: 20, prompt: "> ") == (["> one two 你好"], 0, 14))
    line.replace("one\ntwo")
    #expect(line.rows(width: 20, prompt: "bob: ") == (["bob: one", "     two"], 1, 8))
    line.replace("")
    #expect(line.rows(width: 20, prompt: "你 ") == (["你 "], 0, 3))
    line.replace("12345678")
    #expect(line.rows(width: 8, prompt: "> ") == (["> 12345", "  678"], 1, 5))
    line.replace("你好世界")
    #expect(line.rows(width: 8, prompt: "> ") == (["> 你好", "  世界"], 1, 6))
  }

  @Test func `at a wrap the cursor is at the start of the next row, not after the end of the row before`() {
    var line = EditedLine("1234567")
    func cursor() -> (Int, Int) {
      let (_, row, column) = line.rows(width: 6, prompt: "")
      return (row, column)
    }
    #expect(cursor() == (1, 2))
    _ = line.apply(.left)
    #expect(cursor() == (1, 1))
    _ = line.apply(.left)
    #expect(cursor() == (1, 0))
    _ = line.apply(.left)
    #expect(cursor() == (0, 4))
    line.replace("12345")
    #expect(cursor() == (0, 5))
    line.replace("12345\n6")
    _ = line.apply(.up)
    _ = line.apply(.end)
    #expect(cursor() == (0, 5))
  }

  @Test(arguments: [
    ("你好", 4), ("e\u{301}", 1), ("👨‍👩‍👧‍👦", 2), ("🇩🇪", 2), ("👍🏽", 2), ("✈️", 2), ("שלום", 4), ("नमस्ते", 4), ("한", 2),
  ])
  func `the column of the cursor is the terminal width of the text before it`(text: String, column: Int) {
    var line = EditedLine("a" + text + "b")
    _ = line.apply(.left)
    #expect(line.rows(width: 40, prompt: "> ").column == 3 + column)
  }

  @Test func `control characters are escaped, and characters that are too wide become an ellipsis`() {
    #expect(EditedLine("a\tb\u{1B}[31m\u{202E}").rows(width: 40, prompt: "").rows == ["a    b\\u{1B}[31m\\u{202E}"])
    #expect(EditedLine("a👨‍👩‍👧‍👦b").rows(width: 8, prompt: "").rows == ["a…b"])
    #expect(EditedLine("ab").rows(width: 8, prompt: "carol: ").rows == ["car…ab"])
    #expect(EditedLine("ab").rows(width: 0, prompt: "").rows == ["a", "b"])
  }

  @Test(arguments: 20...80) func `no row is wider than the terminal, and the rows joined are the text`(width: Int) {
    for text in Self.texts {
      for prompt in ["", "> ", "陈美: "] {
        let line = EditedLine(text)
        let (rows, row, column) = line.rows(width: width, prompt: prompt)
        let indent = mostColumns(of: prompt)
        #expect(rows.allSatisfy { mostColumns(of: $0) <= width })
        #expect(rows[0].hasPrefix(prompt))
        #expect(rows.dropFirst().allSatisfy { $0.prefix(indent).allSatisfy { $0 == " " } && $0.count >= indent })
        let joined = rows[0].dropFirst(prompt.count) + rows.dropFirst().map { $0.dropFirst(indent) }.joined()
        #expect(joined == text.filter { $0 != "\n" })
        #expect(row == rows.count - 1 && column == columns(of: rows[row]))
      }
    }
  }

  @Test(arguments: [20, 21, 30, 43, 60, 80])
  func `the cursor is within the rows and columns at every position in the text`(width: Int) {
    for text in Self.texts {
      var line = EditedLine(text)
      var (lastRow, lastColumn) = (Int.max, 0)
      repeat {
        let (rows, row, column) = line.rows(width: width, prompt: "> ")
        #expect(rows.indices.contains(row) && (2..<width).contains(column))
        #expect(row < lastRow || row == lastRow && column < lastColumn)
        (lastRow, lastColumn) = (row, column)
      } while line.apply(.left)
      #expect((lastRow, lastColumn) == (0, 2))
    }
  }
}
