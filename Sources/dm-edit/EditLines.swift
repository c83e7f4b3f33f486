internal import DMCLI
internal import DMKit

extension DMEdit {
  /// What to do to each message; the text of a line, where it is needed, comes with the line.
  enum Chosen: Equatable {
    case text
    case same(Edit.Act)

    func act(text: String?) throws -> Edit.Act {
      switch self {
      case .same(let act): return act
      case .text:
        guard let text else { throw DMError(.missingField, "'text' is missing; add it to the line", subject: "text") }
        return .text(text)
      }
    }
  }

  static func act(_ arguments: Arguments, _ operands: inout ArraySlice<String>) throws -> Chosen {
    switch arguments.subcommand {
    case "text": return .text
    case "delete": return .same(.delete(forEveryone: arguments.has("for-everyone")))
    case "report": return .same(.report(reason: arguments.value("reason")))
    default:
      if arguments.has("remove") { return .same(.react(nil)) }
      guard let emoji = operands.popFirst() else { throw usage("EMOJI is missing; see --help") }
      return .same(.react(emoji))
    }
  }

  /// Lines of messages, as dm-tail prints them; other lines pass by.
  static func editLines(_ call: Invocation, _ messenger: Messenger, _ chosen: Chosen) throws {
    let me = messenger.identity.handle
    try call.answerLines { line, _ in
      try Edit(line: line) { try chosen.act(text: $0) }
    } act: { lines in
      var results = try messenger.edit(lines.compactMap { $0 })[...]
      return lines.map { $0 == nil ? .success(nil) : results.popFirst()?.map { $0 } ?? .success(nil) }
    } print: { outcome, line in
      if case .message(let message)? = outcome {
        try call.print(message, line: line) { TextFormat.line($0, for: me) }
      } else if let outcome {
        try call.print(outcome) { text(of: $0, for: me) }
      }
    }
  }

  static func text(of outcome: Edit.Outcome, for me: Handle) -> String {
    switch outcome {
    case .message(let message): TextFormat.line(message, for: me)
    case .deleted(let deletion): TextFormat.line(deletion)
    case .reaction(let reaction): TextFormat.line(reaction)
    case .report(let report): TextFormat.line(report)
    }
  }
}
