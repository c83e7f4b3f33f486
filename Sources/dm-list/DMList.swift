package import DMCLI
internal import DMKit
internal import DMSystem

package struct DMList: Program {
  static let unread = Flag("unread", "list only conversations with unread messages")
  static let unmuted = Flag("unmuted", "leave out muted conversations")
  static let muted = Flag("muted", "list only muted conversations")
  static let pinned = Flag("pinned", "list only pinned conversations")
  static let idleSince = Option(
    "idle-since", value: "TIME", "list only conversations without activity since this time, such as 30d",
    as: { try typedTime($0) })
  static let archived = Flag("archived", "list only archived conversations")
  static let all = Flag("all", "list archived conversations, too")
  static let match = Option(
    "match", value: "TEXT", "list only conversations whose name or participants contain TEXT", as: matched
  )
  static let limit = Option("limit", short: "n", count: "N", "list at most N conversations, or 'all' [50]")
  static let after = Option(
    "after", value: "CURSOR", "list the page after the conversation with this cursor", as: PageCursor.init)
  static let count = Flag("count", "print the number of unread messages, and nothing else")
  static let follow = Flag(
    "follow", short: "f", "after the list, print conversations that change; with --count, new counts")
  static let pins = Flag(
    "pins", "print the messages that are pinned in the conversations, the newest pin first")
  static let invisible = Flag("invisible", "with --follow: do not show that you are online")

  package static let command = Command(
    "dm-list", "list conversations, pinned first, then by newest activity",
    synopsis: ["[OPTION]... [CONVERSATION]...", "--pins [CONVERSATION]..."],
    options: [
      unread, muted, unmuted, pinned, idleSince, archived, all, match, limit, after, count, follow, invisible, pins,
      fresh,
    ],
    operands: "[CONVERSATION]...",
    rules: [
      .excludes(archived, [all]), .excludes(muted, [unmuted]), .excludes(count, [Common.quiet]),
      .excludes(follow, [after, Common.quiet]),
      .needs(invisible, [follow]),
      .excludes(pins, [unread, muted, unmuted, pinned, idleSince, archived, all, match, limit, after, count, follow]),
    ],
    examples: [
      ("dm-list --unread", "conversations with unread messages"),
      ("dm-list --count", "the number of unread messages, for a status bar"),
      ("dm-list -f --count", "the number of unread messages, now and each time that it changes"),
      ("dm-list --count +ops bob", "the number of unread messages in two conversations"),
      ("dm-list --match ops", "conversations with 'ops' in their name or among their participants"),
      (
        "dm-list --muted --idle-since 30d -n all | jq -r .id | xargs -r dm-conversation archive",
        "archive muted conversations that were idle for 30 days"
      ),
      ("dm-list --pins +ops", "the messages that are pinned in the group"),
      ("dm-list --unread | jq -r '\"\\(.unread_count) \\(.name)\"'", "the unread count of each conversation"),
    ], writes: ["conversation", "message"])

  package static func run(_ call: Invocation) throws {
    let messenger = try call.messenger()
    if !call.arguments[follow] { try call.refresh() }
    if call.arguments[pins] { return try printPins(call, messenger) }
    let list = Listing(call, messenger, try query(call.arguments, messenger))
    if call.arguments[follow] { return try list.follow() }
    try call.inPages { try list.print() }
    if call.arguments[count] { return }
    if list.isEmpty, call.arguments[unread] {
      try call.note("nothing is unread; 'dm-list' also lists conversations that you have read")
    }
    if list.isEmpty, let text = try call.arguments[match] {
      try call.note("no conversation has '\(text)' in its name or its people; 'dm-list' has all")
    }
    try call.suggestNext()
  }

  private static func query(_ arguments: Arguments, _ messenger: Messenger) throws -> ListQuery {
    var query = ListQuery()
    query.archived = arguments[archived] ? .only : arguments[all] ? .included : .excluded
    query.unreadOnly = arguments[unread]
    query.matching = try arguments[match]
    query.unmutedOnly = arguments[unmuted]
    query.mutedOnly = arguments[muted]
    query.pinnedOnly = arguments[pinned]
    query.idleSince = try arguments[idleSince]
    query.limit = try arguments[limit] ?? 50
    query.after = try arguments[after]
    // Refers to the conversations by their ids, because titles may change during the stream.
    query.conversations = try arguments.operands.map {
      .id(try messenger.conversation(ConversationReference($0)).id)
    }
    return query
  }

  private static func matched(_ text: String) throws -> String {
    if text.utf8.count <= titleLimit { return text }
    throw usage("the TEXT of --match has at most \(titleLimit) bytes; shorten it")
  }
}

