internal import DMCLI
internal import DMKit

extension DMTail {
  /// The messages whose ids are the operands; nil when those name conversations.
  static func messagesByID(_ call: Invocation) throws -> [Message]? {
    let arguments = call.arguments
    var ids: [Identifier] = []
    for operand in arguments.operands {
      guard case .id(let id)? = try ConversationReference(operand) as ConversationReference? else { return nil }
      ids.append(id)
    }
    guard let messages = try call.messenger().messages(ids, namesReaders: namesReaders(arguments)) else { return nil }
    for option in command.options where arguments.isGiven(option) && !["with", "read", "peek"].contains(option.name) {
      throw usage("--\(option.name) is for conversations, and '\(arguments.operands[0])' is a message; leave it out")
    }
    return messages
  }

  private static func namesReaders(_ arguments: Arguments) throws -> Bool {
    guard let word = arguments.value("with") else { return false }
    guard word == "readers" else { throw usage("'\(word)' cannot be added; write --with readers") }
    return true
  }

  static func historyQuery(
    _ arguments: Arguments, _ conversations: [ConversationReference], _ ranges: [RangeReference]?
  ) throws -> HistoryQuery {
    var query = HistoryQuery()
    (query.conversations, query.ranges) = (conversations, ranges)
    query.before = try arguments.value("before").map(messageOrTime)
    query.since = try arguments.value("since").map(messageOrTime)
    query.unreadOnly = arguments.has("unread")
    query.unmutedOnly = arguments.has("unmuted")
    query.includesDeleted = arguments.has("deleted")
    query.namesReaders = try namesReaders(arguments)
    query.limit = try arguments.count("n", default: 30)
    if query.unreadOnly || query.since != nil || ranges != nil, !arguments.isGiven("n") { query.limit = nil }
    // Whoever waits for the first word need not wait for the conversation.
    query.allowsMissing = arguments.has("follow")
    return query
  }

  static func eventQuery(
    _ arguments: Arguments, _ conversations: [ConversationReference], hasRanges: Bool
  ) throws -> EventQuery {
    var query = EventQuery(conversations)
    query.follows = arguments.has("follow")
    query.consumer = arguments.value("consumer")
    query.acceptsGap = arguments.has("accept-gap")
    query.start = arguments.value("cursor").map { $0 == "start" ? .start : $0 == "now" ? .now : .cursor($0) }
    if let list = arguments.value("events") { query.kinds = try Invocation.eventKinds(list) }
    query.othersOnly = arguments.has("others")
    query.unmutedOnly = arguments.has("unmuted")
    // What a consumer acknowledges counts as delivered, in all of its conversations.
    try arguments.exclude("unmuted", "consumer")
    query.heartbeat = try arguments.value("heartbeat").map(duration)
    query.namesReaders = try namesReaders(arguments)
    query.beatsPresence = !arguments.has("invisible")
    query.marksDelivered = !arguments.has("peek") && !arguments.has("quiet")

    let isStream = query.start != nil || query.consumer != nil
    if isStream || query.follows, hasRanges || arguments.isGiven("before") {
      throw usage("what follows has no end: leave out ranges and --before")
    }
    if isStream {
      for name in ["cursor", "consumer"] { try arguments.exclude(name, beside: "n", "since", "unread") }
    } else if !query.follows {
      for name in ["events", "others", "invisible"] where arguments.isGiven(name) {
        throw usage("--\(name) goes with -f or --cursor; history is all that was said")
      }
    }
    if query.acceptsGap, query.consumer == nil { throw usage("--accept-gap goes with --consumer NAME") }
    if !query.follows, arguments.isGiven("heartbeat") { throw usage("--heartbeat goes with -f") }
    return query
  }

  /// What is done to consumers besides streaming them.
  ///
  /// - Returns: whether that was all.
  static func keepConsumers(_ call: Invocation) throws -> Bool {
    let arguments = call.arguments
    guard let act = ["ack", "consumers", "forget"].first(where: arguments.isGiven) else { return false }
    try arguments.atMost(0)
    if act == "ack" { try arguments.allowOnly(act, "consumer") } else { try arguments.allowOnly(act) }
    let messenger = try call.messenger()
    if let name = arguments.value("forget") {
      try call.print(try messenger.forgetConsumer(name), text: TextFormat.line)
    } else if let cursor = arguments.value("ack") {
      guard let name = arguments.value("consumer") else { throw usage("--ack needs --consumer NAME") }
      try call.print(try messenger.acknowledge(cursor, for: name)) { "\($0.consumer)  \($0.cursor)" }
    } else {
      for consumer in try messenger.consumers() { try call.print(consumer, text: TextFormat.line) }
    }
    return true
  }
}
