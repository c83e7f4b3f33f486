package import DMCLI
internal import DMKit

package struct DMSend: Program {
  package static let command = Command(
    "dm-send", "send messages: one from its arguments or standard input, or many as lines",
    synopsis: [
      "[OPTION]... CONVERSATION TEXT...", "[OPTION]... CONVERSATION [-] <FILE",
      "[OPTION]... --to CONVERSATION... TEXT...", "CONVERSATION --from-draft | --forward MESSAGE",
      "--lines CONVERSATION <FILE", "<JSON-LINES",
    ],
    options: options, operands: "CONVERSATION|USER TEXT...", operandsWith: [(to, "TEXT...")], rules: rules,
    examples: [
      ("dm-send bob 'lunch?'", "send"),
      ("make 2>&1 | tail -n 20 | dm-send +ops", "standard input as one message"),
      ("dm-send bob --reply-to -1 'with pleasure'", "answer the last message"),
      ("dm-send bob --nonce \"backup-$(date +%F)\" 'backup done'", "at most once a day, however often it runs"),
      ("dm-send --to bob --to +ops 'back at five'", "the same to several, or to none if one of them fails"),
      ("dm-send bob --forward +ops:12", "pass a message on"),
      ("dm-send bob --attach photo.jpg 'as promised'", "send a photo"),
      (
        "jq -c '{conversation: .to, text: .body, nonce: .id}' queue.json | dm-send",
        "many, each answered by a line"
      ),
    ], reads: "send_line", writes: ["message", "conversation", "ack", "error"])

  package static func run(_ call: Invocation) throws {
    let messenger = try call.messenger()
    try refuseMisplaced(call.arguments, messenger)
    switch try mode(call.arguments) {
    case .jsonLines: try sendLines(call, messenger)
    case .consumerLines(let consumer): try sendLines(call, messenger, as: consumer)
    case .textLines(let conversation): try sendTexts(call, messenger, conversation)
    case .sendDraft(let conversation, let name): try sendDraft(of: conversation, name, call, messenger)
    case .saveDraft(let conversation, let words):
      try withContent(words, call, messenger) { content in
        let conversation = try messenger.saveDraft(content.text, in: conversation)
        try call.print(conversation) { try TextFormat.details($0, for: messenger.identity.handle) }
      }
    case .send(let conversations, let words): try send(words, to: conversations, call, messenger)
    }
  }

  /// Refuses a conversation before `--to`, which would become a part of the text.
  private static func refuseMisplaced(_ arguments: Arguments, _ messenger: Messenger) throws {
    guard let first = arguments.operand(before: to) else { return }
    if !["+", "#", "@"].contains(where: first.hasPrefix) {
      do {
        _ = try messenger.user(Handle(typed: first))
      } catch let error as DMError where [.unknownUser, .noStore].contains(error.code) {
        return
      }
    }
    throw usage("with --to, '\(first)' is a part of the text; write --to \(first), or put the text in quotes")
  }

  private static func sendDraft(
    of conversation: ConversationReference, _ name: String, _ call: Invocation, _ messenger: Messenger
  ) throws {
    let extras = try extras(call.arguments)
    let message = try messenger.sendDraft(
      in: conversation, nonce: extras.nonce, replyTo: extras.replyTo, lifetime: extras.lifetime, once: extras.once)
    try call.print(call.settled(message)) { answer($0, name) }
  }

  private static func send(
    _ words: [String], to conversations: [ConversationReference], _ call: Invocation, _ messenger: Messenger
  ) throws {
    // Before files are prepared or a text is typed, which may take minutes.
    let isTyped = readsText(words, call.arguments) && isTerminal(.input)
    if try isTyped || call.arguments.isGiven(attach) || call.arguments[overflow] == .attach {
      for conversation in conversations { try messenger.checkMaySend(to: conversation) }
    }
    let extras = try extras(call.arguments)
    try withContent(words, call, messenger) { content in
      let sent = try messenger.sendToAll(
        conversations.map {
          try Outgoing(
            to: $0, text: content.text, nonce: extras.nonce, replyTo: extras.replyTo, lifetime: extras.lifetime,
            attachments: content.attachments, forwards: content.forwards)
        }, once: extras.once)
      for (conversation, message) in sent {
        try call.print(call.settled(message)) { answer($0, conversation.description) }
      }
    }
    try call.suggestNext()
  }
}
