internal import DMCLI
internal import DMKit

extension DMEdit {
  /// Replaces a text with the words of the command line, with standard input, or with what the user makes of it in an
  /// editor; without operands, texts with those of lines.
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
    // By a messenger of its own, so that the store is not open while the user writes.
    let message = try Messenger(call.location(), as: call.messenger().identity).messageToEdit(reference)
    try EditedText(message.text ?? "", for: call.command).keeping { text in
      // By its id, because `-1` may name another message by now.
      try edit([Edit(.id(message.id), typedAs: reference, .text(text))], call)
    }
  }
}
