internal import DMCLI
internal import DMKit

@main struct DMTail: Program {
  static let command = Command(
    "dm-tail", "print messages, oldest first: the newest 30, or those you name; and follow what happens",
    synopsis: [
      "[OPTION]... [CONVERSATION [RANGE]...]", "[OPTION]... MESSAGE-ID...", "-f [OPTION]... [CONVERSATION]...",
      "--cursor CURSOR|start|now [OPTION]... [CONVERSATION]...", "--consumer NAME --ack CURSOR",
      "--consumers | --forget NAME",
    ],
    options: [
      Declaration(
        nil, short: "n", value: "N", "the newest N messages, or 'all' [30; all with a range, --since or --unread]"),
      Declaration("before", value: "WHEN", "only those before a message or a time"),
      Declaration("since", value: "WHEN", "only those from a message or a time on"),
      Declaration("unread", "only unread ones"),
      Declaration("unmuted", "leave out muted conversations"),
      Declaration("deleted", "say where a message was deleted or has expired, too"),
      Declaration("with", value: "readers", values: .words(["readers"]), "say of each message who has read it"),
      Declaration("read", "mark what was printed as read"),
      Declaration("peek", "do not mark what was printed as delivered"),
      Declaration("follow", short: "f", "go on with what happens from then on"),
      Declaration(
        "events", value: "KIND,...", values: .words(MessagingEvent.Kind.allCases.map(\.rawValue) + ["all"]),
        "what to print [message,message_updated,message_deleted,message_status]"),
      Declaration(
        "cursor", value: "CURSOR", values: .words(["start", "now"]),
        "no history, but what happened after CURSOR, oldest first"),
      Declaration("others", "leave out what one did oneself"),
      Declaration("heartbeat", value: "TIME", "print a heartbeat that often [a consumer: 5s]"),
      Declaration("invisible", "do not show that one is there"),
      Declaration("consumer", value: "NAME", "begin where this consumer of the user stands"),
      Declaration("accept-gap", "go on though what the consumer missed is no longer in the log"),
      Declaration("ack", value: "CURSOR", "move the consumer there, and print nothing else"),
      Declaration("consumers", "print the user's consumers, and how far behind they are"),
      Declaration("forget", value: "NAME", "forget a consumer"),
    ],
    examples: [
      ("dm-tail bob", "the newest 30 messages with bob"),
      ("dm-tail bob --before 120 -n 50", "the page before message 120"),
      ("dm-tail \"$(dm-tail bob:1 | jq -r .id)\" --with readers", "one message by its id, and who has read it"),
      ("dm-tail +ops 40..57", "messages 40 to 57 of the group"),
      ("dm-tail --unread --read", "all that is unread, and mark it read"),
      ("dm-tail bob -n 20 | dm-read", "mark exactly these 20 as read"),
      ("dm-tail +ops --since yesterday | jq -r '\"\\(.sender): \\(.text)\"'", "who said what"),
      ("dm-tail -f bob +ops", "read and follow two conversations"),
      (
        "dm-tail -f --others -n 0 --events message | jq --unbuffered -r 'select(.text).text'",
        "only what others say from now on"
      ),
      ("dm-tail --cursor start --events all", "all that is known to have happened"),
    ],
    writes: [
      "message", "message_updated", "message_deleted", "message_status", "reaction", "delivery_receipt", "read_receipt",
      "typing",
      "presence", "conversation_updated",
      "caught_up", "heartbeat", "gap", "ack", "consumer",
    ])

  static func run(_ call: Invocation) throws {
    let arguments = call.arguments
    // What nobody saw is neither read nor delivered.
    try arguments.exclude("quiet", beside: "read", "follow")
    if try keepConsumers(call) { return }
    if let messages = try messagesByID(call) {
      var printer = Printer(call, try call.messenger(), [])
      return try printer.print(messages)
    }
    let (conversations, ranges) = try conversationsAndRanges(arguments.operands)
    var query = try eventQuery(arguments, conversations, hasRanges: ranges != nil)
    var printer = Printer(call, try call.messenger(), conversations)
    if query.start == nil, query.consumer == nil {
      let history = try historyQuery(arguments, conversations, ranges)
      let cursor = try printer.print(history, of: query)
      guard query.follows else { return }
      query.start = cursor.map { .cursor($0.description) } ?? .start
      query.isCaughtUp = true
    }
    try call.follow(query) { events in
      try printer.print(events)
      return nil
    }
  }
}
