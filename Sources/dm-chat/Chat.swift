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
