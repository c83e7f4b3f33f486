package import DMCLI
internal import DMKit

package struct DMTail: Program {
  package static let command = Command(
    "dm-tail", "print messages, oldest first: the newest 30, or those you name; and follow what happens",
    synopsis: [
      "[OPTION]... [CONVERSATION [RANGE]...]", "[OPTION]... MESSAGE-ID...", "-f [OPTION]... [CONVERSATION]...",
      "--cursor CURSOR|start|now [OPTION]... [CONVERSATION]...", "--consumer NAME --ack CURSOR",
      "--consumers | --forget NAME",
    ],
    options: options, operands: "CONVERSATION|RANGE RANGE|CONVERSATION...", rules: rules,
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

  package static func run(_ call: Invocation) throws {
    switch try mode(call) {
    case .forget(let name):
      try call.print(try call.messenger().forgetConsumer(name), text: TextFormat.line)
    case .acknowledge(let cursor, let name):
      try call.print(try call.messenger().acknowledge(cursor, for: name)) { "\($0.consumer)  \($0.cursor)" }
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

  /// Whether the user has said how much they want to see.
  private static func isChosen(_ query: HistoryQuery, _ call: Invocation) -> Bool {
    call.arguments.isGiven(limit) || query.limit == nil
  }

  /// Says why a history has no messages.
  private static func noteEmpty(_ query: HistoryQuery, _ call: Invocation) throws {
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
