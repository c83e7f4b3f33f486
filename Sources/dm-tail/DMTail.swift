package import DMCLI
internal import DMKit
internal import DMSystem

extension DMTail {
  static let limit = Option(
    "limit", short: "n", count: "N",
    "print the newest N messages, or 'all' [30; all with a range, --since, --unread or --thread]"
  )
  static let before = Option(
    "before", value: "WHEN", "print only messages before a message or a time", as: messageOrTime)
  static let since = Option(
    "since", value: "WHEN", "print only messages since a message or a time", as: messageOrTime)
  static let unread = Flag("unread", "print only unread messages")
  static let unmuted = Flag("unmuted", "leave out muted conversations")
  static let deleted = Flag("deleted", "also print a line for each deleted or expired message")
  static let with = Option(
    "with", value: "readers", oneOf: Addition.self, "show who has read each message")
  static let read = Flag("read", "mark the printed messages as read")
  static let peek = Flag("peek", "do not mark the printed messages as delivered")
  static let follow = Flag("follow", short: "f", "after the history, print events as they happen")
  static let events = Option(
    "events", value: "KIND,...", values: [.list(MessagingEvent.Kind.allCases.map(\.rawValue) + ["all"])],
    "the kinds of events to print [message,message_updated,message_deleted,message_status]", as: Invocation.eventKinds)
  static let cursor = Option(
    "cursor", value: "CURSOR", values: [.words(["start", "now"])],
    "print the events after CURSOR, oldest first, instead of history", as: start)
  static let others = Flag("others", "leave out the events of your own actions, and your own messages")
  static let heartbeat = Option(
    "heartbeat", value: "TIME", "print a heartbeat at this interval [with --consumer: 5s]", as: duration)
  static let bell = Flag("bell", "ring the terminal's bell for each message from others")
  static let invisible = Flag("invisible", "do not show that you are online")
  static let consumer = Option(
    "consumer", value: "NAME", values: [.consumers], "continue from the position of this consumer")
  static let acceptGap = Flag("accept-gap", "continue although the consumer's next events are no longer in the log")
  static let ack = Option(
    "ack", value: "CURSOR", "with --consumer: set the consumer's position to CURSOR, and print no events",
    as: Cursor.init)
  static let consumers = Flag("consumers", "print your consumers, and how far behind they are")
  static let forget = Option("forget", value: "NAME", values: [.consumers], "delete this consumer")

  static let options: [any Declared] = [
    limit, before, since, from, mentions, thread, notify, unread, unmuted, deleted, with, allFields, read, peek, follow,
    events,
    cursor, others, heartbeat,
    bell, invisible, consumer, acceptGap, ack, consumers, forget, fresh,
  ]

  static let rules: [Rule] = [
    // Only printed messages are marked as read or delivered, and --quiet prints none.
    .excludes(Common.quiet, [read, follow]),
    .atMostOne([ack, consumers, forget]), .alone(ack, with: [consumer]), .alone(consumers, with: []),
    .alone(forget, with: []), .needs(ack, [consumer]),
    // An acknowledgement marks messages as delivered in all conversations of the consumer, also in muted ones.
    .excludes(unmuted, [consumer]), .excludes(consumer, [from, mentions, thread, notify]),
    // --before sets an end, and a stream has none.
    .excludes(before, [follow, cursor, consumer]),
    .excludes(cursor, [limit, since, unread]), .excludes(consumer, [limit, since, unread]),
    // These options are for events, and a history has only messages.
    .needs(events, [follow, cursor, consumer]), .needs(others, [follow, cursor, consumer]),
    .needs(invisible, [follow, cursor, consumer]), .needs(notify, [follow, cursor]),
    .needs(acceptGap, [consumer]), .needs(heartbeat, [follow]), .needs(bell, [follow, cursor, consumer]),
  ]

  /// An addition to each message, for `--with`.
  enum Addition: String, CaseIterable { case readers }

  private static func start(_ text: String) throws -> EventQuery.Start {
    switch text {
    case "start": .start
    case "now": .now
    default: .cursor(try Cursor(text))
    }
  }
}

