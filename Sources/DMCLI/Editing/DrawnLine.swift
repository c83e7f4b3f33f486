/// A line that the user edits; it is redrawn in the terminal rows in which it began.
///
/// The cursor is placed by printing the text before it, not by its column: terminals differ in the width of emoji that
/// consist of several code points.
package struct DrawnLine {
  private var rows = [""]
  private var row = 0
  private var beforeCursor = ""
  private var width = 0

  package init() {}

  /// The bytes that show `line` in place of the line that is on the terminal.
  ///
  /// If the line has more rows than the terminal, only rows around the cursor are shown.
  package mutating func draw(_ line: EditedLine, prompt: String = "", width: Int, height: Int) -> String {
    let old = self
    let shown = LineRows(line, width: width, prompt: prompt)
    let first = max(0, min(shown.row, shown.rows.count - height))
    rows = Array(shown.rows[first...].prefix(height))
    (row, beforeCursor, self.width) = (shown.row - first, shown.beforeCursor, width)
    // If the user added text at the end, prints only this text, because a screen reader speaks everything that is
    // printed.
    if old.isAtEnd, isAtEnd, text.utf8.starts(with: old.text.utf8) {
      return String(text.unicodeScalars.dropFirst(old.text.unicodeScalars.count))
    }
    if width == old.width, row == old.row, beforeCursor == old.beforeCursor, rows == old.rows { return "" }
    let up = rows.count - 1 - row
    let toCursor = isAtEnd ? "" : (up > 0 ? "\u{1B}[\(up)A" : "") + "\r" + beforeCursor
    return old.toStart(width) + "\u{1B}[J" + text + toCursor
  }

  /// The bytes that move the cursor below the line, where the next line begins.
  package mutating func leave() -> String {
    let down = rows.count - 1 - row
    self = DrawnLine()
    return (down > 0 ? "\u{1B}[\(down)B" : "") + "\r\n"
  }

  private var text: String { rows.joined(separator: "\r\n") }
  private var isAtEnd: Bool { row == rows.count - 1 && beforeCursor.utf8.elementsEqual(rows[row].utf8) }

  /// The bytes that move the cursor to the start of the line: CUU (ECMA-48, section 8.3.22).
  ///
  /// If the terminal became narrower, it has wrapped rows; the additional rows are counted, too.
  private func toStart(_ width: Int) -> String {
    let wrapped = (rows[..<row] + [beforeCursor]).map { max(0, columns(of: $0) - 1) / width }.reduce(row, +)
    return "\r" + (wrapped > 0 ? "\u{1B}[\(wrapped)A" : "")
  }
}
