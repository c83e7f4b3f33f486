internal import DMCLI
internal import DMKit

extension DMSend {
  /// What goes with a text.
  typealias Options = (nonce: String?, replyTo: MessageReference?, lifetime: Duration?)

  static func options(_ arguments: Arguments) throws -> Options {
    try (
      arguments.value("nonce"), arguments.value("reply-to").map(MessageReference.init),
      arguments.value("expires-in").map(duration)
    )
  }

  static func excludeOdd(_ arguments: Arguments) throws {
    try arguments.exclude("lines", beside: "nonce", "reply-to", "edit", "draft", "from-draft", "forward")
    try arguments.exclude("draft", beside: "from-draft", "forward", "nonce", "reply-to", "expires-in")
    try arguments.exclude("from-draft", beside: "forward", "edit")
    try arguments.exclude("forward", beside: "edit")
  }

  /// The text: of a message that is forwarded, of an editor, of the words, or of standard input.
  static func withText(
    _ words: [String], _ call: Invocation, _ messenger: Messenger, _ body: (String) throws -> Void
  ) throws {
    let text = words.joined(separator: " ")
    if let message = call.arguments.value("forward") {
      try body(messenger.textToForward(MessageReference(message)))
    } else if call.arguments.has("edit") {
      try EditedText(text).keeping(body)
    } else {
      var input = LineInput()
      try body(words.isEmpty ? input.text(limit: Outgoing.textLimit) : text)
    }
  }

  static func sendTexts(_ call: Invocation, _ messenger: Messenger, _ conversation: ConversationReference) throws {
    let lifetime = try options(call.arguments).lifetime
    try call.answerLines {
      try Outgoing(to: conversation, text: plainText($0), lifetime: lifetime)
    } act: {
      try messenger.send($0)
    } print: { message in
      try call.print(message) { answer($0, conversation.description) }
    }
  }

  static func sendLines(_ call: Invocation, _ messenger: Messenger) throws {
    for name in ["lines", "nonce", "reply-to", "edit", "draft", "from-draft", "forward", "expires-in"]
    where call.arguments.isGiven(name) {
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