/// Prints the list, and then the conversations that change.
final class Listing {
  let call: Invocation
  let messenger: Messenger
  private(set) var query: ListQuery
  /// The conversations as they were printed last; kept only if the list follows changes.
  ///
  /// Creating the first dictionary of a type costs 120,000 instructions.
  var shown: [Identifier: Conversation] = [:]
  private var lastCount: Int?
  /// Whether no conversation was printed yet.
  private(set) var isEmpty = true
  private var changed: [Identifier] = []
  private var isChanged: Set<Identifier> = []
  private var due: Int64?
  /// The people who are typing or online, for a list that is redrawn.
  var typing: [Identifier: [Handle]] = [:]
  var online: Set<Handle> = []

  /// The time in microseconds within which several changes of a conversation are printed as one.
  private static let fold: Int64 = 100_000

  init(_ call: Invocation, _ messenger: Messenger, _ query: ListQuery) {
    self.call = call
    self.messenger = messenger
    self.query = query
    self.query.isOpening = true
  }

  /// Reads the list; only the first call opens it.
  private func read<T>(_ body: (ListQuery) throws -> T) rethrows -> T {
    defer { query.isOpening = false }
    return try body(query)
  }

  func print() throws {
    if call.arguments[DMList.count] { return try printCount() }
    for conversation in try read({ try messenger.conversations($0) }) { try print(conversation) }
  }

  func print(_ conversation: Conversation) throws {
    isEmpty = false
    if call.arguments[DMList.follow] {
      if shown[conversation.id] == conversation { return }
      shown[conversation.id] = conversation
    }
    try call.print(conversation) {
      try TextFormat.row($0, for: messenger.identity.handle, on: call.screen(), sign(of: $0))
    }
  }

  private func printCount() throws {
    let count = try read { try messenger.unreadCount($0) }
    if count != lastCount { try call.output.write("\(count)\n") }
    lastCount = count
  }

  /// Prints the list, and then each conversation that changes.
  ///
  /// Several changes of a conversation within the time `fold` are printed as one.
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
          // Prints the conversation once more, so that the reader learns that the conversation no longer matches.
          try print(try messenger.conversation(.id(id)))
          shown[id] = nil
        }
      }
    }
    (changed, isChanged, due) = ([], [], nil)
  }
}

extension Listing {
  /// Whether the list is redrawn on the terminal when it changes.
  var redraws: Bool {
    get throws {
      try !call.arguments[DMList.count] && !call.isJSON && !call.isQuiet && call.screen().canRenew
    }
  }

  func redraw() throws {
    var fitting = query
    fitting.limit = try min(query.limit ?? .max, max(1, (call.screen().rows ?? 1) - 1))
    query.isOpening = false
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
  /// - Returns: the conversation that has changed; for a presence event, the direct conversation with that event's
  ///   user, or nil if it is not on the screen.
  func note(_ event: MessagingEvent) -> Identifier? {
    if case .typing(let event) = event { typing[event.conversationID] = event.users.isEmpty ? nil : event.users }
    guard case .presence(let event) = event else { return event.conversationID }
    if event.isOnline { online.insert(event.user) } else { online.remove(event.user) }
    return shown.values.first { !$0.isGroup && $0.participants.contains(event.user) }?.id
  }

  /// Who is typing or online, for the row of a conversation.
  func sign(of conversation: Conversation) throws -> TextFormat.Present {
    let names = try (typing[conversation.id] ?? []).map(messenger.shownName)
    let others = conversation.participants.filter { $0 != messenger.identity.handle }
    return TextFormat.Present(
      isOnline: !conversation.isGroup && others.contains(where: online.contains),
      typing: names.isEmpty ? nil : TextFormat.typing(names))
  }
}
