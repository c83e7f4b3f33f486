internal import DMCLI
internal import DMKit

@main struct DMTyping: Program {
  static let command = Command(
    "dm-typing", "show that one is typing, and watch who is",
    synopsis: [
      "CONVERSATION --on | --off | --for TIME", "CONVERSATION", "CONVERSATION -- COMMAND [ARGUMENT]...",
      "--watch [CONVERSATION]",
    ],
    options: [
      Declaration("on", "show it for the next 5 seconds"),
      Declaration("off", "show it no longer"),
      Declaration("for", value: "TIME", "show it that long, and wait as long"),
      Declaration("watch", "print who is typing whenever that changes"),
    ],
    examples: [
      ("llm \"$question\" | dm-typing bob | dm-send bob", "typing shows while the text is being produced"),
      ("dm-typing bob -- llm \"$question\" | dm-send bob", "the same, with the status of the command"),
      ("dm-typing bob | dm-send --lines bob", "on a terminal: typing shows while you type"),
      ("dm-typing bob --for 5s", "for five seconds"),
      ("dm-typing --watch +ops", "who is typing in the group"),
    ], writes: ["typing"])

  static func run(_ call: Invocation) throws {
    let arguments = call.arguments
    try arguments.exclude("on", "off", "for", "watch")
    try arguments.exclude("watch", "quiet")
    if arguments.has("watch") { return try watch(call) }
    let conversation = try ConversationReference(arguments.operand(0, "CONVERSATION"))
    let command = Array(arguments.operands.dropFirst())
    if ["on", "off", "for"].contains(where: arguments.isGiven) { try arguments.atMost(1) }
    let length = try arguments.value("for").map(duration)

    let signal = try call.messenger().typing(in: conversation)
    if arguments.has("on") {
      signal?.show()
      return
    }
    if arguments.has("off") { return signal?.hide() ?? () }
    var showing = try Showing(signal)
    if let length {
      showing.last(length)
    } else if !command.isEmpty {
      try showing.run(command)
    } else if isTerminal(.input) {
      try showing.keystrokes()
    } else {
      try showing.passThrough()
    }
  }

  static func watch(_ call: Invocation) throws {
    try call.arguments.atMost(1)
    var query = EventQuery(try call.arguments.operands.map(ConversationReference.init))
    query.kinds = [.typing]
    query.beatsPresence = false
    var page = MessagePage(try call.messenger(), query.conversations)
    try call.follow(query) { events in
      for event in events {
        if case .typing(let typing) = event { try call.print(typing) { _ in try page.text(of: event) } }
      }
      return nil
    }
  }
}
