internal import DMCLI
internal import DMKit

extension DMSend {
  /// The options that go with a text.
  typealias Extras = (nonce: String?, once: Bool, replyTo: MessageReference?, lifetime: Duration?)

  static func extras(_ arguments: Arguments) throws -> Extras {
    try (arguments[nonce], arguments[once], arguments[replyTo], arguments[expiresIn])
  }

  /// A text, attachments, and the message that is forwarded, if any.
  typealias Content = (text: String, attachments: [Identifier], forwards: Identifier?)

  /// Whether the text comes from standard input: there are no words, or they are `-`.
  ///
  /// With `--attach` and no words there is no text.
  static func readsText(_ words: [String], _ arguments: Arguments) -> Bool {
    if [edit, forward].contains(where: arguments.isGiven) { return false }
    return words.isEmpty ? !arguments.isGiven(attach) : words == ["-"] && arguments.endsWithInput
  }

  /// Calls `body` with the content: that of a forwarded message, or a text from an editor, the words or standard input,
  /// and attachments.
  static func withContent(
    _ words: [String], _ call: Invocation, _ messenger: Messenger, _ body: (Content) throws -> Void
  ) throws {
    let text = words.joined(separator: " ")
    if let reference = try call.arguments[forward] {
      let message = try messenger.messageToForward(reference)
      return try body((message.text ?? "", message.attachments.map(\.id), message.id))
    }
    let files = try call.arguments.all(attach)
    // An empty text in the editor sends nothing, even with attachments.
    if call.arguments[edit] {
      if words == ["-"], call.arguments.endsWithInput {
        throw usage("'-' is standard input, which the editor of --edit needs; leave it out")
      }
      return try EditedText(text, for: call.command).keeping { text in
        try Outgoing.check(text: text)
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
    if files.isEmpty || !fitted.isEmpty { try Outgoing.check(text: fitted) }
    var attachments = try prepare(files, call, messenger)
    if let whole {
      var asIs = PreparationOptions()
      asIs.asFile = true
      attachments.append(try messenger.prepare(.bytes(whole), name: "text.txt", asIs).attachment.id)
    }
    try body((fitted, attachments, nil))
  }

  private static func prepare(_ files: [String], _ call: Invocation, _ messenger: Messenger) throws -> [Identifier] {
    try PreparationArguments.checkCount(files)
    var attachments: [Identifier] = []
    if files.isEmpty { return attachments }
    try PreparationArguments(call).prepareAll(files, messenger) { attachments.append(try $0.get().id) }
    return attachments
  }
}
