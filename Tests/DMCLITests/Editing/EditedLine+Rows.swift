@testable import DMCLI

extension EditedLine {
  /// The rows of the line, and the position of the cursor on a terminal that draws each grapheme cluster as one character.
  func rows(width: Int, prompt: String) -> (rows: [String], row: Int, column: Int) {
    let shown = LineRows(self, width: width, prompt: prompt)
    return (shown.rows, shown.row, columns(of: shown.beforeCursor))
  }
}
