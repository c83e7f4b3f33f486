internal import DMCLI
internal import DMKit

extension DMTail {
  /// The action that the options and operands select.
  enum Mode {
    case forget(consumer: String)
    case acknowledge(cursor: Cursor, consumer: String)
    case consumers
    /// Messages that were named by their ids.
    case messages([Message])
    /// Messages, then the stream if that follows.
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
    if let messages = try messagesByID(call) { return .messages(messages) }
    let (conversations, ranges) = try arguments.conversationsAndRanges(arguments.operands)
    let stream = try eventQuery(call, conversations)
    let isStream = stream.start != nil || stream.consumer != nil
    if ranges != nil, isStream || stream.follows {
      throw usage("a stream has no end; leave out the ranges")
    }
    return isStream ? .stream(stream) : .history(try historyQuery(arguments, conversations, ranges), stream)
  }

  /// The messages whose ids are the operands; nil when those name conversations.
  private static func messagesByID(_ call: Invocation) throws -> [Message]? {
    let arguments = call.arguments
    var ids: [Identifier] = []
    for operand in arguments.operands {
      guard case .id(let id) = try ConversationReference(operand) else { return nil }
      ids.append(id)
    }
    let messages = try call.messenger().messages(ids, includesReaders: arguments[with] == .readers)
    if messages != nil {
      try arguments.refuseOwn(except: [with, read, peek]) {
        "\($0) is for conversations, and '\(arguments.operands[0])' is a message; leave it out"
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
    let isChosen = query.unreadOnly || query.since != nil || ranges != nil
    query.limit = try arguments[limit] ?? (isChosen ? nil : 30)
    // A direct conversation that does not exist yet is not an error: we wait for its first message.
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
    // People want to see reactions, and who is typing where that goes away again.
    if !call.isJSON { query.kinds.insert(.reaction) }
    if !call.isJSON, try call.screen().canRenew { query.kinds.insert(.typing) }
    if let kinds = try arguments[events] { query.kinds = kinds }
    query.othersOnly = arguments[others]
    query.unmutedOnly = arguments[unmuted]
    query.heartbeat = try arguments[heartbeat]
    query.includesReaders = try arguments[with] == .readers
    query.signalsPresence = !arguments[invisible]
    query.marksDelivered = !arguments[peek] && !arguments[Common.quiet]
    return query
  }
}
