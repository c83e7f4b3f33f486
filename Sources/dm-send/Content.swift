internal import DMCLI
internal import DMKit

extension DMSend {
  /// The values of `--nonce`, `--once`, `--reply-to` and `--expires-in`.
  typealias Extras = (nonce: String?, once: Bool, replyTo: MessageReference?, lifetime: Duration?)

  static func extras(_ arguments: Arguments) throws -> Extras {
    try (arguments[nonce], arguments[once], arguments[replyTo], arguments[expiresIn])
  }

  /// A text, attachments, and the message that is forwarded, if any.
  typealias Content = (text: String, attachments: [Identifier], forwards: Identifier?)

  /// Whether the text comes from standard input, because the only word is `-`, or because there are neither words nor
  /// `--attach`.
  ///
  /// False with `--edit` and `--forward`, for which the text comes from elsewhere.
  static func readsText(_ words: [String], _ arguments: Arguments) -> Bool {
    if [edit, forward].contains(where: arguments.isGiven) { return false }
    return words.isEmpty ? !arguments.isGiven(attach) : words == ["-"] && arguments.endsWithInput
  }

  /// Calls `body` with the content of a forwarded message, or with attachments and a text.
  ///
  /// The text comes from an editor, from the words, or from standard input.
  static func withContent(
    _ words: [String], _ call: Invocation, _ messenger: Messenger, quoting quotation: Quotation? = nil,
    _ body: (Content) throws -> Void
  ) throws {
    let text = words.joined(separator: " ")
    if let reference = try call.arguments[forward] {
      let message = try messenger.messageToForward(reference)
      return try body((message.text ?? "", message.attachments.map(\.id), message.id))
    }
    let files = try call.arguments.all(attach)
    // If the text in the editor is empty, nothing is sent, not even attachments.
    if call.arguments[edit] {
      if words == ["-"], call.arguments.endsWithInput {
        throw usage("'-' is standard input, which the editor of --edit needs; leave it out")
      }
      return try edited(text, quotation, call) { text in
        try body((text, prepare(files, call, messenger), nil))
      }
    }
    let options = try TextOptions(call.arguments)
    let isRead = readsText(words, call.arguments)
    if isRead, files.contains("-") { throw usage("'-' is the text and a file; standard input is one of them") }
    if isRead {
      call.announceTyping(
        call.arguments[draft] ? "type the draft; Ctrl-D saves" : "type the message; Ctrl-D sends")
    }
    let (fitted, whole) = isRead ? try options.standardInput() : options.fitted(text)
    if call.arguments[ifAny], fitted.allSatisfy(\.isWhitespace) {
      return try call.note("the text is empty; nothing was sent")
    }
    if files.isEmpty || !fitted.isEmpty { try Outgoing.check(text: fitted) }
    var attachments = try prepare(files, call, messenger)
    if let whole {
      var asIs = PreparationOptions()
      asIs.asFile = true
      attachments.append(try messenger.prepare(.bytes(whole), name: "text.txt", asIs).attachment.id)
    }
    try body((quotation?.before(fitted) ?? fitted, attachments, nil))
  }

  /// Calls `body` with the text that the user has written in the editor, which begins with the quotation.
  private static func edited(
    _ text: String, _ quotation: Quotation?, _ call: Invocation, _ body: (String) throws -> Void
  ) throws {
    try EditedText(quotation?.before(text) ?? text, for: call.command).keeping { text in
      try Outgoing.check(text: text)
      if let quotation, ExactString(text) == ExactString(quotation.text) {
        throw DMError(.emptyText, "there is only the quotation; say something")
      }
      try body(text)
    }
  }

  private static func prepare(_ files: [String], _ call: Invocation, _ messenger: Messenger) throws -> [Identifier] {
    try PreparationArguments.checkCount(files)
    var attachments: [Identifier] = []
    if files.isEmpty { return attachments }
    try PreparationArguments(call).prepareAll(files, messenger) { attachments.append(try $0.get().id) }
    return attachments
  }
}

/// How --lossy and --overflow change texts.
struct TextOptions {
  enum Overflow: String, CaseIterable { case attach, truncate, error }

  let isLossy: Bool
  let overflow: Overflow

  /// How many bytes a text that becomes an attachment may have, and how many of them the message shows as its text.
  private static let attachedLimit = 64 << 20
  private static let beginningLimit = 1024

  init(_ arguments: Arguments) throws {
    isLossy = arguments[lossy]
    overflow = try arguments[DMSend.overflow] ?? .error
  }

