internal import DMCLI
internal import DMKit
internal import DMSystem

/// A conversation that is printed line by line, without moving the cursor; each message is printed as a sentence.
final class PlainChat {
  let call: Invocation
  let acts: Conversing
  private var page: MessagePage
  private var lines = LineBuffer()
  var isOver = false
  private var messenger: Messenger { acts.messenger }

  /// - Parameter conversation: nil to print the list, and let the user type a name.
  init(_ call: Invocation, _ conversation: ConversationReference?) throws {
    self.call = call
    let messenger = try call.messenger()
    let chosen = try conversation ?? Self.choose(call, messenger, &lines)
    acts = try Conversing(messenger, chosen, call.settings)
    page = MessagePage(messenger, [acts.conversation], isPlain: true)
  }

  private static func choose(
    _ call: Invocation, _ messenger: Messenger, _ lines: inout LineBuffer
  ) throws -> ConversationReference {
    var query = ListQuery()
    query.isOpening = true
    for conversation in try messenger.conversations(query) {
      try call.print(TextFormat.sentence(conversation, for: messenger.identity.handle))
    }
    try call.output.flush()
    call.announceTyping("type the name of a conversation")
    guard let name = try lines.wait() else { throw call.arguments.missing("CONVERSATION") }
    return try ConversationReference(name)
  }

  func run() throws {
    let draft = try acts.existing()?.draftText
    let cursor = try printHistory()
    var query = EventQuery([acts.conversation], from: cursor.map { .cursor($0) } ?? .start)
    query.kinds = [.message, .messageUpdated, .messageDeleted, .reaction, .messagePin, .hub]
    query.othersOnly = true
    query.signalsPresence = !call.arguments[DMChat.invisible]
    let follower = try Follower(messenger, query)
    follower.yieldsTo = [Stream.input.rawValue]
    follower.keepCarrier = { [call] in call.startCarrier() }
    if let draft { try call.note("your draft: \(draft)") }
    call.announceTyping("type a message, or /help; Ctrl-D leaves")
    while !isOver, let events = try follower.next() {
      var printed = PrintedMessages(isToBeRead: true)
      for event in events {
        if let text = try page.text(of: event) { try call.print(text) }
        if case .message(let message, _) = event { printed.add(message) }
      }
      try call.output.flush()
      if !printed.lastOfOthers.isEmpty, call.arguments[DMChat.bell] { ringBell() }
      try follower.markDelivered(events)
      try printed.markRead(messenger)
      try lines.read()
      while !isOver, try takeLine() {}
      if lines.isAtEnd { isOver = true }
    }
  }

  /// Prints the newest messages, and marks them as read.
  private func printHistory() throws -> Cursor? {
    var query = HistoryQuery(acts.conversation)
    query.limit = 10
    query.allowsMissing = true
    query.isOpening = true
    let history = try messenger.history(query)
    var printed = PrintedMessages(isToBeRead: true)
    while case let batch = try history.next(), !batch.isEmpty {
      for message in batch {
        try call.print(page.text(of: message))
        printed.add(message)
      }
    }
    try call.output.flush()
    try printed.markRead(messenger)
    return history.cursor
  }

  /// Carries out the next line; if that fails, prints the error.
  ///
  /// - Returns: whether there was a line.
  private func takeLine() throws -> Bool {
    do {
      guard let line = try lines.next() else { return false }
      if line.allSatisfy(\.isWhitespace) { return true }
      for line in try perform(Entered(line)) { try call.print(line) }
      try call.output.flush()
      call.startCarrier()
    } catch let error as DMError {
      if isTerminal(.input) {
        printError(call.command.name, acts.text(of: error))
      } else {
        try call.fail(line: lines.number, error)
      }
    }
    return true
  }
}

extension PlainChat {
  /// - Returns: lines to print.
  func perform(_ entered: Entered) throws -> [String] {
    switch entered {
    case .message(let text): try acts.send(text)
    case .command(let command, let rest):
      switch command {
      case .reply: try acts.reply(rest)
      case .edit:
        let (number, text) = Entered.number(rest)
        guard let number, !text.isEmpty else {
          throw usage("write /edit, the number of your message, and its new text")
        }
        try acts.edit(number, text)
      case .react: try acts.react(rest)
      case .delete: try acts.delete(rest)
      case .forward: return [try acts.forward(rest)]
      case .pin: return [try acts.pin(rest, true)]
      case .unpin: return [try acts.pin(rest, false)]
      case .pins:
        let found = try acts.pins()
        return found.isEmpty ? ["nothing is pinned here"] : found.reversed().map(\.line)
      case .show: return try acts.show(rest, nil, in: nil) { _ in }.lines
      case .open: _ = try acts.open(rest) { _ in }
      case .save: return [try acts.save(rest, replaces: nil) { _ in }]
      case .who: return try acts.who().lines
      case .attach: try acts.attach(rest) { _ in }
      case .search:
        let found = try acts.search(rest)
        return found.isEmpty ? ["nothing here matches"] : found.reversed().map(\.line)
      case .digest: return try DigestLines(acts).made(of: rest)
      case .mute: return [try acts.mute() ? "muted" : "no longer muted"]
      case .help: return Entered.plainHelp
      case .go, .list: throw usage("/\(command.rawValue) needs a window, which --plain does not have")
      case .quit: isOver = true
      }
    }
    return []
  }
}
