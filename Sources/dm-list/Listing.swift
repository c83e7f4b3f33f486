internal import DMCLI
internal import DMKit
internal import DMSystem

/// Prints the list, and then the conversations that change.
final class Listing {
  private let call: Invocation
  private let messenger: Messenger
  private let query: ListQuery
  /// The conversations as they were printed last.
  private var shown: [Identifier: Conversation] = [:]
  private var lastCount: Int?
  private var changed: [Identifier] = []
  private var isChanged: Set<Identifier> = []
  private var due: Int64?

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

  /// Whether the list stands on a terminal, and is drawn again when it changes.
  private var redraws: Bool {
    get throws {
      try !call.arguments[DMList.count] && !call.isJSON && !call.isQuiet && call.screen().rows != nil
    }
  }

  private func redraw() throws {
    var fitting = query
    fitting.limit = try min(query.limit ?? .max, max(1, (call.screen().rows ?? 1) - 1))
    let list = try messenger.conversations(fitting)
    try call.output.write(Screen.clearing)
    shown = [:]
    for conversation in list { try print(conversation) }
  }

  private func print(_ conversation: Conversation) throws {
    if shown[conversation.id] == conversation { return }
    shown[conversation.id] = conversation
    try call.print(conversation) {
      try TextFormat.line($0, for: messenger.identity.handle, columns: call.screen().columns)
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
    events.marksDelivered = false
    events.signalsPresence = !call.arguments[DMList.invisible]
    try call.follow(events, take)
  }

  private func take(_ events: [MessagingEvent]) throws -> Duration? {
    for event in events {
      // The list is read after the stream has started, so that no change is missed between the two.
      if case .caughtUp = event { try redraws ? redraw() : print() }
      if let id = event.conversationID, isChanged.insert(id).inserted { changed.append(id) }
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
