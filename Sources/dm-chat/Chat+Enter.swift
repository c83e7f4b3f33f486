internal import DMCLI
internal import DMKit

/// What Enter does.
extension Chat {
  /// Does what the line says; the line stays if that fails.
  func enter() throws {
    panel = nil
    let text = line.text
    guard text.contains(where: { !$0.isWhitespace }) else { return _ = line.take() }
    do {
      let next = try perform(Entered(text))
      _ = line.take()
      if let next { line.replace(next) }
      keystrokes.stop()
      shownTyping.show(false)
      try removeDraft()
      call.startCarrier()
    } catch let error as DMError {
      say(error.text, isFault: true)
    }
  }

  /// - Returns: what stands in the line then; nil for nothing.
  private func perform(_ entered: Entered) throws -> String? {
    guard case .command(let command, let rest) = entered else {
      if case .message(let text) = entered { try acts.send(text) }
      stretch.firstUnread = nil
      try goToEnd()
      return nil
    }
    switch command {
    case .reply: try acts.reply(rest)
    case .edit: return try edit(rest)
    case .react: try acts.react(rest)
    case .delete: try acts.delete(rest)
    case .attach: try attach(rest)
    case .search: try search(rest)
    case .go: try go(rest)
    case .mute: say(try acts.mute() ? "muted" : "no longer muted")
    case .list: end = .list
    case .help: panel = Panel(Entered.help)
    case .quit: end = .quit
    }
    return nil
  }
}
