internal import DMCLI
internal import DMKit

/// A line that the user has entered: a message, or a command.
enum Entered: Equatable {
  case message(String)
  /// - Parameter rest: the text after the command's name.
  case command(Command, rest: String)

  enum Command: String, CaseIterable {
    case reply, edit, react, delete, attach, search, digest, go, mute, list, help, quit

    /// The operands of the command, and its effect, for /help.
    var help: (operands: String, meaning: String) {
      switch self {
      case .reply: ("N TEXT", "answer message N")
      case .edit: ("N TEXT", "change the text of your message N")
      case .react: ("[N] EMOJI", "react to N, or to others' last message; repeat to undo")
      case .delete: ("N [everyone]", "delete N for yourself, or for all")
      case .attach: ("FILE", "send a file")
      case .search: ("WORDS", "search this conversation")
      case .digest: ("[N]", "points of what was unread, or since N")
      case .go: ("N", "go to message N")
      case .mute: ("", "mute the conversation, or unmute it")
      case .list: ("", "go to another conversation")
      case .help: ("", "show this help")
      case .quit: ("", "leave; Ctrl-D does the same")
      }
    }
  }

  /// A slash starts a command; two slashes start a message that begins with one slash.
  ///
  /// - Throws: `usage` for an unknown command.
  init(_ line: String) throws {
    guard line.hasPrefix("/"), !line.hasPrefix("//") else {
      self = .message(line.hasPrefix("//") ? String(line.dropFirst()) : line)
      return
    }
    let parts = line.dropFirst().split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == " " || $0 == "\n" }
    let name = String(parts[0])
    guard let command = Command(rawValue: name) else {
      let near = nearest(to: name, among: Command.allCases.map(\.rawValue)).map { "did you mean '/\($0)'? " } ?? ""
      throw usage("there is no command '/\(name)'; \(near)/help lists them, and '//\(name)' sends it as a text")
    }
    let rest = parts.count > 1 ? String(parts[1]) : ""
    if command.help.operands.isEmpty, rest.contains(where: { !$0.isWhitespace }) {
      throw usage("'/\(name)' takes nothing after it")
    }
    self = .command(command, rest: rest)
  }

  /// A number, and the text after it; the number is nil if the words do not begin with one.
  static func number(_ words: String) -> (Int?, rest: String) {
    let parts = words.split(maxSplits: 1, omittingEmptySubsequences: true) { $0 == " " || $0 == "\n" }
    guard let first = parts.first, let number = Int(first), number != 0 else { return (nil, words) }
    return (number, parts.count > 1 ? String(parts[1]) : "")
  }

  private static func help(_ commands: [Command]) -> [String] {
    commands.map { "  /\($0.rawValue) \($0.help.operands)".padded(to: 23) + $0.help.meaning }
  }

  /// The lines of /help without a window: the commands that need no window.
  static let plainHelp = help(Command.allCases.filter { ![.go, .list].contains($0) })

  /// The lines of /help in a window: all commands and keys.
  static let help: [String] =
    help(Command.allCases) + [
      "  /edit [N]".padded(to: 23) + "edit message N, or your last, in the line",
      "", "  Enter".padded(to: 23) + "send; Alt-Enter begins a new line",
      "  Up".padded(to: 23) + "on an empty line: edit your last message",
      "  PageUp, PageDown".padded(to: 23) + "scroll; Esc goes to the end",
      "  Tab".padded(to: 23) + "complete a command, a number, a name or a file",
      "  Ctrl-C".padded(to: 23) + "leave, and keep the text as a draft",
    ]
}

extension String {
  fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
