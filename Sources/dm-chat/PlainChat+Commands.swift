internal import DMCLI
internal import DMKit

extension PlainChat {
  /// - Returns: lines to print.
  func perform(_ entered: Entered) throws -> [String] {
    switch entered {
    case .message(let text): try acts.send(text)
    case .command(let command, let rest):
      switch command {
      case .reply: try acts.reply(rest)
      case .edit:
        let (number, text) = Entered.number(rest)
        guard let number, !text.isEmpty else {
          throw usage("write /edit, the number of your message, and its new text")
        }
        try acts.edit(number, text)
      case .react: try acts.react(rest)
      case .delete: try acts.delete(rest)
      case .attach: try acts.attach(rest) { _ in }
      case .search:
        let lines = try acts.search(rest)
        return lines.isEmpty ? ["nothing here matches"] : lines.reversed()
      case .mute: return [try acts.mute() ? "muted" : "no longer muted"]
      case .help: return Entered.plainHelp
      case .go, .list: throw usage("/\(command.rawValue) needs a window, which --plain does not have")
      case .quit: isOver = true
      }
    }
    return []
  }
}
