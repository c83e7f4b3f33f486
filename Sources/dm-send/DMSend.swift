package import DMCLI
internal import DMKit

extension DMSend {
  static let to = Option(
    "to", value: "CONVERSATION", values: [.conversations, .people],
    "send to this conversation; with several --to, to all or none")
  static let lines = Flag("lines", "send each line of standard input as a message")
  static let replyTo = Option(
    "reply-to", value: "MESSAGE", "answer this message", as: MessageReference.init)
  static let nonce = Option(
    "nonce", value: "NONCE", "a name for this message; if you used it in this conversation before, nothing is sent")
  static let once = Flag("once", "with --nonce: if the nonce is already used, send nothing, even if the text differs")
  static let consumer = Option(
    "consumer", value: "NAME", values: [.consumers],
    "for this consumer, acknowledge the cursor 'ack' of each line; see dm-tail(1)")
  static let stopAtFailed = Flag("stop-at-failed", "with --consumer: stop at the first line that fails")
  static let skipFailed = Flag(
    "skip-failed", "with --consumer: skip lines that can never succeed (the default)")
  static let edit = Flag("edit", "write the text in $VISUAL or $EDITOR")
  static let draft = Flag("draft", "save the text as the draft of the conversation, without sending it")
  static let fromDraft = Flag("from-draft", "send the draft, and clear it")
  static let forward = Option(
    "forward", value: "MESSAGE", "forward this message, with its attachments", as: MessageReference.init)
  static let expiresIn = Option(
    "expires-in", value: "TIME", "delete the message for everyone after this time", as: duration)
  static let overflow = Option(
    "overflow", value: "HOW", oneOf: TextOptions.Overflow.self,
    "if a text is over 64 KiB: attach, truncate or error [error]")
  static let attach = Option(
    "attach", value: "FILE", "attach a file, prepared as dm-attach(1) does; can be repeated")

  static let preview = Flag("preview", "add a preview of the first link, as dm-preview(1) does [$DM_PREVIEW]")

  static let options: [any Declared] =
    [
      to, lines, replyTo, quote, nonce, once, consumer, stopAtFailed, skipFailed, edit, draft, fromDraft, forward,
      expiresIn, lossy, overflow, attach, preview, ifAny, wait, waitRead,
    ] + PreparationArguments.options

  static let rules: [Rule] = [
    .excludes(lines, [replyTo, edit, draft, fromDraft, forward, attach]),
    .excludes(draft, [fromDraft, forward, nonce, replyTo, expiresIn, attach]),
    .excludes(lossy, [edit, fromDraft, forward]), .excludes(overflow, [edit, fromDraft, forward]),
    .excludes(fromDraft, [forward, edit, attach]), .excludes(forward, [edit, attach]),
    .excludes(quote, [lines, replyTo, draft, fromDraft, forward]), .excludes(waitRead, [lines, draft]),
    .excludes(ifAny, [lines, edit, draft, fromDraft, forward]),
    .excludes(skipFailed, [stopAtFailed]), .excludes(preview, [draft, fromDraft, forward, consumer]),
  ]

  /// The rules for a command line that names conversations.
  static let messageRules =
    [.needs(once, [nonce])] + PreparationArguments.rules
    + PreparationArguments.options.map { Rule.needs($0, [attach]) }

  /// The rules for a command line that names no conversation, because the JSON lines on standard input name the
  /// conversations.
  static let lineRules = [Rule.needs(skipFailed, [consumer]), .needs(stopAtFailed, [consumer])]
}

extension DMSend {
  /// The action that the options and operands select.
  enum Mode {
    /// Sends JSON lines, each of which names its conversation.
    case jsonLines
    case consumerLines(String)
    /// Sends each line of standard input as a message.
    case textLines(ConversationReference)
    /// - Parameter name: the conversation as it was typed.
    case sendDraft(ConversationReference, name: String)
    case saveDraft(ConversationReference, words: [String])
    case send(to: [ConversationReference], words: [String])
  }

  static func mode(_ arguments: Arguments) throws -> Mode {
    var words = arguments.operands
    var names = try arguments.all(to)
    if names.isEmpty, !words.isEmpty { names = [words.removeFirst()] }
    guard let name = names.first else { return try lineMode(arguments) }
    try arguments.refuse([consumer, skipFailed, stopAtFailed]) {
      "\($0) is for JSON lines on standard input; leave out '\(name)'"
    }
    try arguments.check(messageRules)
    let conversations = try names.map(ConversationReference.init)
    if conversations.count > 1 {
      try arguments.refuse([lines, draft, fromDraft]) { "'\($0)' is for one conversation; leave out all but one --to" }
    }
    if arguments[ifAny], words.isEmpty, arguments.isGiven(attach) {
      throw usage("with --attach, '--if-any' needs a TEXT; write '-' to read it from standard input")
    }
    if let word = words.first {
      if arguments[lines] { throw arguments.unexpected(word) }
      try arguments.refuse([fromDraft, forward]) {
        "unexpected '\(word)'; '\($0)' brings its own text; send yours as a message of its own"
      }
    }
    if try arguments[overflow] == .attach { try arguments.check([.excludes(overflow, [lines, draft])]) }
    if arguments[lines] { return .textLines(conversations[0]) }
    if arguments[fromDraft] { return .sendDraft(conversations[0], name: name) }
    if arguments[draft] { return .saveDraft(conversations[0], words: words) }
    return .send(to: conversations, words: words)
  }

