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
}

/// Draws a model: the conversation or a panel, the status line, and the line that the user is writing.
func render(_ model: ChatModel) -> Frame {
  let (composed, row, beforeCursor) = model.composed
  let state = model.state
  let height = model.height(above: state.count + composed.count)
  var seen: ArraySlice<LoadedMessages.Entry> = []
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
    unread: isShown ? seen.map(\.message).filter(\.isUnread) : [])
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

  /// The status line below the conversation: `-- Bob B. (bob), online: Bob B. (bob) is typing --`.
  ///
  /// A notice replaces this text, and takes up to a third of the window's rows.
  fileprivate var state: [[UInt8]] {
    if let notice {
      let most = max(1, layout.height / 3)
      let text = cut(
        "-- \(visible(notice.text, indent: " ")) --".replacing(text: "\n", with: " "), layout.width * most)
      return layout.rows(of: notice.isFault ? Mark.alert(text) : Mark.strong(text)).prefix(most).map(\.self)
    }
    var text = stateParts.joined(separator: ", ")
    if !typingNames.isEmpty { text += ": " + TextFormat.typing(typingNames) }
    return layout.rows(of: Mark.faint(cut("-- \(text) --", layout.width))).prefix(1).map(\.self)
  }

  private var stateParts: [String] {
    let name = conversation.map { TextFormat.label($0, for: me) } ?? visible(reference.description)
    var parts = [Mark.body(name)]
    if let isOnline { parts.append(isOnline ? "online" : "offline") }
    if isBlocked { parts.append("blocked by you") }
    if conversation?.mutedUntil != nil { parts.append("muted") }
    if isHubLost { parts.append("the hub cannot be reached") }
    if cannotMark { parts.append("the store cannot be written to") }
    if let panel {
      let more = panel.visible(max(1, layout.height - 2), layout).more
      parts.append(more.map { "\($0) shows more, Esc goes back" } ?? "Esc goes back")
    } else if loaded.isScrolled {
      parts.append("Esc goes to the end")
    }
    return parts
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
}

/// The lines of /help, of a search or of a digest, shown instead of the conversation.
struct Panel {
  private let lines: [String]
  /// How many rows are below the screen; a number that is too large stands for the largest possible one.
  private var hidden: Int

  /// - Parameter atTop: whether the first rows are shown first, instead of the last ones.
  init(_ lines: [String], atTop: Bool = false) { (self.lines, hidden) = (lines, atTop ? .max : 0) }

  /// The rows that fit, and the key that shows more rows: those above them, or if there are none, those below them.
  func visible(_ height: Int, _ layout: Layout) -> (rows: [[UInt8]], more: String?) {
    let rows = lines.flatMap(layout.rows)
    let hidden = max(0, min(hidden, rows.count - height))
    let above = rows.count - hidden - height
    return (rows.dropLast(hidden).suffix(height), above > 0 ? "PageUp" : hidden > 0 ? "PageDown" : nil)
  }

  /// Scrolls back by some rows, or forward if the number is negative.
  mutating func goBack(_ count: Int, height: Int, _ layout: Layout) {
    let most = max(0, lines.flatMap(layout.rows).count - height)
    hidden = max(0, min(min(hidden, most) + count, most))
  }
}
