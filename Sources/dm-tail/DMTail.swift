internal import DMCLI
internal import DMKit

@main struct DMTail: Program {
  static let command = Command(
    "dm-tail", "print messages, oldest first: the newest 30, or those you name",
    synopsis: ["[OPTION]... [CONVERSATION [RANGE]...]"],
    options: [
      Option(
        nil, short: "n", value: "N", "the newest N messages, or 'all' [30; all with a range, --since or --unread]"),
      Option("before", value: "WHEN", "only those before a message or a time"),
      Option("since", value: "WHEN", "only those from a message or a time on"),
      Option("unread", "only unread ones"),
      Option("read", "mark what was printed as read"),
      Option("peek", "do not mark what was printed as delivered"),
    ],
    examples: [
      ("dm-tail bob", "the newest 30 messages with bob"),
      ("dm-tail bob --before 120 -n 50", "the page before message 120"),
      ("dm-tail +ops 40..57", "messages 40 to 57 of the group"),
      ("dm-tail --unread --read", "all that is unread, and mark it read"),
      ("dm-tail bob -n 20 | dm-read", "mark exactly these 20 as read"),
      ("dm-tail +ops --since yesterday | jq -r '\"\\(.sender): \\(.text)\"'", "who said what"),
    ], writes: ["message"])

  static func run(_ call: Invocation) throws {
    let arguments = call.arguments
    // What nobody saw is neither read nor delivered.
    try arguments.exclude("quiet", "read")
    var query = HistoryQuery()
    (query.conversation, query.ranges) = try conversationAndRanges(arguments.operands)
    query.before = try arguments.value("before").map(messageOrTime)
    query.since = try arguments.value("since").map(messageOrTime)
    query.unreadOnly = arguments.has("unread")
    query.limit = try arguments.count("n", default: 30)
    if query.unreadOnly || query.since != nil || query.ranges != nil, !arguments.isGiven("n") { query.limit = nil }

    let messenger = try call.messenger()
    let history = try messenger.history(query)
    var page = MessagePage(messenger, query.conversation)
    var printed = PrintedMessages()
    while case let batch = try history.next(), !batch.isEmpty {
      for message in batch { try call.print(message) { try page.text(of: $0) } }
      printed.add(batch, seenBy: messenger.identity.handle)
    }
    // Only now is it known that the reader got it.
    try call.output.flush()
    if arguments.has("read") { try printed.markRead(messenger) }
    if !arguments.has("peek"), !call.isQuiet { try messenger.markDelivered(upTo: printed.lastOfOthers) }
  }
}
