internal import DMCLI
internal import DMKit
internal import DMSystem

/// Prints the list, and then the conversations that change.
final class Listing {
  let call: Invocation
  let messenger: Messenger
  let query: ListQuery
  /// The conversations as they were printed last.
  var shown: [Identifier: Conversation] = [:]
  private var lastCount: Int?
  var isEmpty: Bool { shown.isEmpty }
  private var changed: [Identifier] = []
  private var isChanged: Set<Identifier> = []
  private var due: Int64?
  /// The people who are typing or online, for a list that is drawn again.
  var typing: [Identifier: [Handle]] = [:]
  var online: Set<Handle> = []

  /// Microseconds within which several changes of a conversation are printed once.
  private static let fold: Int64 = 100_000

  init(_ call: Invocation, _ messenger: Messenger, _ query: ListQuery) {
    self.call = call
    self.messenger = messenger
    self.query = query
  }

  func print() throws {
    if call.arguments[DMList.count] { return try printCount() }
    for conversation in try messenger.conversations(query) { try print(conversation) }
  }

  func print(_ conversation: Conversation) throws {
    if shown[conversation.id] == conversation { return }
    shown[conversation.id] = conversation
    try call.print(conversation) {
      try TextFormat.row($0, for: messenger.identity.handle, on: call.screen(), sign(of: $0))
    }
  }

  private func printCount() throws {
    let count = try messenger.unreadCount(query)
    if count != lastCount { try call.output.write("\(count)\n") }
    lastCount = count
  }

  /// Prints the list, and then each conversation that changes; several changes within `fold` are printed once.
  func follow() throws {
    var events = EventQuery(query.conversations)
    events.kinds = [.message, .messageUpdated, .messageDeleted, .messageStatus, .reaction, .conversationUpdated]
    if try redraws { events.kinds.formUnion([.typing, .presence]) }
    events.marksDelivered = false
    events.signalsPresence = !call.arguments[DMList.invisible]
    try call.follow(events, redraw: try redraws ? redraw : nil, take)
  }

  private func take(_ events: [MessagingEvent]) throws -> Duration? {
    for event in events {
      // The list is read after the stream has started, so that no change is missed between the two.
      if case .caughtUp = event { try redraws ? begin() : print() }
      if let id = note(event), isChanged.insert(id).inserted { changed.append(id) }
    }
    if changed.isEmpty { return nil }
    let now = monotonicMicroseconds()
    let end = due ?? now + Self.fold
    due = end
    if now < end { return .microseconds(end - now) }
    try printChanged()
    return nil
  }

  private func printChanged() throws {
    if call.arguments[DMList.count] {
      try printCount()
    } else if try redraws {
      try redraw()
    } else {
      for id in changed {
        var one = query
        one.only = id
        if let conversation = try messenger.conversations(one).first {
          try print(conversation)
        } else if shown[id] != nil {
          // The conversation no longer matches, and the reader must learn of it.
          try print(try messenger.conversation(.id(id)))
          shown[id] = nil
        }
      }
    }
    (changed, isChanged, due) = ([], [], nil)
  }
}
