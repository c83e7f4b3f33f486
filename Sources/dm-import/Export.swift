internal import DMCLI
internal import DMKit
internal import DMSystem

/// An export of another program, which an importer in Python turns into lines of history.
///
/// The importer's lines are the standard input of this process. Files of a ZIP file are unpacked into a folder that is
/// removed with this object.
final class Export {
  /// The importers, which are in the folder of importers under these names.
  static let formats: [(name: String, what: String)] = [
    ("discord", "Discord: JSON of DiscordChatExporter"),
    ("imsg", "Apple's Messages: JSON lines of imsg"),
    ("instagram", "Instagram: message_1.json, the folder or ZIP file of 'Download your information'"),
    ("irc", "IRC: logs of irssi, WeeChat, ZNC, HexChat and others"),
    ("mail", "mail: an mbox file or a Maildir, a group for each thread or list"),
    ("matrix", "Matrix: JSON of Element's 'Export chat'"),
    ("messenger", "Messenger: message_1.json, the folder or ZIP file of 'Download your information'"),
    ("signal", "Signal: JSON lines of signal-cli, or data.json of signal-export"),
    ("slack", "Slack: the folder or ZIP file of a workspace's export"),
    ("telegram", "Telegram: result.json of Telegram Desktop, of a chat or of an account"),
    ("whatsapp", "WhatsApp: the ZIP file or text of 'Export chat'"),
  ]

  static var list: String {
    let width = formats.map(\.name.count).max() ?? 0
    return formats.map { "\($0.name)\(String(repeating: " ", count: width - $0.name.count))  \($0.what)\n" }.joined()
  }

  private let importer: Child
  private let unpacked: TemporaryFolder?

  /// Starts the importer that the command line names; nil if it names none.
  ///
  /// - Throws: `usage` for an unknown name; `unknown_file` if the importers are not installed; `cannot_create`.
  init?(_ call: Invocation) throws {
    guard let name = try call.arguments[DMImport.from] else { return nil }
    guard Self.formats.contains(where: { $0.name == name }) else {
      throw usage("no importer is named '\(name)'; one of: \(Self.formats.map(\.name).joined(separator: ", "))")
    }
    var words = try ["env", "DM_USER=\(call.messenger().identity.handle)", "python3", Self.path(of: name)]
    words += call.arguments.operands
    // The help of the importer is not history.
    if call.arguments.operands.contains("--help") { try Self.run(words) }
    if call.arguments.operands.contains(where: { $0 == "--files" || $0.hasPrefix("--files=") }) {
      unpacked = nil
    } else {
      let folder = try TemporaryFolder("the unpacked files")
      words += ["--files", folder.path]
      unpacked = folder
    }
    if call.arguments[DMImport.dryRun] { words.append("--summary") }
    do {
      importer = try Child(feeding: words)
    } catch {
      throw noStart
    }
  }

  /// Runs the importer in place of this process.
  private static func run(_ words: [String]) throws {
    let ending: Child.Ending
    do { ending = try Child(words).wait() } catch { throw noStart }
    ending.repeated()
  }

  /// Waits until the importer ends.
  ///
  /// If the importer failed, ends this process with the same status.
  ///
  /// - Throws: `unknown_file` if there is no Python.
  func finish(_ output: Output) throws {
    let ending = importer.wait()
    if ending.exitStatus == 127 {
      throw DMError(.unknownFile, "the importers need 'python3', which is not there; install Python 3.10 or newer")
    }
    if ending.isSuccess { return }
    try output.flush()
    ending.repeated()
  }

  /// The importer in the folder of an installation, or of the sources in which the programs were built.
  private static func path(of name: String) throws -> String {
    let own = ownFolder ?? "."
    let folders = ["/../share/dm/import/", "/../examples/import/"].map { own + $0 }
    for folder in folders where FileStatus(folder + name) != nil { return folder + name }
    throw DMError(
      .unknownFile, "the importers are not installed; they belong into '\(folders[0])'", subject: folders[0])
  }
}

private var noStart: DMError { DMError(.unknownFile, "cannot start env(1), which starts the importer") }
