internal import DMCLI
internal import DMKit

@main struct DMSend: Program {
  static let command = Command(
    "dm-send", "send messages: one from its arguments or standard input, or many as lines",
    synopsis: [
      "[OPTION]... CONVERSATION TEXT...", "[OPTION]... CONVERSATION <FILE", "--lines CONVERSATION <FILE",
      "<JSON-LINES",
    ],
    options: [
      Option("lines", "send each line of standard input as a message"),
      Option("reply-to", value: "MESSAGE", "the message that this one answers"),
      Option("nonce", value: "NONCE", "sent before with this nonce: do nothing, return that message"),
      Option("consumer", value: "NAME", "the lines acknowledge ('ack') for this consumer of the user; see dm-tail(1)"),
      Option("skip-failed", "pass over lines that can never succeed: acknowledge and count them"),
      Option("edit", "write the text in $VISUAL or $EDITOR"),
    ],
    examples: [
      ("dm-send bob 'lunch?'", "send"),
      ("make 2>&1 | tail -n 20 | dm-send +ops", "standard input as one message"),
      ("dm-send bob --reply-to -1 'with pleasure'", "answer the last message"),
      ("dm-send bob --nonce \"backup-$(date +%F)\" 'backup done'", "at most once a day, however often it runs"),
      (
        "jq -c '{conversation: .to, text: .body, nonce: .id}' queue.json | dm-send",
        "many, each answered by a line"
      ),
    ], reads: "send_line", writes: ["message", "ack", "error"])

  static func run(_ call: Invocation) throws {
    let arguments = call.arguments
    let messenger = try call.messenger()
    guard let name = arguments.operands.first else { return try sendLines(call, messenger) }
    for option in ["consumer", "skip-failed"] where arguments.isGiven(option) {
      throw usage("--\(option) is for JSON lines on standard input; leave out '\(name)'")
    }
    let conversation = try ConversationReference(name)
    if arguments.has("lines") { return try sendTexts(call, messenger, conversation) }
    let words = arguments.operands.dropFirst().joined(separator: " ")
    let message =
      arguments.has("edit")
      ? try EditedText(words).keeping { try send($0, call, messenger, conversation) }
      : try send(arguments.operands.count > 1 ? words : standardInput(), call, messenger, conversation)
    try call.print(message) { answer($0, name) }
  }

  static func standardInput() throws -> String {
    var input = LineInput()
    return try input.text(limit: Outgoing.textLimit)
  }

  static func send(
    _ text: String, _ call: Invocation, _ messenger: Messenger, _ conversation: ConversationReference
  ) throws -> Message {
    try messenger.send(
      Outgoing(
        to: conversation, text: text, nonce: call.arguments.value("nonce"),
        replyTo: call.arguments.value("reply-to").map(MessageReference.init)))
  }

  static func sendTexts(_ call: Invocation, _ messenger: Messenger, _ conversation: ConversationReference) throws {
    try call.arguments.atMost(1)
    try call.arguments.exclude("lines", beside: "nonce", "reply-to", "edit")
    try call.answerLines {
      try Outgoing(to: conversation, text: plainText($0))
    } act: {
      try messenger.send($0)
    } print: { message in
      try call.print(message) { answer($0, conversation.description) }
    }
  }

  static func sendLines(_ call: Invocation, _ messenger: Messenger) throws {
    for name in ["lines", "nonce", "reply-to", "edit"] where call.arguments.isGiven(name) {
      throw usage("--\(name) needs a conversation; see --help")
    }
    if isTerminal(.input) { throw usage("name a conversation, or pipe JSON lines into it; see --help") }
    if let consumer = call.arguments.value("consumer") { return try sendLines(call, messenger, as: consumer) }
    if call.arguments.has("skip-failed") { throw usage("--skip-failed needs --consumer NAME") }
    try call.answerLines {
      try Outgoing(line: $0)
    } act: {
      try messenger.send($0)
    } print: { message in
      try call.print(message) { answer($0, $0.conversationID.description) }
    }
  }

  /// A reference to what was sent, ready for --reply-to.
  static func answer(_ message: Message, _ conversation: String) -> String {
    visible("\(conversation):\(message.seq)") + (message.isDuplicate ? " (sent before)" : "")
  }
}
