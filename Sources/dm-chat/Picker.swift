internal import DMCLI
internal import DMKit
internal import DMSystem

/// The list of conversations in a window, to choose from.
final class Picker {
  let call: Invocation
  let window: Window
  let messenger: Messenger
  /// What the names must have in them.
  var filter = EditedLine()
  var conversations: [Conversation] = []
  var chosen = 0
  /// Said instead of the keys until the next one.
  var fault: String?

  init(_ call: Invocation, _ window: Window) throws {
    self.call = call
    self.window = window
    messenger = try call.messenger()
    window.forget()
  }

  /// - Parameter back: the conversation to which Esc goes.
  /// - Returns: nil if the user leaves.
  func run(back: ConversationReference? = nil) throws -> ConversationReference? {
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
      for event in try window.events() {
        switch event {
        case .ended: return nil
        case .resized: continue
        case .key(.escape) where filter.isEmpty: return back
        case .key(.enter): if let reference = try enter() { return reference }
        case .key(let key): if try press(key) { return nil }
        }
      }
    }
  }

  /// - Returns: what is opened; nil if there is nothing of that name.
  private func enter() throws -> ConversationReference? {
    if conversations.indices.contains(chosen) { return .id(conversations[chosen].id) }
    if filter.isEmpty { return nil }
    do {
      let reference = try ConversationReference(filter.text)
      _ = try Conversing(messenger, reference).existing()
      return reference
    } catch let error as DMError where !error.code.isFatal {
      fault = error.text
      return nil
    }
  }

  /// - Returns: whether the user leaves.
  private func press(_ key: Key) throws -> Bool {
    fault = nil
    let before = filter.text
    switch key {
    case .up, .previous: chosen -= 1
    case .down, .next, .tab: chosen += 1
    case .pageUp: chosen -= 10
    case .pageDown: chosen += 10
    case .redraw: window.forget()
    case .escape: filter.replace("")
    default:
      if !filter.apply(key), key == .endOfInput, filter.isEmpty { return true }
    }
    chosen = min(max(0, chosen), max(0, conversations.count - 1))
    if filter.text != before {
      conversations = []
      // Enter may have come with this key, before anything was drawn.
      try load()
    }
    return false
  }

  /// Reads the list; the chosen conversation stays chosen where others have come before it, and else the one of the very
  /// name that is typed is chosen.
  private func load() throws {
    let id = conversations.indices.contains(chosen) ? conversations[chosen].id : nil
    var query = ListQuery()
    query.matching = filter.isEmpty ? nil : filter.text
    query.limit = 200
    conversations = try messenger.conversations(query)
    let me = messenger.identity.handle
    chosen =
      conversations.firstIndex { $0.id == id }
      ?? conversations.firstIndex { [filter.text, "+\(filter.text)"].contains(TextFormat.name($0, for: me)) } ?? 0
  }
}