package struct DMTail: Program {
  package static let command = Command(
    "dm-tail", "print messages, the newest 30 or those that you name, and follow events",
    synopsis: [
      "[OPTION]... [CONVERSATION [RANGE]...]", "[OPTION]... MESSAGE...",
      "-f [OPTION]... [CONVERSATION]...",
      "--cursor CURSOR|start|now [OPTION]... [CONVERSATION]...", "--consumer NAME --ack CURSOR",
      "--consumers | --forget NAME",
    ],
    options: options, operands: "CONVERSATION|RANGE RANGE|CONVERSATION...", countOption: limit,
    rules: rules,
    examples: [
      ("dm-tail bob", "the newest 30 messages with bob"),
      ("dm-tail bob --before 120 -n 50", "the 50 messages before message 120"),
      ("dm-tail \"$(dm-tail bob:1 | jq -r .id)\" --with readers", "one message by its id, and who has read it"),
      ("dm-tail +ops 40..57", "messages 40 to 57 of the group"),
      ("dm-tail --thread +ops:40", "message 40, what it answers, and all answers to it"),
      ("dm-tail -f -n 0 --mentions", "new messages that mention you"),
      ("dm-tail -f --notify --bell", "ring the bell for new messages that concern you"),
      ("dm-tail --unread --read", "print all unread messages, and mark them as read"),
      ("dm-tail bob -n 20 | dm-read", "mark exactly the newest 20 messages as read"),
      ("dm-tail +ops --since yesterday | jq -r '\"\\(.sender): \\(.text)\"'", "the senders and the texts"),
      ("dm-tail -f bob +ops", "read and follow two conversations"),
      (
        "dm-tail -f --others -n 0 --events message | jq --unbuffered -r 'select(.text).text'",
        "only new messages of others"
      ),
      ("dm-tail --cursor start --events all", "all events in the log"),
    ],
    writes: [
      "message", "message_updated", "message_deleted", "message_status", "reaction", "message_pin",
      "delivery_receipt", "read_receipt", "typing", "presence", "conversation_updated", "hub",
      "caught_up", "heartbeat", "gap", "ack", "consumer",
    ])

  package static func run(_ call: Invocation) throws {
    do {
      try print(call)
    } catch let error as DMError where error.code == .unknownUser {
      // The user may have meant a word after a conversation as a range.
      let isLater = call.arguments.operands.dropFirst().contains { $0 == error.subject }
      throw isLater ? error.adding("; a range of messages is written 57, 40..57, 40.. or ..57") : error
    }
  }

  private static func print(_ call: Invocation) throws {
    try completeFields(call)
    if ![follow, ack, consumers, forget].contains(where: call.arguments.isGiven) { try call.refresh() }
    switch try mode(call) {
    case .forget(let name):
      try call.print(try call.messenger().forgetConsumer(name), text: TextFormat.line)
    case .acknowledge(let cursor, let name):
      try call.print(try call.messenger().acknowledge(cursor, for: name)) { _ in nil }
    case .consumers:
      for consumer in try call.messenger().consumers() { try call.print(consumer, text: TextFormat.line) }
    case .messages(let messages):
      let printer = try Printer(call, try call.messenger(), [])
      try printer.print(messages)
    case .history(let history, var stream):
      let printer = try Printer(call, try call.messenger(), stream.conversations)
      guard stream.follows else {
        if isChosen(history, call) {
          try call.inPages { _ = try printer.print(history, of: stream) }
        } else {
          _ = try printer.print(history, of: stream)
        }
        return printer.isEmpty ? try noteEmpty(history, call) : ()
      }
      let cursor = try printer.print(history, of: stream)
      stream.start = cursor.map { .cursor($0) } ?? .start
      stream.beginsCaughtUp = true
      try printEvents(stream, printer, call)
    case .stream(let stream):
      let printer = try Printer(call, try call.messenger(), stream.conversations)
      try printEvents(stream, printer, call)
    }
  }

  /// Whether the user chose how many messages to print: with --limit, or with a range, --since or --unread, for which
  /// there is no default limit.
  private static func isChosen(_ query: HistoryQuery, _ call: Invocation) -> Bool {
    call.arguments.isGiven(limit) || query.limit == nil
  }

  /// Says why a history has no messages.
  private static func noteEmpty(_ query: HistoryQuery, _ call: Invocation) throws {
    if query.sender != nil || query.mentionsOnly || query.thread != nil {
      return try call.note("no message matches")
    }
    guard query.conversations.count == 1, !query.unreadOnly else {
      return try call.note(query.unreadOnly ? "nothing is unread" : "there are no messages")
    }
    let messenger = try call.messenger()
    let conversation = try messenger.conversation(query.conversations[0])
    if let last = conversation.lastMessage?.seq { return try call.note("no message there; the last one is \(last)") }
    guard let user = try messenger.blockedUser(of: conversation) else {
      return try call.note("there are no messages yet")
    }
    try call.note("you block '\(user)'; 'dm-user unblock \(user)' shows their messages")
  }

  private static func printEvents(_ stream: EventQuery, _ printer: Printer, _ call: Invocation) throws {
    try call.follow(stream, redraw: printer.canRedraw ? printer.redraw : nil) { events in
      try printer.print(events)
      return nil
    }
  }
}

