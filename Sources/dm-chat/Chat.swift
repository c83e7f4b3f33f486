internal import DMCLI
internal import DMKit
internal import DMSystem

/// A conversation in a window: a loop that draws the model, waits for events and keys, and updates the model.
final class Chat {
  private let call: Invocation
  private let window: Window
  private let loader: Loader
  private let commands: Commands
  private let follower: Follower
  private var model: ChatModel
  private var marks = ReadMarks()
  private var shownTyping: ShownTyping
  private let history: CommandHistory
  private var notifier = Notifier()
  private var acts: Conversing { loader.acts }
  private var messenger: Messenger { acts.messenger }
  /// The conversation, by its id if it is a group.
  var reference: ConversationReference { acts.conversation }

  init(_ call: Invocation, _ window: Window, _ reference: ConversationReference) throws {
    (self.call, self.window) = (call, window)
    let acts = try Conversing(try call.messenger(), reference, call.settings)
    loader = Loader(acts)
    commands = Commands(acts) { [settings = call.settings] in
      try .ofTerminal(settings, hasSixels: window.showsSixels)
    }
    history = CommandHistory(acts.messenger)
    let cursor: Cursor?
    (model, cursor) = try loader.begin(Self.layout(call, acts.messenger), commands: history.commands)
    model.notifications = try NotificationRule(call.settings)
    shownTyping = try acts.shownTyping()
    var query = EventQuery([acts.conversation], from: cursor.map { .cursor($0) } ?? .start)
    query.kinds = Set(MessagingEvent.Kind.allCases)
    query.includesReaders = true
    query.signalsPresence = !call.arguments[DMChat.invisible]
    try Self.markDelivered(model, acts.messenger)
    follower = try Follower(acts.messenger, query)
    follower.yieldsTo = window.descriptors
    follower.keepCarrier = { [call] in call.startCarrier() }
    window.forget()
    window.beforePause = { [weak self] in
      self?.model.composition.pause()
      self?.shownTyping.show(false)
    }
  }

  /// Marks as delivered the messages that are loaded when the window opens.
  private static func markDelivered(_ model: ChatModel, _ messenger: Messenger) throws {
    var printed = PrintedMessages(isToBeRead: false)
    for entry in model.loaded.entries { printed.add(entry.message) }
    _ = try messenger.markDelivered(upTo: printed.lastOfOthers)
  }

  private static func layout(_ call: Invocation, _ messenger: Messenger) throws -> Layout {
    Layout(screen: try call.screen().fixed(), me: messenger.identity.handle)
  }

  /// Shows the conversation until the user leaves it, and saves the unsent text as the draft.
  ///
  /// After an error, prints the unsent text.
  func run() throws -> ChatModel.End {
    do {
      try converse()
      try keepDraft()
    } catch {
      try printText()
      throw error
    }
    return model.end ?? .quit
  }

  private func converse() throws {
    var shown: [MessagingEvent] = []
    while model.end == nil {
      draw()
      shownTyping.show(model.composition.isTyping(at: monotonicMicroseconds()))
      try markRead(now: monotonicMicroseconds())
      try follower.markDelivered(shown)
      shown = try follower.next(within: .microseconds(max(0, due - monotonicMicroseconds()))) ?? []
      for event in shown { try take(event) }
      try load()
      try takeEvents()
      for failure in model.opened.compactMap({ $0.failure() }) { model.say(failure, isFault: true) }
    }
    shownTyping.show(false)
    if window.ending == nil { try markRead(now: .max) }
    // Draws once more, because the rows stay on the terminal after the program ends, and must include the message that
    // was sent last.
    for event in try follower.next(within: .zero) ?? [] { try take(event) }
    try load()
    draw()
  }

  /// The time, on the monotonic clock, at which the window must be updated even if no key or event has arrived.
  private var due: Int64 {
    min(
      window.due ?? .max, marks.due, shownTyping.due, model.composition.typingDue(after: monotonicMicroseconds()))
  }

  private func draw() {
    let frame = render(model)
    window.draw(frame.rows, cursor: frame.cursor, endingAt: frame.end, picture: frame.picture)
    window.show(title: model.title)
    marks.unread = frame.unread
  }

  private func markRead(now: Int64) throws {
    model.loaded.setRead(try marks.mark(messenger, now: now))
    model.cannotMark = marks.isRefused
  }

  private func load() throws {
    guard model.isStale else { return }
    let isNew = model.conversation == nil
    try loader.load(&model)
    if isNew, model.conversation != nil { shownTyping = try acts.shownTyping() }
  }

  // MARK: Events

