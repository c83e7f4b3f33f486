internal import DMCLI
internal import DMKit

/// What the window shows.
extension Picker {
  func draw() throws {
    let screen = try call.screen()
    let (width, height) = (screen.columns ?? 80, max(1, (screen.rows ?? 24) - 2))
    let first = max(0, chosen + 1 - height)
    let me = messenger.identity.handle
    var rows = conversations.enumerated().dropFirst(first).prefix(height).map { index, conversation in
      let mark = index == chosen ? Mark.strong("> ") : "  "
      return screen.rows(of: mark + TextFormat.line(conversation, for: me, columns: width - 2))[0]
    }
    let end = rows.count
    let state =
      conversations.isEmpty
      ? filter.isEmpty ? "no conversations yet; type a name" : "Enter begins a conversation with that name"
      : "Enter opens, Up and Down choose, letters search, Ctrl-D leaves"
    let said = fault.map { Mark.alert("-- \(visible($0)) --") } ?? Mark.faint(cut("-- \(state) --", width))
    rows += screen.rows(of: said)
    let typed = LineRows(filter, width: width, prompt: "/ ")
    rows.append(Array(typed.rows[typed.row].utf8))
    window.draw(rows, cursor: (rows.count - 1, typed.beforeCursor), clearingFrom: end)
  }
}
