internal import DMCLI
internal import DMKit

/// The state of the window, including the line that the user writes: a value that events, keys and commands change.
///
/// The model does no I/O. `Loader` reads the messages that the model lacks, `render` makes the rows of the window, and
/// `Chat` carries out the actions that the model requests.
struct ChatModel {
  enum End: Equatable {
    case quit, list
    /// Open this conversation.
    case other(ConversationReference)
  }

  /// An action that a key requests, and that `Chat` carries out.
  enum Request {
    case enter, complete, redraw, nextUnread
    /// Go to the message with this number.
    case go(Int)
    /// Put an `/edit` command into the line, for the user's last message before this number; nil for their last message
    /// of all.
    case offerOwn(before: Int?)
  }

  /// The result of a command.
  enum Outcome {
    case sent, changed
    case notice(String)
    case offer(Message)
    case panel(Panel, notice: String?)
    /// Messages to show, and the number of the one that the user wants to see.
    case messages(before: [Message], after: [Message], marked: Int?)
    case opened(OpenedAttachment)
    /// One message, as text and with its picture.
    case shown([String], TerminalPicture?)
    /// A question, to which Enter says yes; the line stays as it is.
    case asks(String)
    case end(End)
  }

  /// The parts that must be read again from the store.
  struct Lack: Equatable {
    /// The conversation, which did not exist before its first message or change arrived.
    var conversation = false
    /// The users who are blocked.
    var blocked = false
    /// The names of the users who are typing.
    var names = false
    /// The participants, and their names.
    var people = false
    /// The newest messages.
    var newest = false
    /// The pinned messages, which a panel lists.
    var pins = false
    /// The numbers of messages that have changed.
    var changed: [SeqRange] = []
  }

  let reference: ConversationReference
  /// Of which messages the user wants to be notified.
  var notifications = NotificationRule()
  var layout: Layout
  /// Nil for a direct conversation that does not exist yet.
  var conversation: Conversation?
  var loaded: LoadedMessages
  var composition: Composition
  /// A text that the status line shows until the next key.
  private(set) var notice: (text: String, isFault: Bool)?
  var panel: Panel?
  /// The line that was entered and that led to a question; Enter runs it again.
  private(set) var asked: String?
  /// The programs that show attachments.
  private(set) var opened: [OpenedAttachment] = []
  /// The message that the command in the line names; the message is nil if there is none with this number.
  var named: (number: Int, message: Message?)?
  /// How many messages of others have come below the screen since the user scrolled back.
  private(set) var newBelow = 0
  /// How many messages have come since the last key that are for the user in particular.
  private(set) var calls = 0
  private(set) var typing: [Handle] = []
  var typingNames: [String] = []
  var isOnline: Bool?
  /// Whether the hub of the store cannot be reached.
  private(set) var isHubLost = false
  /// The users who are blocked by the user of this window.
  var blocked: Set<Handle> = []
  /// Whether the messages on the screen cannot be marked as read.
  var cannotMark = false
  var lack = Lack()
  /// Whether something must be read, or the rows on the screen must be found, before the window can be drawn.
  var isStale: Bool { lack != Lack() || !loaded.isSettled(height) || numberInLine != named?.number }
  private(set) var end: End?

  var me: Handle { layout.me }
  var isBlocked: Bool { other.map(blocked.contains) ?? false }
  var other: Handle? { conversation?.isGroup == false ? conversation?.participants.first { $0 != me } : nil }

  /// - Parameters:
  ///   - conversation: nil for a direct conversation that does not exist yet.
  ///   - entered: the texts of the history of the line, oldest first.
  init(
    _ reference: ConversationReference, _ conversation: Conversation?, _ layout: Layout, entered: [String] = []
  ) {
    (self.reference, self.conversation, self.layout) = (reference, conversation, layout)
    composition = Composition(draft: conversation?.draftText, entered: entered)
    loaded = LoadedMessages(layout.me)
    loaded.firstUnread = conversation?.firstUnreadSeq
    loaded.unreadCount = conversation?.unreadCount ?? 0
  }

  mutating func say(_ text: String, isFault: Bool = false) { notice = (text, isFault) }

  mutating func leave(_ end: End) { self.end = end }

  /// Leaves for the next conversation with unread messages; for nil, shows a notice.
  mutating func update(next: ConversationReference?) {
    guard let next else { return say("no other conversation has unread messages") }
    end = .other(next)
  }

  mutating func resize(_ layout: Layout) {
    self.layout = layout
    loaded.forgetRows()
    let height = height
    panel?.goBack(0, height: height, layout)
  }

  mutating func closePanel() { panel = nil }

  /// The line that a question was about, which is then no longer asked.
  mutating func takeAsked() -> String? {
    defer { asked = nil }
    return asked
  }
}

