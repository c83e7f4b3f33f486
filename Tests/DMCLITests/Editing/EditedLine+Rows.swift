@testable import DMCLI

extension EditedLine {
  /// The rows, and the position of the cursor on a terminal that knows grapheme clusters.
  func rows(width: Int, prompt: String) -> (rows: [String], row: Int, column: Int) {
    let shown = LineRows(self, width: width, prompt: prompt)
    return (shown.rows, shown.row, columns(of: shown.beforeCursor))
  }
}
