internal import DMCLI
internal import DMKit

extension DMSend {
  static func sendTexts(_ call: Invocation, _ messenger: Messenger, _ conversation: ConversationReference) throws {
    let options = try options(call.arguments)
    let texts = try TextOptions(call.arguments)
    try call.answerLines { line, number in
      try Outgoing(
        to: conversation, text: texts.text(line), nonce: options.nonce.map { "\($0)-\(number)" },
        lifetime: options.lifetime)
    } nonce: {
      $0.nonce
    } act: {
      try messenger.send($0, once: options.once)
    } print: { message, line in
      try call.print(message, line: line) { answer($0, conversation.description) }
    }
  }

  static func sendLines(_ call: Invocation, _ messenger: Messenger) throws {
    for name in [
      "lines", "nonce", "reply-to", "edit", "draft", "from-draft", "forward", "expires-in", "attach", "lossy",
      "overflow",
    ]
    where call.arguments.isGiven(name) {
      throw usage("--\(name) needs a conversation; see --help")
    }
    if isTerminal(.input) { throw usage("name a conversation, or pipe JSON lines into it; see --help") }
    if let consumer = call.arguments.value("consumer") { return try sendLines(call, messenger, as: consumer) }
    for option in ["skip-failed", "stop-at-failed"] where call.arguments.has(option) {
      throw usage("--\(option) needs --consumer NAME")
    }
    let once = call.arguments.has("once")
    try call.answerLines { line, _ in
      try Outgoing(line: line)
    } nonce: {
      $0.nonce
    } act: {
      try messenger.send($0, once: once)
    } print: { message, line in
      try call.print(message, line: line) { answer($0, $0.conversationID.description) }
    }
  }

  /// A reference to what was sent, ready for --reply-to.
  static func answer(_ message: Message, _ conversation: String) -> String {
    visible("\(conversation):\(message.number)") + (message.isDuplicate ? " (sent before)" : "")
  }
}
