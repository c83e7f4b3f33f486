internal import DMCLI
internal import DMKit
internal import DMSystem

/// A conversation in a window: what was said, a line of its state, and below it what the user writes.
final class Chat {
  enum End { case quit, list }

  let call: Invocation
  let window: Window
  let acts: Conversing
  var stretch: Stretch
  var line = EditedLine()
  /// Nil for a direct conversation in which nothing was said yet.
  var conversation: Conversation?
  /// Said in the line of the state until the next key.
  var notice: (text: String, isFault: Bool)?
  var panel: Panel?
  /// What the key Up has put into the line: `/edit` of a message of the user.
  var offered: (text: String, number: Int)?
  var typing: [Handle] = []
  var isOnline: Bool?
  var isBlocked = false
  /// The draft that was in the line at the beginning; another one was left by another window.
  let loadedDraft: String?
  /// The numbers of messages of which something has changed, to be read again after all events of a batch.
  var changed: [SeqRange] = []
  /// The unread messages that are on the screen.
  var unread: [Message] = []
  /// When these may be marked as read, on the monotonic clock.
  var nextMark: Int64 = 0
  var keystrokes = KeystrokeClock()
  var shownTyping: ShownTyping
  var end: End?
  var messenger: Messenger { acts.messenger }
  var me: Handle { messenger.identity.handle }
  var other: Handle? { conversation?.isGroup == false ? conversation?.participants.first { $0 != me } : nil }

  init(_ call: Invocation, _ window: Window, _ reference: ConversationReference) throws {
    self.call = call
    self.window = window
    let screen = try call.screen()
    acts = Conversing(try call.messenger(), reference)
    stretch = Stretch(acts.messenger, reference, draw: screen.rows)
    conversation = try acts.existing()
    stretch.firstUnread = conversation?.firstUnreadSeq
    shownTyping = try acts.shownTyping()
    loadedDraft = conversation?.draftText
    if let loadedDraft { line.replace(loadedDraft) }
    window.forget()
    window.beforePause = { [weak self] in
      self?.keystrokes.stop()
      self?.shownTyping.show(false)
    }
  }

  /// Shows the conversation until the user leaves it.
  func converse() throws {
    var query = EventQuery([acts.conversation], from: try stretch.readNewest().map { .cursor($0) } ?? .start)
    query.kinds = Set(MessagingEvent.Kind.allCases)
    query.includesReaders = true
    query.signalsPresence = !call.arguments[DMChat.invisible]
    try markDelivered()
    let follower = try Follower(messenger, query)
    follower.yieldsTo = window.descriptors
    follower.keepCarrier = { [call] in call.startCarrier() }
    if let other { isOnline = try unlessRefused { try messenger.presence(of: [other]).first?.isOnline } }
    try lookForBlock()
    var shown: [MessagingEvent] = []
    while end == nil {
      try draw()
      try follower.markDelivered(shown)
      shown = try follower.next(within: .microseconds(max(0, due - monotonicMicroseconds()))) ?? []
      for event in shown { try take(event) }
      try readChanged()
      for event in try window.events() where end == nil { try take(event) }
      shownTyping.show(keystrokes.isShowing(at: monotonicMicroseconds()))
    }
    shownTyping.show(false)
    if window.ending == nil { try markRead(now: .max) }
  }

  /// When something happens without a key or an event, on the monotonic clock.
  private var due: Int64 {
    min(
      window.due ?? .max, unread.isEmpty ? .max : nextMark, shownTyping.due,
      keystrokes.due(after: monotonicMicroseconds()) ?? .max)
  }

  /// What was sent before the window was opened has reached the user now.
  private func markDelivered() throws {
    var printed = PrintedMessages(isToBeRead: false)
    for entry in stretch.entries { printed.add(entry.message) }
    _ = try messenger.markDelivered(upTo: printed.lastOfOthers)
  }
}

/// What keys do.
extension Chat {
  func take(_ event: Window.Event) throws {
    switch event {
    case .key(let key):
      notice = nil
      do {
        try press(key)
      } catch let error as DMError {
        // Nothing that is typed ends the window but what leaves it.
        say(error.text, isFault: true)
      }
    case .resized: stretch.forgetRows()
    case .ended: end = .quit
    }
  }

