internal import DMCLI
internal import DMKit
internal import DMSystem

extension Conversing {
  /// - Parameter progress: called often with what is being done.
  func attach(_ words: String, progress: @escaping (String) throws -> Void) throws {
    let path = try Self.path(words)
    if path.isEmpty { throw usage("write /attach and the name of a file") }
    try messenger.checkMaySend(to: conversation)
    let attachment = try messenger.prepare(.file(path), progress: progress).attachment.id
    _ = try messenger.send(Outgoing(to: conversation, text: "", attachments: [attachment]))
  }

  /// A path as it was typed, or as a terminal writes a file that was dropped on it: `'/tmp/a b'`.
  private static func path(_ words: String) throws -> String {
    var path = words
    while path.last == " " { path.removeLast() }
    for quote in ["'", "\""] where path.count > 1 && path.hasPrefix(quote) && path.hasSuffix(quote) {
      path = String(path.dropFirst().dropLast())
    }
    guard path.hasPrefix("~/"), let home = try environment("HOME") else { return path }
    return home + path.dropFirst()
  }

  /// The files whose path begins like this; folders end with a slash.
  static func files(_ start: String) throws -> [(text: String, label: String)] {
    let folder = start.lastIndex(of: "/").map { String(start[...$0]) } ?? ""
    let name = start.dropFirst(folder.count)
    let names = try names(in: folder.isEmpty ? "." : path(folder), mayBeAbsent: true)
    return try names.filter { $0.hasPrefix(name) && (!$0.hasPrefix(".") || name.hasPrefix(".")) }.sorted().map {
      entry in
      let slash = try FileStatus(path(folder + entry))?.kind == .folder ? "/" : ""
      return (folder + entry + slash, visible(entry) + slash)
    }
  }
}
