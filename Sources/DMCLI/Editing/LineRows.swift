/// A line being edited, split into rows of a terminal.
///
/// The first row begins with a prompt, the others with spaces of the same width. Rows are broken at line feeds, and
/// before any terminal of this width would wrap them. Control characters are escaped.
package struct LineRows {
  package private(set) var rows: [String]
  /// The row of the cursor, and the text before the cursor in that row.
  package private(set) var row = 0
  package private(set) var beforeCursor = ""

  private let room: Int
  private let indent: String
  /// The used columns of the last row, without its indent.
  private var column = 0

  /// - Parameter width: the columns of the terminal. The last column stays free, because terminals differ in where the
  ///   cursor is after a character there.
  package init(_ line: EditedLine, width: Int, prompt: String) {
    let prompt = cut(visible(prompt, indent: nil), width / 2)
    indent = String(repeating: " ", count: mostColumns(of: prompt))
    room = max(1, width - 1 - indent.utf8.count)
    rows = [prompt]
    for character in line.before { append(character) }
    (row, beforeCursor) = (rows.count - 1, rows[rows.count - 1])
    for (index, character) in line.after.enumerated() {
      // At a break, the cursor is shown at the start of the new row, not at the end of the old one.
      if append(character), index == 0 { (row, beforeCursor) = (rows.count - 1, indent) }
    }
  }

  /// - Returns: whether the text began a new row for lack of room.
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
