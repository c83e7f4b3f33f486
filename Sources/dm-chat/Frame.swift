internal import DMCLI
internal import DMKit
internal import DMModel

/// The rows and the cursor of a window, made from a model.
struct Frame {
  let rows: [[UInt8]]
  /// The row of the cursor, and the text before the cursor in that row.
  let cursor: (row: Int, beforeCursor: String)
  /// The index of the first row below the conversation.
  let end: Int
  /// The unread messages that are on the screen.
  let unread: [Message]
  /// The picture in the first rows.
  let picture: TerminalPicture?
}

/// Draws a model: the conversation or a panel, the status line, and the line that the user is writing.
func render(_ model: ChatModel) -> Frame {
  let (composed, row, beforeCursor) = model.composed
  let state = model.state
  let height = model.height(above: state.count + composed.count)
  var seen: ArraySlice<LoadedMessage> = []
  var rows: [[UInt8]]
  if let panel = model.panel {
    rows = panel.visible(height, model.layout).rows
  } else {
    (rows, seen) = model.loaded.visible(height, model.layout)
  }
  let end = rows.count
  rows += state
  let first = rows.count
  rows += composed.map { Array($0.utf8) }
  // A window of two rows has no row for the conversation.
  let isShown = model.layout.height > state.count + composed.count
  return Frame(
    rows: rows, cursor: (first + row, beforeCursor), end: end,
    unread: isShown ? seen.map(\.message).filter(\.isUnread) : [],
    picture: isShown ? model.panel?.picture(height, model.layout) : nil)
}

extension ChatModel {
  /// The number of rows for the conversation.
  var height: Int { height(above: state.count + composed.rows.count) }

  fileprivate func height(above rows: Int) -> Int { max(1, layout.height - rows) }

  /// The rows of the line that the user is writing: at most a third of the window's rows, including the cursor's row.
  fileprivate var composed: (rows: ArraySlice<String>, row: Int, beforeCursor: String) {
    let line = LineRows(composition.line, width: layout.width, prompt: "> ")
    let most = max(1, layout.height / 3)
    let first = max(0, line.row + 1 - most)
    return (line.rows[first...].prefix(most), line.row - first, line.beforeCursor)
  }
}

/// Turns texts and messages into rows of the screen.
struct Layout {
  /// The screen, with the size that it had when this layout was made.
  let screen: Screen
  let me: Handle
  var width: Int { screen.columns ?? 80 }
  var height: Int { screen.rows ?? 24 }

  func rows(of text: String) -> [[UInt8]] { screen.rows(of: text) }

  /// A row in reverse: SGR 7 (ECMA-48, section 8.3.117), repeated after each sequence that ends all attributes.
  func reversed(_ row: [UInt8]) -> [UInt8] {
    let (start, end) = (Array("\u{1B}[7m".utf8), Array("\u{1B}[0m".utf8))
    var result = start
    for (index, byte) in row.enumerated() {
      result.append(byte)
      if byte == end[3], row[...index].suffix(4).elementsEqual(end) { result += start }
    }
    return result
  }
}