  private func press(_ key: Key) throws {
    let before = line.text
    switch key {
    case .enter: try enter()
    case .tab: try completeWord()
    case .escape:
      if line.text == offered?.text { line.replace("") }
      if panel == nil { try goToEnd() }
      panel = nil
    case .pageUp: try goBack(1)
    case .pageDown: try goBack(-1)
    case .redraw: window.forget()
    case .up where line.isEmpty || line.text == offered?.text: try offerOwn()
    default:
      if !line.apply(key), key == .endOfInput, line.isEmpty { end = .quit }
    }
    if line.isEmpty {
      keystrokes.stop()
    } else if line.text != before, !line.text.hasPrefix("/") || line.text.hasPrefix("/reply ") {
      keystrokes.strike(at: monotonicMicroseconds())
    }
  }

  /// Goes back by a page, or on if the number is negative; one row stays.
  private func goBack(_ pages: Int) throws {
    let height = try height()
    let count = max(1, height - 1)
    if panel != nil {
      let screen = try call.screen()
      panel?.goBack(pages * count, height: height, screen)
    } else if pages > 0 {
      try stretch.goBack(count, height: height, text)
    } else {
      try stretch.goOn(count, text)
    }
  }

  func goToEnd() throws {
    stretch.bottom = nil
    if stretch.hasNewer { try stretch.readNewest() }
  }

  /// Puts `/edit` of the user's last message into the line, or of the one before the message that is there.
  private func offerOwn() throws {
    let limit = line.isEmpty ? Int.max : offered?.number ?? .max
    guard let own = stretch.lastOwn(before: limit), let number = own.seq, let text = own.text else {
      return say("there is no message to edit here")
    }
    line.replace(offer(number, text))
  }

  func say(_ text: String, isFault: Bool = false) { notice = (text, isFault) }
}

/// What Enter does.
extension Chat {
  /// Does what the line says; the line stays if that fails.
  func enter() throws {
    panel = nil
    let text = line.text
    guard text.contains(where: { !$0.isWhitespace }) else { return _ = line.take() }
    do {
      let next = try perform(Entered(text))
      _ = line.take()
      if let next { line.replace(next) }
      keystrokes.stop()
      shownTyping.show(false)
      try removeDraft()
      call.startCarrier()
    } catch let error as DMError {
      say(error.text, isFault: true)
    }
  }

  /// - Returns: what stands in the line then; nil for nothing.
  private func perform(_ entered: Entered) throws -> String? {
    guard case .command(let command, let rest) = entered else {
      if case .message(let text) = entered { try acts.send(text) }
      stretch.firstUnread = nil
      try goToEnd()
      return nil
    }
    switch command {
    case .reply: try acts.reply(rest)
    case .edit: return try edit(rest)
    case .react: try acts.react(rest)
    case .delete: try acts.delete(rest)
    case .attach: try attach(rest)
    case .search: try search(rest)
    case .go: try go(rest)
    case .mute: say(try acts.mute() ? "muted" : "no longer muted")
    case .list: end = .list
    case .help: panel = Panel(Entered.help)
    case .quit: end = .quit
    }
    return nil
  }
}

/// The commands that concern the window.
extension Chat {
  /// - Returns: the text to edit, if there is none yet.
  func edit(_ words: String) throws -> String? {
    let (number, text) = Entered.number(words)
    guard let number = number ?? stretch.lastOwn()?.seq else {
      throw usage("you have sent nothing here that could be edited")
    }
    if !text.isEmpty {
      try acts.edit(number, text)
      return nil
    }
    let message = try messenger.messageToEdit(acts.message(number))
    return offer(message.seq ?? number, message.text ?? "")
  }

  /// - Returns: the line that edits a message, which stands there until it is changed.
  func offer(_ number: Int, _ text: String) -> String {
    let line = "/edit \(number) \(text)"
    offered = (line, number)
    return line
  }

  func attach(_ words: String) throws {
    try acts.attach(words) { [self] doing in
      if window.isInterrupted { throw usage("the file was not sent: you pressed Ctrl-C") }
      say("\(doing) …")
      try draw()
    }
    notice = nil
  }

  func search(_ words: String) throws {
    if words.allSatisfy(\.isWhitespace) { throw usage("write /search and the words to look for") }
    let lines = try acts.search(words)
    if lines.isEmpty { return say("nothing here matches '\(words)'; 'wor*' finds what begins with 'wor'") }
    panel = Panel(lines.reversed())
    let count = lines.count == 1 ? "1 message" : "\(lines.count) messages"
    say("\(lines.count < Conversing.mostFound ? "" : "the newest ")\(count); /go N goes to one, Esc back")
  }

  func go(_ words: String) throws {
    guard let number = Entered.number(words).0 else { throw usage("write /go and the number of a message") }
    try stretch.read(around: number)
    try stretch.goOn(height() / 2, text)
  }
}
