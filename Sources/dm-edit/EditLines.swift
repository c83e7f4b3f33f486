internal import DMCLI
internal import DMKit

extension DMEdit {
  /// Edits the messages whose lines come in, as dm-tail prints them; other lines are ignored.
  ///
  /// - Parameter act: what is done to a message, given the text of its line.
  static func editLines(_ call: Invocation, _ act: (_ text: String?) throws -> Edit.Act) throws {
    if isTerminal(.input) {
      throw call.arguments.missing("MESSAGE").adding(", or pipe the lines of dm-tail into it")
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
        try call.print(message, line: line) { TextFormat.line($0, for: me) }
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
    case .message(let message): TextFormat.line(message, for: me)
    case .deleted(let deletion): TextFormat.line(deletion)
    case .reaction(let reaction): TextFormat.line(reaction)
    case .report(let report): TextFormat.line(report)
    }
  }
}