extension DMTail {
  /// The action that the options and operands select.
  enum Mode {
    case forget(consumer: String)
    case acknowledge(cursor: Cursor, consumer: String)
    case consumers
    /// Messages that were named by their ids.
    case messages([Message])
    /// Messages, then the events of the stream if `EventQuery.follows` is true.
    case history(HistoryQuery, EventQuery)
    case stream(EventQuery)
  }

  static func mode(_ call: Invocation) throws -> Mode {
    let arguments = call.arguments
    if [ack, consumers, forget].contains(where: arguments.isGiven) { try arguments.atMost(0) }
    if let name = try arguments[forget] { return .forget(consumer: name) }
    if let cursor = try arguments[ack], let name = try arguments[consumer] {
      return .acknowledge(cursor: cursor, consumer: name)
    }
    if arguments[consumers] { return .consumers }
    if let messages = try messagesByID(call) ?? messagesByReference(call) { return .messages(messages) }
    let (named, ranges) = try arguments.conversationsAndRanges(arguments.operands)
    let conversations = try named.isEmpty ? conversationOfThread(arguments) : named
    let stream = try eventQuery(call, conversations)
    let isStream = stream.start != nil || stream.consumer != nil
    if ranges != nil, isStream || stream.follows {
      throw usage("a stream has no end; leave out the ranges")
    }
    return isStream ? .stream(stream) : .history(try historyQuery(arguments, conversations, ranges), stream)
  }

  /// The messages whose ids are the operands; nil if the operands name conversations.
  private static func messagesByID(_ call: Invocation) throws -> [Message]? {
    let arguments = call.arguments
    var ids: [Identifier] = []
    for operand in arguments.operands {
      guard case .id(let id) = try ConversationReference(operand) else { return nil }
      ids.append(id)
    }
    let messages = try call.messenger().messages(ids, includesReaders: arguments[with] == .readers)
    if messages != nil {
      try arguments.refuseOwn(except: messageOptions) {
        "'\($0)' is for conversations, and '\(arguments.operands[0])' is a message; leave out '\($0)'"
      }
    }
    return messages
  }

  private static func historyQuery(
    _ arguments: Arguments, _ conversations: [ConversationReference], _ ranges: [RangeReference]?
  ) throws -> HistoryQuery {
    var query = HistoryQuery()
    (query.conversations, query.ranges) = (conversations, ranges)
    query.before = try arguments[before]
    query.since = try arguments[since]
    query.unreadOnly = arguments[unread]
    query.unmutedOnly = arguments[unmuted]
    query.includesDeleted = arguments[deleted]
    query.includesReaders = try arguments[with] == .readers
    query.sender = try arguments[from]
    query.mentionsOnly = arguments[mentions]
    query.thread = try chosenThread(arguments, conversations)
    let isChosen = query.unreadOnly || query.since != nil || query.thread != nil || ranges != nil
    query.limit = try arguments[limit] ?? (isChosen ? nil : arguments[notify] ? 0 : 30)
    // With --follow, a direct conversation that does not exist yet is not an error: we wait for its first message.
    query.allowsMissing = arguments[follow]
    return query
  }

  private static func eventQuery(
    _ call: Invocation, _ conversations: [ConversationReference]
  ) throws -> EventQuery {
    let arguments = call.arguments
    var query = EventQuery(conversations)
    query.follows = arguments[follow]
    query.consumer = try arguments[consumer]
    query.acceptsGap = arguments[acceptGap]
    query.start = try arguments[cursor]
    // Text output also has reactions, pins and the state of the hub, and on a terminal that can erase lines, who is typing.
    if !call.isJSON { query.kinds.formUnion([.reaction, .messagePin, .hub]) }
    if !call.isJSON, try call.screen().canRenew { query.kinds.insert(.typing) }
    if let kinds = try arguments[events] { query.kinds = kinds }
    query.othersOnly = arguments[others]
    query.unmutedOnly = arguments[unmuted]
    query.heartbeat = try arguments[heartbeat]
    query.includesReaders = try arguments[with] == .readers
    query.signalsPresence = !arguments[invisible]
    query.marksDelivered = !arguments[peek] && !arguments[Common.quiet]
    try select(call, conversations, in: &query)
    return query
  }
}