  /// The text of a line.
  func text(_ line: ArraySlice<UInt8>) throws -> String { try fitted(plainText(line, isLossy: isLossy)).text }

  /// The text for the message, and the whole text if it must be attached.
  ///
  /// With `--overflow error`, a text that is too long is returned unchanged, and cannot be sent.
  func fitted(_ text: String) -> (text: String, whole: [UInt8]?) {
    guard text.utf8.count > Outgoing.textLimit else { return (text, nil) }
    switch overflow {
    case .error: return (text, nil)
    case .truncate: return (Outgoing.cut(text, to: Outgoing.textLimit), nil)
    case .attach: return (Outgoing.cut(text, to: Self.beginningLimit), Array(text.utf8))
    }
  }

  /// The text for the message, read from standard input and shortened as `--overflow` says; if the input must be
  /// attached, also the bytes of the whole input.
  ///
  /// One line feed at the end of the input is removed.
  func standardInput() throws -> (text: String, whole: [UInt8]?) {
    var input = LineInput()
    let limit = overflow == .attach ? Self.attachedLimit : Outgoing.textLimit
    let bytes = try input.bytes(limit: limit, cuts: overflow == .truncate)
    let (text, whole) = try fitted(plainText(bytes[...], isLossy: isLossy))
    return (text, whole == nil ? nil : bytes)
  }
}

extension DMSend {
  static func sendTexts(_ call: Invocation, _ messenger: Messenger, _ conversation: ConversationReference) throws {
    let extras = try extras(call.arguments)
    let texts = try TextOptions(call.arguments)
    let previews = try Previews(call, messenger)
    try call.answerLines(isSingle: previews.areMade) { line, number in
      try previews.adding(
        to: Outgoing(
          to: conversation, text: texts.text(line), nonce: extras.nonce.map { "\($0)-\(number)" },
          lifetime: extras.lifetime))
    } nonce: {
      $0.nonce
    } act: {
      try messenger.send($0, once: extras.once)
    } print: { message, line in
      try call.print(call.settled(message), line: line) { answer($0, conversation.description) }
    }
  }

  static func sendLines(_ call: Invocation, _ messenger: Messenger) throws {
    let once = call.arguments[once]
    let previews = try Previews(call, messenger)
    var page = MessagePage(messenger, [])
    try call.answerLines(isSingle: previews.areMade) { line, _ in
      try previews.adding(to: Outgoing(line: line))
    } nonce: {
      $0.nonce
    } act: {
      try messenger.send($0, once: once)
    } print: { message, line in
      try call.print(call.settled(message), line: line) { answer($0, try page.name($0.conversationID)) }
    }
  }

  /// A reference to the sent message, ready for --reply-to.
  static func answer(_ message: Message, _ conversation: String) -> String {
    let reference = message.seq.map { visible("\(conversation):\($0)") } ?? "\(message.reference) (queued)"
    return reference + (message.isDuplicate ? " (sent before)" : "")
  }
}

extension ConsumerLine {
  fileprivate var nonce: String? { if case .success(let outgoing)? = outgoing { outgoing.nonce } else { nil } }
}

extension DMSend {
  /// Sends lines that may acknowledge events.
  ///
  /// Skips lines that can never succeed; with --stop-at-failed, stops at the first line that fails.
  static func sendLines(_ call: Invocation, _ messenger: Messenger, as consumer: String) throws {
    let skipsFailed = !call.arguments[stopAtFailed]
    var skippedCount = 0
    var page = MessagePage(messenger, [])
    try call.answerLines(
      { line, _ in try ConsumerLine(line: line) }, replacing: { ConsumerLine(.failure($0), acknowledges: nil) },
      nonce: { $0.nonce }, stopsAtFault: !skipsFailed
    ) {
      let results = try messenger.send($0, as: consumer, skipsFailed: skipsFailed)
      for case .failure(let error) in results where error.code != .unfinishedLine { skippedCount += 1 }
      return results
    } print: { result, line in
      switch result {
      case .message(let message):
        try call.print(call.settled(message), line: line) { answer($0, try page.name($0.conversationID)) }
      case .acknowledged(let acknowledgement): try call.print(acknowledgement) { _ in nil }
      }
    }
    if skipsFailed, skippedCount > 0 {
      printError(command.name, "skipped \(counted(skippedCount, "line")) that can never succeed")
    }
  }
}
