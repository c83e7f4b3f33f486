package import DMCLI
internal import DMKit
internal import DMModel

package struct DMEdit: Program {
  static let forEveryone = Flag("for-everyone", "delete your own messages for all")
  static let remove = Flag("remove", "remove your reaction")
  static let reason = Option("reason", value: "TEXT", "the reason for the report")

  package static let command = Command(
    "dm-edit", "edit messages, delete them, react to them, pin them and report them",
    synopsis: [
      "text MESSAGE [TEXT]...", "text MESSAGE <FILE", "delete [--for-everyone] MESSAGE... | CONVERSATION RANGE...",
      "react EMOJI MESSAGE... | CONVERSATION RANGE...", "react --remove MESSAGE... | CONVERSATION RANGE...",
      "report [--reason TEXT] MESSAGE... | CONVERSATION RANGE...", "pin|unpin MESSAGE... | CONVERSATION RANGE...",
      "text|delete|react|report|pin|unpin <MESSAGE-LINES",
    ],
    options: [wait],
    subcommands: [
      Command.Subcommand("text", operands: "MESSAGE [TEXT]...", "change the text of your own message", run: setText),
      Command.Subcommand(
        "delete", operands: "MESSAGE...", "delete messages for yourself", options: [forEveryone]
      ) { try edit(.delete(forEveryone: $0.arguments[forEveryone]), $0.arguments.operands, $0) },
      Command.Subcommand(
        "react", operands: "EMOJI MESSAGE...", "react with an emoji; a new one replaces the old one", options: [remove],
        operandsWith: [(remove, "MESSAGE...")], run: react),
      Command.Subcommand(
        "report", operands: "MESSAGE...",
        "report messages of others to the owner of the store, and to the administrator of its hub",
        options: [reason]
      ) { try edit(.report(reason: $0.arguments[reason]), $0.arguments.operands, $0) },
      Command.Subcommand("pin", operands: "MESSAGE...", "pin messages for everybody in the conversation") {
        try edit(.pin(true), $0.arguments.operands, $0)
      },
      Command.Subcommand("unpin", operands: "MESSAGE...", "unpin messages for everybody in the conversation") {
        try edit(.pin(false), $0.arguments.operands, $0)
      },
    ],
    examples: [
      ("dm-edit text +ops:-1 'deployed at one'", "correct the last message"),
      ("df -h / | dm-edit text +ops:-1", "take the new text from a pipe; without a pipe, an editor opens"),
      ("dm-edit delete bob 40..57", "delete messages 40 to 57 for yourself"),
      ("dm-edit delete --for-everyone +ops:-1", "delete the last message, which is your own, for everyone"),
      ("dm-edit react 👍 bob:-1", "react with an emoji"),
      ("dm-edit react :tada: bob:-1", "react with the short code of an emoji"),
      ("dm-tail bob -n 20 | dm-edit react 👀", "react to each of the last 20 messages"),
      ("dm-edit pin +ops:40", "pin message 40 for everybody in the group; dm-list --pins lists it"),
    ], reads: "edit_line", writes: ["message", "message_deleted", "reaction", "report", "message_pin", "error"])

  /// Applies one action to the messages of the operands, or of the lines of standard input if there are no operands.
  static func edit(_ act: Edit.Act, _ operands: [String], _ call: Invocation) throws {
    if operands.isEmpty { return try editLines(call) { _ in act } }
    let messages = try references(operands, call, wordsOnly: Edit.needsUserMessage(act))
    try edit(messages.map { try Edit($0.message, typedAs: $0.typed, act) }, call)
  }

  /// The messages that operands name, one by one or as ranges of a conversation.
  ///
  /// A range selects only messages that the user sees.
  private static func references(
    _ operands: [String], _ call: Invocation, wordsOnly: Bool
  ) throws -> [(message: MessageReference, typed: MessageReference)] {
    // Whether the second word is a range, as in `bob 40..57 60`.
    let isSpread = operands.count > 1 && RangeReference(operands[1]) != nil
    if isSpread || operands.contains(where: { $0.contains(text: "..") || dottedRange($0) != nil }) {
      let (conversations, ranges) = try call.arguments.conversationsAndRanges(operands, several: false)
      guard let conversation = conversations.first, let ranges else { throw call.arguments.missing("RANGE") }
      let messages = try call.messenger().messages(in: conversation, ranges)
      if messages.isEmpty {
        throw DMError(
          .unknownMessage,
          "no message '\(operands.joined(separator: " "))' that you can see; dm-tail prints what you can see",
          subject: operands.joined(separator: " "))
      }
      // Refers to the messages by their ids, because another group may get the title before the edit.
      return messages.filter { !wordsOnly || !$0.isAnnouncement }.map {
        (.id($0.id), .number($0.number, in: conversation))
      }
    }
    return try operands.map(MessageReference.init).map { ($0, $0) }
  }

  static func edit(_ batch: [Edit], _ call: Invocation) throws {
    let messenger = try call.messenger()
    // With one message, an error ends the program. With several messages, each gets its own answer.
    for (index, result) in try messenger.edit(batch).enumerated() {
      switch result {
      case .success(let outcome): try call.print(outcome) { text(of: $0, for: messenger.identity.handle) }
      case .failure(let error):
        if batch.count == 1 { throw error }
        try call.fail(operand: batch[index].typed.description, error)
      }
    }
  }
}

