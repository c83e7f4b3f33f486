internal import DMCLI
internal import DMKit

extension Listing {
  /// Whether the list stands on a terminal, and is drawn again when it changes.
  var redraws: Bool {
    get throws {
      try !call.arguments[DMList.count] && !call.isJSON && !call.isQuiet && call.screen().canRenew
    }
  }

  func redraw() throws {
    var fitting = query
    fitting.limit = try min(query.limit ?? .max, max(1, (call.screen().rows ?? 1) - 1))
    let list = try messenger.conversations(fitting)
    try call.output.write(Screen.clearing)
    shown = [:]
    for conversation in list { try print(conversation) }
  }

  /// Draws the list for the first time.
  func begin() throws {
    online = Set(try messenger.presence().filter(\.isOnline).map(\.user))
    try redraw()
  }

  /// Remembers who is typing and who is online.
  ///
  /// - Returns: the conversation that has changed; of presence, the one on the screen with that user.
  func note(_ event: MessagingEvent) -> Identifier? {
    if case .typing(let event) = event { typing[event.conversationID] = event.users.isEmpty ? nil : event.users }
    guard case .presence(let event) = event else { return event.conversationID }
    if event.isOnline { online.insert(event.user) } else { online.remove(event.user) }
    return shown.values.first { !$0.isGroup && $0.participants.contains(event.user) }?.id
  }

  /// What a row shows of people who are there now.
  func sign(of conversation: Conversation) throws -> TextFormat.Present {
    let names = try (typing[conversation.id] ?? []).map(messenger.shownName)
    let others = conversation.participants.filter { $0 != messenger.identity.handle }
    return TextFormat.Present(
      isOnline: !conversation.isGroup && others.contains(where: online.contains),
      typing: names.isEmpty ? nil : TextFormat.typing(names))
  }
}
