internal import DMCLI
internal import DMKit

@main struct DMSend: Program {
  static let command = Command(
    "dm-send", "send messages: one from its arguments or standard input, or many as lines",
    synopsis: [
      "[OPTION]... CONVERSATION TEXT...", "[OPTION]... CONVERSATION <FILE", "[OPTION]... --to CONVERSATION... TEXT...",
      "CONVERSATION --from-draft | --forward MESSAGE", "--lines CONVERSATION <FILE",
      "<JSON-LINES",
    ],
    options: [
      Declaration("to", value: "CONVERSATION", "where to send; may stand several times: to all of them or to none"),
      Declaration("lines", "send each line of standard input as a message"),
      Declaration("reply-to", value: "MESSAGE", "the message that this one answers"),
      Declaration("nonce", value: "NONCE", "sent before with this nonce: do nothing, return that message"),
      Declaration("once", "return that message whatever the text is now"),
      Declaration("consumer", value: "NAME", "the lines acknowledge ('ack') for this consumer of the user; see dm-tail(1)"),
      Declaration("stop-at-failed", "end with the first line of a consumer that fails"),
      Declaration("skip-failed", "acknowledge and count the lines of a consumer that can never succeed; the default"),
      Declaration("edit", "write the text in $VISUAL or $EDITOR"),
      Declaration("draft", "keep the text as the draft of the conversation instead of sending it"),
      Declaration("from-draft", "send the draft, and clear it"),
      Declaration("forward", value: "MESSAGE", "send the text of this message, and what it carries"),
      Declaration("expires-in", value: "TIME", "have it gone after that long"),
      Declaration("lossy", "put U+FFFD in the place of bytes that are not UTF-8, and of NUL"),
      Declaration(
        "overflow", value: "HOW", values: .words(["attach", "truncate", "error"]),
        "what becomes of a text over 64 KiB: attach it, truncate it, or fail [error]"),
      Declaration("attach", value: "FILE", "send a file with it, prepared as by dm-attach(1); may stand several times"),
    ] + PreparationArguments.options,
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

  static func run(_ call: Invocation) throws {
    let arguments = call.arguments
    let messenger = try call.messenger()
    var words = arguments.operands[...]
    var names = arguments.all("to")
    if names.isEmpty, let name = words.popFirst() { names = [name] }
    guard let name = names.first else { return try sendLines(call, messenger) }
    for option in ["consumer", "skip-failed", "stop-at-failed"] where arguments.isGiven(option) {
      throw usage("--\(option) is for JSON lines on standard input; leave out '\(name)'")
    }
    try excludeOdd(arguments)
    let conversations = try names.map(ConversationReference.init)
    if arguments.has("lines") || arguments.has("draft") || arguments.has("from-draft"), names.count > 1 {
      throw usage("that is for one conversation; leave out all but one --to")
    }
    if arguments.has("lines") {
      if let word = words.first { throw usage("unexpected '\(word)'; see --help") }
      return try sendTexts(call, messenger, conversations[0])
    }
    if arguments.has("from-draft") || arguments.isGiven("forward"), let word = words.first {
      throw usage("unexpected '\(word)': the text is there already; see --help")
    }
    if arguments.has("from-draft") {
      let options = try options(arguments)
      let message = try messenger.sendDraft(
        in: conversations[0], nonce: options.nonce, replyTo: options.replyTo, lifetime: options.lifetime,
        once: options.once)
      return try call.print(message) { answer($0, name) }
    }
    // Before files are prepared for it, which may take minutes.
    if arguments.isGiven("attach") || arguments.value("overflow") == "attach" {
      for name in conversations { try messenger.checkMaySend(to: name) }
    }
    try withContent(Array(words), call, messenger) { content in
      if arguments.has("draft") {
        let conversation = try messenger.saveDraft(content.text, in: conversations[0])
        return try call.print(conversation) { try TextFormat.details($0, for: messenger.identity.handle) }
      }
      let options = try options(arguments)
      let sent = try messenger.sendToAll(
        conversations.map {
          try Outgoing(
            to: $0, text: content.text, nonce: options.nonce, replyTo: options.replyTo, lifetime: options.lifetime,
            attachments: content.attachments, forwards: content.forwards)
        }, once: options.once)
      for (conversation, message) in sent { try call.print(message) { answer($0, conversation.description) } }
    }
  }
}