extension DMEdit {
  /// Applies an action to each message in the lines of standard input, as dm-tail prints them; ignores other lines.
  ///
  /// - Parameter act: returns the action for a message, given the text of its line.
  static func editLines(_ call: Invocation, _ act: (_ text: String?) throws -> Edit.Act) throws {
    if isTerminal(.input) {
      throw call.arguments.missing("MESSAGE", "name one, or pipe the lines of dm-tail into dm-edit")
    }
    let messenger = try call.messenger()
    let me = messenger.identity.handle
    try call.answerLines { line, _ in
      try Edit(line: line, act)
    } act: { lines in
      var results = try messenger.edit(lines.compactMap { $0 })[...]
      return lines.map { $0 == nil ? .success(nil) : results.popFirst()?.map { $0 } ?? .success(nil) }
    } print: { outcome, line in
      if case .message(let message)? = outcome {
        try call.print(message, line: line) { TextFormat.line($0, People(me)) }
      } else if let outcome {
        try call.print(outcome) { text(of: $0, for: me) }
      }
    }
  }

  static func textOfLine(_ text: String?) throws -> Edit.Act {
    guard let text else { throw DMError(.missingField, "'text' is missing; add it to the line", subject: "text") }
    return .text(text)
  }

  static func text(of outcome: Edit.Outcome, for me: Handle) -> String {
    switch outcome {
    case .message(let message): TextFormat.line(message, People(me))
    case .deleted(let deletion): TextFormat.line(deletion)
    case .reaction(let reaction): TextFormat.line(reaction)
    case .report(let report): TextFormat.line(report)
    case .pin(let pin): TextFormat.line(pin)
    }
  }
}

extension DMEdit {
  /// Replaces the text of a message with the operands, with standard input, or with the result of an editor.
  ///
  /// Without operands, replaces the texts of the messages that the lines of standard input name.
  static func setText(_ call: Invocation) throws {
    guard let name = call.arguments.operands.first else { return try editLines(call, textOfLine) }
    let message = try MessageReference(name)
    let words = Array(call.arguments.operands.dropFirst())
    if words.isEmpty, isTerminal(.input) { return try editText(of: message, call) }
    var text = words.joined(separator: " ")
    if words.isEmpty || words == ["-"] && call.arguments.endsWithInput {
      call.announceTyping("type the new text; Ctrl-D saves")
      var input = LineInput()
      text = try input.text(limit: Outgoing.textLimit)
    }
    try edit([Edit(message, .text(text))], call)
  }

  private static func editText(of reference: MessageReference, _ call: Invocation) throws {
    // Uses a separate messenger, so that the store is not open while the user writes.
    let messenger = try Messenger(call.location(), as: call.messenger().identity)
    messenger.onUpgrade = call.noteUpgrade
    let message = try messenger.messageToEdit(reference)
    try EditedText(message.text ?? "", for: call.command).keeping { text in
      // Refers to the message by its id, because `-1` may mean another message by now.
      try edit([Edit(.id(message.id), typedAs: reference, .text(text))], call)
    }
  }
}

extension DMEdit {
  /// Reacts to messages with the emoji that is the first or the last operand.
  static func react(_ call: Invocation) throws {
    var words = call.arguments.operands
    if call.arguments[remove] { return try edit(.react(nil), words, call) }
    guard let first = words.first, let last = words.last else { throw call.arguments.missing("EMOJI") }
    let isLast = !isEmoji(first) && (isEmoji(last) || nameMessages(words))
    let emoji = isLast ? words.removeLast() : words.removeFirst()
    if isLast, nameMessages([emoji]) || RangeReference(emoji) != nil { throw call.arguments.missing("EMOJI") }
    try edit(.react(reaction(emoji)), words, call)
  }

  /// Whether words begin with a reference to messages: `bob:57`, a UUID, or `bob 40..57`.
  private static func nameMessages(_ words: [String]) -> Bool {
    if Identifier(words[0]) != nil || words.count > 1 && RangeReference(words[1]) != nil { return true }
    do { return try splitReference(words[0]) != nil } catch { return true }
  }

  private static func reaction(_ word: String) throws -> String { isShortCode(word) ? try emoji(of: word) : word }

  /// Whether a word is an emoji or a short code; a reference to a message is neither.
  private static func isEmoji(_ word: String) -> Bool {
    if isShortCode(word) { return true }
    do {
      try Edit.check(emoji: word)
      return true
    } catch {
      return false
    }
  }
}
