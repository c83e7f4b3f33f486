internal import DMCLI
internal import DMKit
internal import DMSystem

/// The list of conversations in a window, to choose from.
final class Picker {
  private let call: Invocation
  private let window: Window
  private let messenger: Messenger
  /// What the names must have in them.
  private var filter = EditedLine()
  private var conversations: [Conversation] = []
  private var chosen = 0

  init(_ call: Invocation, _ window: Window) throws {
    self.call = call
    self.window = window
    messenger = try call.messenger()
    window.forget()
  }

  /// - Returns: nil if the user leaves.
  func run() throws -> ConversationReference? {
    var query = EventQuery()
    query.kinds = [.message, .messageUpdated, .messageDeleted, .conversationUpdated]
    query.marksDelivered = false
    query.signalsPresence = !call.arguments[DMChat.invisible]
    let follower = try Follower(messenger, query)
    follower.yieldsTo = window.descriptors
    while true {
      try draw()
      let limit = window.due.map { Duration.microseconds(max(0, $0 - monotonicMicroseconds())) }
      _ = try follower.next(within: limit)
      for event in try window.events() {
        switch event {
        case .ended: return nil
        case .resized: continue
        case .key(.enter) where conversations.indices.contains(chosen): return .id(conversations[chosen].id)
        case .key(.enter): if !filter.isEmpty { return try ConversationReference(filter.text) }
        case .key(let key): if press(key) { return nil }
        }
      }
    }
  }

  /// - Returns: whether the user leaves.
  private func press(_ key: Key) -> Bool {
    switch key {
    case .up, .previous: chosen -= 1
    case .down, .next, .tab: chosen += 1
    case .pageUp: chosen -= 10
    case .pageDown: chosen += 10
    case .redraw: window.forget()
    case .escape:
      if filter.isEmpty { return true }
      filter.replace("")
    default:
      if filter.apply(key) { chosen = 0 } else if key == .endOfInput { return true }
    }
    return false
  }

  private func draw() throws {
    let screen = try call.screen()
    let (width, height) = (screen.columns ?? 80, max(1, (screen.rows ?? 24) - 2))
    var query = ListQuery()
    query.matching = filter.isEmpty ? nil : filter.text
    query.limit = 200
    conversations = try messenger.conversations(query)
    chosen = min(max(0, chosen), max(0, conversations.count - 1))
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
    rows.append(screen.rows(of: Mark.faint(cut("-- \(state) --", width)))[0])
    let typed = LineRows(filter, width: width, prompt: "/ ")
    rows.append(Array(typed.rows[typed.row].utf8))
    window.draw(rows, cursor: (end + 1, typed.beforeCursor), clearingFrom: end)
  }
}