  private func take(_ event: MessagingEvent) throws {
    model.update(event)
    guard case .message(let message, _) = event, !message.isMine else { return }
    if call.arguments[DMChat.bell] { ringBell() }
    if model.isCall(message), !model.notifications.isQuiet(at: .now), notifier.mayNotify(at: monotonicMicroseconds()) {
      try window.notify(model.call(of: message))
    }
  }

  private func takeEvents() throws {
    var events = try window.events()[...]
    while model.end == nil, let event = events.popFirst() {
      switch event {
      case .key(let key):
        if try !take(key), key == .enter { events = try keepKeys(in: events + window.events()) }
      case .resized: model.resize(try Self.layout(call, messenger))
      case .interrupted:
        if model.composition.endSearch() { continue }
        window.interrupt()
        model.leave(.quit)
      case .ended: model.leave(.quit)
      }
      // The next key may act on the messages on the screen, so these are updated first.
      try load()
    }
    window.putBack(events)
  }

  /// - Returns: false if the action of the key has failed.
  private func take(_ key: Key) throws -> Bool {
    let before = model.composition.line.text
    notifier.noteKey(at: monotonicMicroseconds())
    defer { model.composition.strike(after: before, at: monotonicMicroseconds()) }
    do {
      try model.update(key).map(perform)
      // A question counts as a failure, so that an Enter that was typed before it does not answer it.
      return model.asked == nil
    } catch let error as DMError {
      // A key or a command that fails does not close the window.
      model.say(acts.text(of: error), isFault: true)
      return false
    }
  }

  /// Adds the keys that were typed after Enter to the user's text, on a new line.
  ///
  /// Called when the action of Enter has failed, because the user typed these keys before they could see the failure.
  ///
  /// - Returns: the events that are not keys.
  private func keepKeys(in events: ArraySlice<Window.Event>) -> ArraySlice<Window.Event> {
    let keys = events.compactMap { if case .key(let key) = $0 { key } else { nil } }
    if !keys.isEmpty { model.composition.add(ahead: keys) }
    return events.filter { if case .key = $0 { false } else { true } }[...]
  }

  private func perform(_ request: ChatModel.Request) throws {
    switch request {
    case .enter: try enter()
    case .complete: try Completion(messenger: messenger).complete(&model)
    case .redraw: window.forget()
    case .offerOwn(let limit): model.offer(try acts.lastOwn(before: limit))
    case .go(let number): model.update(try commands.go(to: number))
    case .nextUnread: model.update(next: try acts.nextUnread())
    }
  }

  /// Sends the line, or runs its command; keeps the line if that fails.
  private func enter() throws {
    model.closePanel()
    let text = model.composition.line.text
    let isConfirmed = model.takeAsked() == text
    if text.allSatisfy(\.isWhitespace) { return model.composition.finish() }
    let outcome = try commands.perform(
      Entered(model.lineToEnter), in: model.layout, replaces: isConfirmed
    ) { [self] doing in
      if window.isInterrupted { throw usage("this was not done: you pressed Ctrl-C") }
      model.say("\(doing) …")
      draw()
    }
    model.update(outcome)
    if model.asked != nil { return }
    // A history that cannot be written is no reason to fail.
    _ = try attempt { try history.add(text) }
    shownTyping.show(false)
    // The line was sent, or its command was run, so a failure to remove the draft is ignored: `keepDraft` tries again.
    _ = try attempt { try removeDraft() }
    call.startCarrier()
  }

  // MARK: The unsent text

  /// Saves or removes the draft if this window changed it.
  ///
  /// An unchanged draft is not saved, because another window may have saved a newer one.
  private func keepDraft() throws {
    if model.composition.draft == model.composition.loadedDraft { return }
    guard var draft = model.composition.draft else { return try removeDraft() }
    // While this window was open, another window may have saved a draft. That draft is kept, above the text of this window.
    if let other = try acts.existing()?.draftText, other != model.composition.loadedDraft, other != draft {
      draft = other + "\n" + draft
    }
    _ = try messenger.saveDraft(draft, in: acts.conversation)
  }

  private func removeDraft() throws {
    guard let draft = model.conversation?.draftText, draft == model.composition.loadedDraft else { return }
    _ = try messenger.change(.draft(nil), in: [acts.conversation])
    model.conversation?.draftText = nil
    model.composition.forgetLoadedDraft()
  }

  /// Prints the unsent text after an error that ends the program.
  private func printText() throws {
    window.leave()
    guard let draft = model.composition.draft else { return }
    try call.print("> " + visible(draft, indent: "  "))
    try call.output.flush()
  }
}