  /// The mode of a command line that names no conversation: it sends the JSON lines of standard input.
  private static func lineMode(_ arguments: Arguments) throws -> Mode {
    let ofMessages: [any Declared] =
      [
        lines, nonce, replyTo, quote, ifAny, waitRead, edit, draft, fromDraft, forward, expiresIn, attach, lossy,
        overflow,
      ]
      + PreparationArguments.options
    try arguments.refuse(ofMessages) { "\($0) needs a conversation; see --help" }
    if isTerminal(.input) { throw arguments.missing("CONVERSATION", "name one, or pipe JSON lines into dm-send") }
    try arguments.check(lineRules)
    return try arguments[consumer].map(Mode.consumerLines) ?? .jsonLines
  }
}

package struct DMSend: Program {
  package static let command = Command(
    "dm-send", "send one message from arguments or standard input, or many from lines",
    synopsis: [
      "[OPTION]... CONVERSATION TEXT...", "[OPTION]... CONVERSATION [-] <FILE",
      "[OPTION]... --to CONVERSATION... TEXT...", "CONVERSATION --from-draft | --forward MESSAGE",
      "--lines CONVERSATION <FILE", "<JSON-LINES",
    ],
    options: options, operands: "CONVERSATION|USER TEXT...", operandsWith: [(to, "TEXT...")], rules: rules,
    examples: [
      ("dm-send bob 'lunch?'", "send a message"),
      ("make 2>&1 | tail -n 20 | dm-send +ops", "standard input as one message"),
      ("dm-send bob --reply-to -1 'with pleasure'", "answer the last message"),
      ("dm-send bob --nonce \"backup-$(date +%F)\" 'backup done'", "send at most once a day, however often this runs"),
      ("dm-send bob --quote -1 'with pleasure'", "quote the last message, and answer it"),
      ("df | grep ' 100% ' | dm-send +ops --if-any", "for cron: the file systems that are full, if there are any"),
      (
        "dm-send bob --wait-read 2s 'are you there?' || dm-send carol 'where is bob?'",
        "ask another user if bob has not read the message in two seconds"
      ),
      ("dm-send --to bob --to +ops 'back at five'", "send to several conversations, or to none if one of them fails"),
      ("dm-send bob --forward +ops:12", "forward a message"),
      ("dm-send bob --attach photo.jpg 'as promised'", "send a photo"),
      (
        "jq -c '{conversation: .to, text: .body, nonce: .id}' queue.json | dm-send",
        "send many messages; each is answered by one line"
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
        try call.print(conversation) { TextFormat.line($0, "draft saved", for: messenger.identity.handle) }
      }
    case .send(let conversations, let words): try send(words, to: conversations, call, messenger)
    }
  }

  /// Refuses a conversation before `--to`, because it would become a part of the text.
  private static func refuseMisplaced(_ arguments: Arguments, _ messenger: Messenger) throws {
    guard let first = arguments.operand(before: to) else { return }
    if !["+", "#", "@"].contains(where: first.hasPrefix) {
      do {
        _ = try messenger.user(Handle(typed: first))
      } catch let error as DMError where [.unknownUser, .noStore, .hubUnreachable].contains(error.code) {
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
    try waitUntilRead([message], call)
  }

  private static func waitUntilRead(_ messages: [Message], _ call: Invocation) throws {
    if let limit = try call.arguments[waitRead] { try call.waitUntilRead(messages, within: limit) }
  }

  private static func send(
    _ words: [String], to conversations: [ConversationReference], _ call: Invocation, _ messenger: Messenger
  ) throws {
    // Checks the permission before files are prepared or a text is typed, because these may take minutes.
    let isTyped = readsText(words, call.arguments) && isTerminal(.input)
    if try isTyped || Previews.areWanted(call) || call.arguments.isGiven(attach)
      || call.arguments[overflow] == .attach
    {
      for conversation in conversations { try messenger.checkMaySend(to: conversation) }
    }
    let extras = try extras(call.arguments)
    let previews = try Previews(call, messenger)
    let quotation = try Quotation(call.arguments, messenger, to: conversations)
    try withContent(words, call, messenger, quoting: quotation) { content in
      let messages = try conversations.map {
        try Outgoing(
          to: $0, text: content.text, nonce: extras.nonce,
          replyTo: extras.replyTo ?? quotation?.answered(in: $0, messenger), lifetime: extras.lifetime,
          attachments: content.attachments, forwards: content.forwards)
      }
      let sent = try messenger.sendToAll(previews.adding(to: messages), once: extras.once)
      for (conversation, message) in sent {
        try call.print(call.settled(message)) { answer($0, conversation.description) }
      }
      try waitUntilRead(sent.map(\.message), call)
    }
    try noteSecondName(words, after: conversations, call, messenger)
    try call.suggestNext()
  }

  /// On a terminal, says that the first word of the text is also the name of a user.
  private static func noteSecondName(
    _ words: [String], after conversations: [ConversationReference], _ call: Invocation, _ messenger: Messenger
  ) throws {
    guard call.isSeen, words.count > 1, conversations.count == 1, !call.arguments.isGiven(to) else { return }
    // The hub of a linked store is not asked for a word of a text.
    messenger.compareForUnknownUser = nil
    do {
      let user = try messenger.user(Handle(words[0].without("@"))).handle
      try call.note("'\(user)' is a part of the text; to send to both, write --to \(conversations[0]) --to \(user)")
    } catch let error as DMError where [.unknownUser, .badHandle].contains(error.code) {
      return
    }
  }
}
