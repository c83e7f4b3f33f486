/// A line that is edited as the rows of a terminal.
///
/// The first row begins with a prompt, the others with as many spaces. They are broken at line feeds, and where no
/// terminal of this width would wrap them. Control characters are escaped.
package struct LineRows {
  package private(set) var rows: [String]
  /// The row of the cursor, and what stands before the cursor in it.
  package private(set) var row = 0
  package private(set) var beforeCursor = ""

  private let room: Int
  private let indent: String
  /// The columns of the last row that are taken.
  private var column = 0

  /// - Parameter width: the columns of the terminal. The last one is left to the cursor, because terminals differ in
  ///   where it is after a character in the last column.
  package init(_ line: EditedLine, width: Int, prompt: String) {
    let prompt = cut(visible(prompt, indent: nil), width / 2)
    indent = String(repeating: " ", count: mostColumns(of: prompt))
    room = max(1, width - 1 - indent.utf8.count)
    rows = [prompt]
    for character in line.before { append(character) }
    (row, beforeCursor) = (rows.count - 1, rows[rows.count - 1])
    for (index, character) in line.after.enumerated() {
      // The cursor is on the first character of a row, not after the last one of the row before.
      if append(character), index == 0 { (row, beforeCursor) = (rows.count - 1, indent) }
    }
  }

  /// - Returns: whether there was no room for it in the last row.
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
