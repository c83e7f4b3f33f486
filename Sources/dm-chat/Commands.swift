internal import DMCLI
internal import DMKit

/// Sends a message, or runs a command, that was entered in a window.
struct Commands {
  let acts: Conversing

  init(_ acts: Conversing) { self.acts = acts }

  /// - Parameter progress: called often during long work, with a description of the work.
  func perform(
    _ entered: Entered, progress: @escaping (String) throws -> Void
  ) throws -> ChatModel.Outcome {
    guard case .command(let command, let rest) = entered else {
      if case .message(let text) = entered { try acts.send(text) }
      return .sent
    }
    switch command {
    case .reply: try acts.reply(rest)
    case .edit: return try edit(rest)
    case .react: try acts.react(rest)
    case .delete: try acts.delete(rest)
    case .attach: try acts.attach(rest, progress: progress)
    case .search: return try search(rest)
    case .digest: return try digest(rest)
    case .go: return try go(rest)
    case .mute: return .notice(try acts.mute() ? "muted" : "no longer muted")
    case .list: return .end(.list)
    case .help: return .panel(Panel(Entered.help), notice: nil)
    case .quit: return .end(.quit)
    }
    return .changed
  }

  private func edit(_ words: String) throws -> ChatModel.Outcome {
    let (number, text) = Entered.number(words)
    guard let number = try number ?? acts.lastOwn()?.seq else {
      throw usage("you have sent nothing here that could be edited")
    }
    if text.isEmpty { return .offer(try acts.messenger.messageToEdit(acts.message(number))) }
    try acts.edit(number, text)
    return .changed
  }

  private func search(_ words: String) throws -> ChatModel.Outcome {
    if words.allSatisfy(\.isWhitespace) { throw usage("write /search and the words to look for") }
    let lines = try acts.search(words)
    if lines.isEmpty { return .notice("nothing here matches '\(words)'; 'wor*' finds what begins with 'wor'") }
    let count = counted(lines.count, "message")
    let newest = lines.count < Conversing.mostFound ? "" : "the newest "
    return .panel(Panel(lines.reversed()), notice: "\(newest)\(count); /go N goes to one, Esc back")
  }

  private func digest(_ words: String) throws -> ChatModel.Outcome {
    let lines = try DigestLines(acts).made(of: words)
    return lines.count == 1
      ? .notice(lines[0]) : .panel(Panel(lines, atTop: true), notice: "/go N goes to a message, Esc back")
  }

  private func go(_ words: String) throws -> ChatModel.Outcome {
    guard let number = Entered.number(words).0 else { throw usage("write /go and the number of a message") }
    let (before, after) = try acts.pages.around(number)
    return .messages(before: before, after: after)
  }
}
