internal import DMCLI
internal import DMKit
internal import DMSystem

/// A window with the list of conversations, from which the user chooses one.
final class Picker {
  let call: Invocation
  let window: Window
  let messenger: Messenger
  /// The text that the listed names must contain.
  var filter = EditedLine()
  var conversations: [Conversation] = []
  var chosen = 0
  private var isNew = true
  /// The conversation from which the user came, to which Esc goes back; nil if there is none.
  private let back: ConversationReference?
  /// The handles of the users of the store, read when a name is typed that no conversation has.
  private lazy var people = Result { Set(try messenger.users(limit: 10_000).map(\.handle)) }
  /// An error that is shown until the next key, instead of the help for the keys.
  var fault: String?

  init(_ call: Invocation, _ window: Window, from back: ConversationReference? = nil) throws {
    self.call = call
    self.back = back
    self.window = window
    messenger = try call.messenger()
    window.forget()
  }

  /// - Returns: the conversation to open; nil to end the program.
  func run() throws -> ConversationReference? {
    var query = EventQuery()
    query.kinds = [.message, .messageUpdated, .messageDeleted, .conversationUpdated]
    query.marksDelivered = false
    query.signalsPresence = !call.arguments[DMChat.invisible]
    let follower = try Follower(messenger, query)
    follower.yieldsTo = window.descriptors
    while true {
      try load()
      try draw()
      let limit = window.due.map { Duration.microseconds(max(0, $0 - monotonicMicroseconds())) }
      _ = try follower.next(within: limit)
      var events = try window.events()[...]
      // Puts the remaining keys back, for the conversation that opens.
      defer { window.putBack(events) }
      while let event = events.popFirst() {
        switch event {
        case .interrupted:
          window.interrupt()
          return nil
        case .ended: return nil
        case .resized: continue
        case .key(.escape) where filter.isEmpty: return back
        case .key(.enter): if let reference = try enter() { return reference }
        case .key(let key): if try press(key) { return nil }
        }
      }
    }
  }

  /// - Returns: the conversation to open; nil if there is none.
  private func enter() throws -> ConversationReference? {
    if conversations.indices.contains(chosen) { return .id(conversations[chosen].id) }
    if filter.isEmpty { return nil }
    do {
      let reference = try ConversationReference(filter.text)
      _ = try Conversing(messenger, reference)
      return reference
    } catch let error as DMError where !error.code.isFatal {
      fault = error.text
      return nil
    }
  }

  /// - Returns: true if the key ends the program: Ctrl-D on an empty line.
  private func press(_ key: Key) throws -> Bool {
    fault = nil
    let before = filter.text
    switch key {
    case .up, .previous: chosen -= 1
    case .down, .next, .tab: chosen += 1
    case .pageUp: chosen -= 10
    case .pageDown: chosen += 10
    case .nextUnread: chosen = conversations.indices.first { $0 > chosen && isUnread($0) } ?? preselected
    case .redraw: window.forget()
    case .escape: filter.replace("")
    default:
      if !filter.apply(key), key == .endOfInput, filter.isEmpty { return true }
    }
    chosen = min(max(0, chosen), max(0, conversations.count - 1))
    if filter.text != before {
      conversations = []
      // Reads the list before the next key, because Enter may follow at once, and must open a conversation of the new
      // list.
      try load()
    }
    return false
  }

  /// Reads the list.
  ///
  /// Keeps the chosen conversation if it is still listed. If none was listed before, chooses the conversation whose
  /// name was typed, or else the first; if no name was typed, `preselected`.
  private func load() throws {
    let isLost = chosen < 0 && !conversations.isEmpty
    let id = conversations.indices.contains(chosen) ? conversations[chosen].id : nil
    var query = ListQuery()
    query.matching = filter.isEmpty ? nil : filter.text
    query.limit = 200
    query.isOpening = isNew
    conversations = try messenger.conversations(query)
    isNew = false
    let (me, names) = (messenger.identity.handle, [filter.text, "+\(filter.text)"])
    // If the chosen conversation is no longer listed, none is chosen until the next key.
    chosen =
      conversations.firstIndex { $0.id == id }
      ?? (id != nil || isLost
        ? -1
        : filter.isEmpty
          ? preselected : conversations.firstIndex { names.contains(TextFormat.name($0, for: me)) } ?? 0)
  }

  private func isUnread(_ index: Int) -> Bool {
    conversations[index].unreadCount > 0 && conversations[index].mutedUntil == nil && !isBack(index)
  }

  /// Whether the user came from this conversation.
  private func isBack(_ index: Int) -> Bool {
    let conversation = conversations[index]
    guard case .direct(let handle) = back else { return back == .id(conversation.id) }
    let others = conversation.participants.filter { $0 != messenger.identity.handle }
    return !conversation.isGroup && (others.first ?? messenger.identity.handle) == handle
  }

  /// The first conversation that has unread messages and is not muted, other than the one from which the user came; else
  /// the first other one.
  private var preselected: Int {
    conversations.indices.first(where: isUnread) ?? conversations.indices.first { !isBack($0) } ?? 0
  }
}

/// The drawing of the window.
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
      ? try filter.isEmpty ? "no conversations yet; type a name" : promise
      : "Enter opens, Up and Down choose, letters search, Ctrl-D leaves"
    let said = fault.map { Mark.alert("-- \(visible($0)) --") } ?? Mark.faint(cut("-- \(state) --", width))
    rows += screen.rows(of: said)
    let typed = LineRows(filter, width: width, prompt: "/ ")
    rows.append(Array(typed.rows[typed.row].utf8))
    window.draw(rows, cursor: (rows.count - 1, typed.beforeCursor), endingAt: end)
    window.show(title: "dm")
  }

  /// What Enter does with a name that no listed conversation has.
  private var promise: String {
    get throws {
      let handle = Handle(typed: filter.text.without("@"))
      let isPerson = try people.get().contains(handle)
      return isPerson
        ? "Enter begins a conversation with \(visible(handle.description))"
        : "no conversation and no user here has that name"
    }
  }
}
