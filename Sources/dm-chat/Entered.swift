internal import DMCLI
internal import DMKit

/// A line that the user has entered: a message, or a command.
enum Entered: Equatable {
  case message(String)
  /// - Parameter rest: the text after the command's name.
  case command(Command, rest: String)

  enum Command: String, CaseIterable {
    case reply, edit, react, delete, forward, pin, unpin, pins, show, open, save, attach, search, digest, go, who, mute
    case list, help, quit

    /// The operands of the command, and its effect, for /help.
    var help: (operands: String, meaning: String) {
      switch self {
      case .reply: ("N TEXT", "answer message N")
      case .edit: ("[N] [TEXT]", "change your message N, or your last one")
      case .react: ("[N] EMOJI", "react to N, or to others' last message; repeat to undo")
      case .delete: ("N [everyone]", "delete N for yourself, or for all")
      case .forward: ("N CONVERSATION", "forward message N to another conversation")
      case .pin: ("N", "pin message N for everybody here")
      case .unpin: ("N", "unpin message N")
      case .pins: ("", "show the pinned messages")
      case .show: ("N", "show message N alone, with its picture")
      case .open: ("N [K]", "open the attachment of N, or the K-th one")
      case .save: ("N [FILE]", "save the attachments of N here, or as FILE")
      case .attach: ("FILE", "send a file")
      case .search: ("WORDS", "search this conversation")
      case .digest: ("[N]", "points of what was unread, or since N")
      case .go: ("N", "go to message N")
      case .who: ("", "show who is here, and who is online")
      case .mute: ("", "mute the conversation, or unmute it")
      case .list: ("", "go to another conversation")
      case .help: ("", "show this help")
      case .quit: ("", "leave; Ctrl-D does the same")
      }
    }

    /// The command with this name; otherwise the commands whose names begin with it.
    static func named(_ name: String) -> [Command] {
      if let command = Command(rawValue: name) { return [command] }
      return name.isEmpty ? [] : allCases.filter { $0.rawValue.hasPrefix(name) }
    }
  }

  /// A slash starts a command; two slashes start a message that begins with one slash.
  ///
  /// The beginning of a command's name is enough if no other name begins like that.
  ///
  /// - Throws: `usage` for an unknown command.
  init(_ line: String) throws {
    guard line.hasPrefix("/"), !line.hasPrefix("//") else {
      self = .message(line.hasPrefix("//") ? String(line.dropFirst()) : line)
      return
    }
    let (name, rest) = Self.parts(line)
    let commands = Command.named(name)
    guard let command = commands.first else {
      let near = nearest(to: name, among: Command.allCases.map(\.rawValue)).map { "did you mean '/\($0)'? " } ?? ""
      throw usage("there is no command '/\(name)'; \(near)/help lists them, and '//\(name)' sends it as a text")
    }
    guard commands.count == 1 else {
      throw usage(
        "'/\(name)' may be " + commands.map { "/\($0.rawValue)" }.joined(separator: " or ") + "; write more of it")
    }
    if command.help.operands.isEmpty, rest.contains(where: { !$0.isWhitespace }) {
      throw usage("'/\(name)' takes nothing after it")
    }
    self = .command(command, rest: rest)
  }

  /// The name of the command of a line that begins with a slash, and the text after the name.
  private static func parts(_ line: String) -> (name: String, rest: String) {
    let parts = line.dropFirst().split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == " " || $0 == "\n" }
    return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
  }

  /// The command that a line begins with, and the text after it; nil if there is none, or if the line is only a name.
  static func begun(_ line: String) -> (command: Command, rest: String)? {
    guard line.hasPrefix("/"), line.contains(where: { $0 == " " || $0 == "\n" }) else { return nil }
    let (name, rest) = parts(line)
    let commands = Command.named(name)
    return commands.count == 1 ? (commands[0], rest) : nil
  }

  /// A number, and the text after it; the number is nil if the words do not begin with one.
  static func number(_ words: String) -> (Int?, rest: String) {
    let parts = words.split(maxSplits: 1, omittingEmptySubsequences: true) { $0 == " " || $0 == "\n" }
    guard let first = parts.first, let number = Int(first), number != 0 else { return (nil, words) }
    return (number, parts.count > 1 ? String(parts[1]) : "")
  }

  /// The commands, as rows of a table.
  static let commands = Command.allCases.map { command in
    (
      left: "/\(command.rawValue)" + (command.help.operands.isEmpty ? "" : " ") + command.help.operands,
      right: command.help.meaning
    )
  }

  /// The keys of a window, as rows of a table.
  static let keys = [
    (left: "Enter", right: "send; Alt-Enter begins a new line"),
    (left: "Up", right: "on an empty line: edit your last message"),
    (left: "PageUp, PageDown", right: "scroll; Esc goes to the end"),
    (left: "Tab", right: "complete a command, a number, a name or a file"),
    (left: "Ctrl-R", right: "search what you have entered"),
    (left: "Alt-A", right: "go to the next conversation with unread messages"),
    (left: "Ctrl-C", right: "leave, and keep the text as a draft"),
  ]

  private static func lines(_ rows: [(left: String, right: String)]) -> [String] {
    rows.map { "  " + $0.left.padded(to: 23) + $0.right }
  }

  /// The lines of /help without a window: the commands that need no window.
  static let plainHelp = lines(commands.filter { row in !["/go ", "/list"].contains { row.left.hasPrefix($0) } })

  /// The lines of /help in a window: all commands and keys.
  static let help = lines(commands) + [""] + lines(keys)
}

extension String {
  fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
