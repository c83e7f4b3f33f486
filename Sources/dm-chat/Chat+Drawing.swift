internal import DMCLI
internal import DMKit

/// What the window shows.
extension Chat {
  /// A message as dm-tail prints it.
  func text(of message: Message) -> String { TextFormat.line(message, for: me) }

  /// The rows of the conversation, from the size of the window.
  func height() throws -> Int { try height(above: state().count + composed().rows.count) }

  private func height(above rows: Int) throws -> Int { max(1, try size().rows - rows) }

  private func size() throws -> (columns: Int, rows: Int) {
    let screen = try call.screen()
    return (screen.columns ?? 80, screen.rows ?? 24)
  }

  /// What the user writes, of which at most a third of the window is shown: that around the cursor.
  private func composed() throws -> (rows: ArraySlice<String>, row: Int, beforeCursor: String) {
    let (columns, height) = try size()
    let line = LineRows(line, width: columns, prompt: "> ")
    let most = max(1, height / 3)
    let first = max(0, line.row + 1 - most)
    return (line.rows[first...].prefix(most), line.row - first, line.beforeCursor)
  }

  func draw() throws {
    let screen = try call.screen()
    let (composed, row, beforeCursor) = try composed()
    let state = try state()
    let height = try height(above: state.count + composed.count)
    var rows: [[UInt8]]
    var seen: ArraySlice<Stretch.Entry> = []
    if let panel {
      rows = panel.visible(height, screen).rows
    } else {
      (rows, seen) = try stretch.visible(height, text)
    }
    let end = rows.count
    rows += state
    rows += composed.map { Array($0.utf8) }
    window.draw(rows, cursor: (rows.count - composed.count + row, beforeCursor), clearingFrom: end)
    unread = seen.map(\.message).filter(\.isUnread)
    try markRead(now: monotonicMicroseconds())
  }

  /// The line between the conversation and what the user writes: `-- Bob B. (bob), online: Bob B. is typing --`.
  ///
  /// A notice has up to a third of the window.
  private func state() throws -> [[UInt8]] {
    let (width, height) = try size()
    if let notice {
      let most = max(1, height / 3)
      let text = cut("-- \(visible(notice.text, indent: " ")) --".replacing("\n", with: " "), width * most)
      return try call.screen().rows(of: notice.isFault ? Mark.alert(text) : Mark.strong(text)).prefix(most).map(\.self)
    }
    let name = conversation.map { TextFormat.label($0, for: me) } ?? visible(acts.conversation.description)
    var parts = [Mark.body(name)]
    if let isOnline { parts.append(isOnline ? "online" : "offline") }
    if isBlocked { parts.append("blocked by you") }
    if conversation?.mutedUntil != nil { parts.append("muted") }
    if let panel {
      let hasMore = try panel.visible(max(1, height - 2), call.screen()).hasMore
      parts.append(hasMore ? "PageUp shows more, Esc goes back" : "Esc goes back")
    } else if stretch.isScrolled {
      parts.append("Esc goes to the end")
    }
    var text = parts.joined(separator: ", ")
    if !typing.isEmpty {
      let names = try typing.map(messenger.shownName)
      text += ": " + TextFormat.typing(names)
    }
    return try call.screen().rows(of: Mark.faint(cut("-- \(text) --", width))).prefix(1).map(\.self)
  }
}