/// Changes of the model after events of the conversation.
extension ChatModel {
  mutating func update(_ event: MessagingEvent) {
    switch event {
    case .messagePin, .messageUpdated, .messageDeleted, .gap: lack.pins = panel?.isOfPins == true
    default: break
    }
    switch event {
    case .message(let message, _):
      if conversation == nil { lack.conversation = true }
      if !loaded.isScrolled { newBelow = 0 } else if !message.isMine { newBelow += 1 }
      if isCall(message) { calls += 1 }
      loaded.take(message)
      if !blocked.isEmpty { lack.blocked = true }
    case .messageUpdated(let message, _):
      loaded.take(message)
      lack.changed += loaded.replies(to: message.id)
    case .messageDeleted(let deletion, _):
      if let seq = deletion.seq { lack.changed.append(seq...seq) } else { lack.newest = true }
      lack.changed += loaded.replies(to: deletion.messageID)
    case .reaction(let reaction, _): lack.changed.append(reaction.seq...reaction.seq)
    case .messagePin(let pin, _): lack.changed.append(pin.seq...pin.seq)
    case .messageStatus(let status, _): lack.changed += status.ranges
    case .readReceipt(let receipt, _), .deliveryReceipt(let receipt, _):
      if receipt.user != me { lack.changed += receipt.ranges }
    case .conversationUpdated(let changed, _):
      if conversation == nil { lack.conversation = true }
      conversation = changed
      lack.blocked = true
      lack.people = true
    case .typing(let typing):
      self.typing = typing.users
      lack.names = true
    case .presence(let presence): if presence.user == other { isOnline = presence.isOnline }
    case .hub(let status): isHubLost = !status.isConnected
    case .caughtUp, .heartbeat: break
    case .gap: lack.newest = true
    }
  }
}

/// Changes of the model after keys.
extension ChatModel {
  mutating func update(_ key: Key) -> Request? {
    notice = nil
    calls = 0
    if key != .enter { asked = nil }
    if composition.search(key) { return nil }
    if let number = choose(key) { return number.map(Request.go) }
    switch key {
    case .enter: return .enter
    case .nextUnread: return .nextUnread
    case .tab: return .complete
    case .redraw: return .redraw
    case .escape:
      composition.dropOffer()
      if panel == nil { goToEnd() }
      panel = nil
    case .pageUp: goBack(1)
    case .pageDown: goBack(-1)
    case .up where composition.line.isEmpty || composition.isOffered:
      return .offerOwn(before: composition.line.isEmpty ? nil : composition.offered?.number)
    default:
      if !composition.line.apply(key), key == .endOfInput, composition.line.isEmpty { end = .quit }
    }
    return nil
  }

  /// Scrolls back by pages, or forward if the number is negative.
  ///
  /// One row of the previous page stays visible.
  private mutating func goBack(_ pages: Int) {
    let height = height
    let rows = pages * max(1, height - 1)
    if panel != nil {
      panel?.goBack(rows, height: height, layout)
    } else if rows > 0 {
      loaded.goBack(rows)
    } else {
      loaded.goOn(-rows)
    }
  }

  private mutating func goToEnd() {
    loaded.goToEnd()
    newBelow = 0
    if loaded.hasNewer { lack.newest = true }
  }

  /// Puts an `/edit` command for this message of the user into the line; for nil, shows a notice.
  mutating func offer(_ own: Message?) {
    guard let own else { return say("there is no message to edit here") }
    offer(own)
  }

  private mutating func offer(_ message: Message) {
    guard let number = message.seq, let text = message.text else { return }
    composition.offer(text, of: number)
  }
}

/// Changes of the model after commands.
extension ChatModel {
  mutating func update(_ outcome: Outcome) {
    notice = nil
    if case .asks(let question) = outcome {
      asked = composition.line.text
      return say(question, isFault: true)
    }
    composition.finish()
    switch outcome {
    case .sent:
      loaded.firstUnread = nil
      goToEnd()
    case .changed, .asks: break
    case .opened(let program):
      opened.append(program)
      say("opened")
    case .shown(let lines, let picture):
      panel = Panel(lines, below: picture)
      say(picture == nil ? "Esc back" : "/open opens it, Esc back")
    case .notice(let text): say(text)
    case .offer(let message): offer(message)
    case .panel(let panel, let notice):
      self.panel = panel
      if let notice { say(notice) }
    case .messages(let before, let after, let marked):
      panel = nil
      if before.isEmpty, after.isEmpty { return lack.newest = true }
      loaded.replace(before: before, after: after, marking: marked)
      loaded.goOn(height / 2)
    case .end(let end): self.end = end
    }
  }
}
