/// A line that the user edits, split into rows of a terminal.
///
/// The first row begins with a prompt, the others with spaces of the same width. A new row begins at each line feed,
/// and where the row could become too wide for a terminal with `width` columns: terminals differ in the width of some
/// characters. Control characters are escaped.
package struct LineRows {
  package private(set) var rows: [String]
  /// The row of the cursor, and the text before the cursor in that row.
  package private(set) var row = 0
  package private(set) var beforeCursor = ""

  private let room: Int
  private let indent: String
  /// The number of used columns in the last row, without its indent.
  private var column = 0

  /// - Parameter width: the columns of the terminal. The last column stays free, because terminals differ in where the
  ///   cursor is after a character in that column.
  package init(_ line: EditedLine, width: Int, prompt: String) {
    let prompt = cut(visible(prompt, indent: nil), width / 2)
    indent = String(repeating: " ", count: mostColumns(of: prompt))
    room = max(1, width - 1 - indent.utf8.count)
    rows = [prompt]
    for character in line.before { append(character) }
    (row, beforeCursor) = (rows.count - 1, rows[rows.count - 1])
    for (index, character) in line.after.enumerated() {
      // If a row was broken at the cursor, the cursor is shown at the start of the new row, not at the end of the old
      // row.
      if append(character), index == 0 { (row, beforeCursor) = (rows.count - 1, indent) }
    }
  }

  /// - Returns: whether a new row was begun because the old row was full.
  @discardableResult
  private mutating func append(_ character: Character) -> Bool {
    if character.isLineFeed {
      startRow()
      return false
    }
    var shown = visible(String(character), indent: nil)
    var size = mostColumns(of: shown)
    if size > room { (shown, size) = ("…", 1) }
    let isOver = column + size > room
    if isOver { startRow() }
    rows[rows.count - 1] += shown
    column += size
    return isOver
  }

  private mutating func startRow() {
    rows.append(indent)
    column = 0
  }
}
