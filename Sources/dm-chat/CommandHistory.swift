internal import DMCLI
internal import DMKit

/// The commands that a user has entered in windows, in a file of the store: `chat-history.USER`.
///
/// The file has no texts of messages, so that a deleted or expired text is nowhere else in the store. `Loader` takes
/// these texts from the messages.
struct CommandHistory {
  private let file: LineHistory

  init(_ messenger: Messenger) {
    file = LineHistory(path: "\(messenger.location.directory)/chat-history.\(messenger.identity.handle)")
  }

  /// The commands, oldest first.
  var commands: [String] { file.lines.filter { $0.hasPrefix("/") } }

  /// Adds a line that was entered, unless it is or has a message.
  ///
  /// - Throws: `io_error`, `cannot_create`.
  func add(_ line: String) throws {
    if case .command(let command, _) = try Entered(line), ![.reply, .edit].contains(command) { try file.add(line) }
  }
}
