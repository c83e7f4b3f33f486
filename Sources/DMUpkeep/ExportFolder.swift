package import DMJSON
internal import DMKit
package import DMModel
internal import DMStore
internal import DMSystem

/// The form of an export.
package enum ExportFormat: String, CaseIterable, Sendable {
  case html, markdown, mbox, json
}

/// What a folder with an export has of one conversation.
///
/// A class, because copies of so many members would be a tenth of the code of exports.
package final class Exported {
  package let conversation: Identifier
  /// The user who sees what is exported; nil if an earlier version has made the list.
  package var user: String?
  /// The name of the conversation for the user.
  package var name = ""
  package var isGroup = false
  package let format: ExportFormat
  /// The path of the first file with messages, relative to the folder of the export.
  package var path: String
  /// The path of the last file, if there are several.
  package var lastPath: String?
  package var messages = 0
  /// The number of attachments, with those that were left out.
  package var attachments = 0
  /// The number of attachments that were left out, because their contents could not be read or written.
  package var missing = 0
  /// The number of files that the last run has made or changed.
  package var written = 0
  package var first: Timestamp?
  package var last: Timestamp?
  /// Whether the last run has chosen only some of the messages.
  package var isPartial = false

  /// The name of the subfolder.
  package var folder: String { String(Substring(path.utf8.prefix { $0 != UInt8(ascii: "/") })) }

  package init(_ conversation: Identifier, _ format: ExportFormat, path: String) {
    (self.conversation, self.format, self.path) = (conversation, format, path)
  }

  /// Reads a line of the list in the folder; nil if it is not such a line.
  fileprivate convenience init?(_ line: JSONObject) {
    guard let id = line.text("conversation_id").flatMap(Identifier.init), let path = line.text("path"),
      let format = line.text("format").flatMap(ExportFormat.init)
    else { return nil }
    self.init(id, format, path: path)
    // The name becomes part of paths to which files are written.
    guard !folder.isEmpty, folder.utf8.first != UInt8(ascii: "."), path.utf8.count > folder.utf8.count else {
      return nil
    }
    user = line.text("user")
    (name, isGroup, lastPath) = (line.text("name") ?? "", line.flag("is_group") ?? false, line.text("last_path"))
    (messages, attachments) = (line.integer("message_count") ?? 0, line.integer("attachments_count") ?? 0)
    (missing, written) = (line.integer("missing_count") ?? 0, line.integer("written_count") ?? 0)
    first = line.text("first_at").flatMap { Timestamp(rfc3339: $0) }
    last = line.text("last_at").flatMap { Timestamp(rfc3339: $0) }
    isPartial = line.flag("is_partial") ?? false
  }
}

extension Exported: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "exported")
      json.member("conversation_id", conversation)
      json.member("user", user)
      json.member("name", name)
      json.member("is_group", isGroup)
      json.member("format", format.rawValue)
      json.member("path", path)
      json.member("last_path", lastPath)
      json.member("message_count", messages)
      json.member("attachments_count", attachments)
      json.member("missing_count", missing)
      json.member("written_count", written)
      json.member("first_at", first)
      json.member("last_at", last)
      json.member("is_partial", isPartial)
    }
  }
}

/// A folder with an export: a subfolder for each conversation, and a list of them.
package final class ExportFolder {
  package let path: String
  package let format: ExportFormat
  private let user: String
  /// The conversations, in the order in which they were first exported.
  package private(set) var entries: [Exported] = []
  /// The index of the entry of each conversation.
  private var indexes: [Identifier: Int] = [:]
  /// The names of the subfolders in lower case, each with the number that the next subfolder of this name gets.
  private var numbers: [ExactString: Int]
  /// Keeps other runs from removing the unfinished files of this one.
  private let lock: FileLock

  /// The name of the list, which shows that a folder is an export.
  private static let list = "export.jsonl"

  /// Makes the folder if it does not exist, and reads its list.
  ///
  /// - Parameter user: the user who sees what is exported.
  /// - Throws: `cannot_create` if there is a file, a folder with other files, an export in another format, or of what
  ///   another user sees, or a store; `busy` if another process writes an export there.
  package init(_ path: String, _ format: ExportFormat, of user: Handle) throws {
    (self.path, self.format, self.user) = (path, format, user.description)
    // The list of the pages gets its name later.
    numbers = [ExactString("index.html"): 2]
    try StoreLocation.refuse(insideStore: path)
    try StoreLocation.refuse(insideStore: path + "/" + Self.list)
    if case .failed(let reason) = createFolder(path) { throw fileError(.cannotCreate, "create", path, reason) }
    guard FileStatus(path)?.kind == .folder else {
      throw DMError(.cannotCreate, "'\(path)' is not a folder; name another", subject: path)
    }
    guard let lock = FileLock(ifFree: wholePath(path) ?? path) else {
      do { _ = try names(in: path) } catch { throw DMError(.cannotCreate, error.message, subject: path) }
      throw DMError(.busy, "another process writes to '\(path)'; try again when it has ended", subject: path)
    }
    self.lock = lock
    let found = try names(in: path)
    if found.contains(Self.list) {
      try read()
    } else if found.contains(where: { !$0.hasPrefix(ExportFile.prefix) }) {
      throw DMError(
        .cannotCreate, "'\(path)' has other files and is not an export; name an empty or a new folder", subject: path)
    }
    removeUnfinished(in: path)
    try save()
  }

  private func read() throws {
    let file = "\(path)/\(Self.list)"
    guard let bytes = readFile(file, limit: max(1, fileSize(file))) else { throw fileError(.inputOutput, "read", file) }
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() where !line.isEmpty {
      guard case .success(let object) = Result(catching: { try JSONReader.object(line) }),
        let entry = Exported(object)
      else {
        throw DMError(
          .cannotCreate, "line \(index + 1) of '\(file)' is damaged; name another folder, or remove '\(path)' first",
          subject: file)
      }
      guard entry.format == format else {
        throw DMError(
          .cannotCreate, "'\(path)' is an export to \(entry.format.rawValue); name another folder", subject: path)
      }
      if let other = entry.user, ExactString(other) != ExactString(user) {
        throw DMError(
          .cannotCreate, "'\(path)' has what '\(other)' sees, and you are '\(user)'; name another folder", subject: path
        )
      }
      append(entry)
    }
  }

  private func append(_ entry: Exported) {
    indexes[entry.conversation] = indexes[entry.conversation] ?? entries.count
    entries.append(entry)
    let folder = ExactString(entry.folder.lowercased())
    numbers[folder] = numbers[folder] ?? 2
  }

  /// Writes the list.
  package func save() throws {
    var json = JSONWriter()
    for entry in entries { json.line(entry) }
    let file = try ExportFile("\(path)/\(Self.list)")
    try file.write(json.bytes)
    _ = try file.finish()
  }

  /// The entry of a conversation; a new one gets a subfolder of its own.
  ///
  /// - Parameter name: a name that is safe in a path.
  package func entry(of conversation: Identifier, named name: String) -> Exported {
    if let index = indexes[conversation] { return entries[index] }
    let folded = ExactString(name.lowercased())
    var unused = name
    var number = numbers[folded] ?? 2
    while numbers[ExactString(unused.lowercased())] != nil || fileExists("\(path)/\(unused)") {
      unused = "\(name)-\(number)"
      number += 1
    }
    numbers[folded] = number
    let entry = Exported(conversation, format, path: unused + "/")
    entry.user = user
    append(entry)
    return entry
  }

  package func set(_ entry: Exported) {
    if let index = indexes[entry.conversation] { entries[index] = entry }
  }

  /// Makes a folder inside of the export if it does not exist, and removes unfinished files in it.
  ///
  /// - Throws: `cannot_create`, also for a symbolic link, which could lead elsewhere.
  package func makeFolder(_ name: String) throws {
    let path = "\(path)/\(name)"
    if case .failed(let reason) = createFolder(path) { throw fileError(.cannotCreate, "create", path, reason) }
    guard FileStatus(itself: path)?.kind == .folder else {
      throw DMError(.cannotCreate, "'\(path)' is not a folder; remove it", subject: path)
    }
    removeUnfinished(in: path)
  }

  /// Removes files in a subfolder, and the subfolder if it is empty then; other files stay.
  ///
  /// - Parameter isStale: whether this export has written a file and no longer needs it, by its name.
  package func remove(in name: String, where isStale: (String) -> Bool) throws {
    let folder = "\(path)/\(name)"
    guard FileStatus(itself: folder)?.kind == .folder else { return }
    for name in try names(in: folder) where isStale(name) { removeFile("\(folder)/\(name)") }
    removeEmptyFolder(folder)
  }

  /// Removes what killed processes have left.
  private func removeUnfinished(in folder: String) {
    guard case .success(let found) = Result(catching: { try names(in: folder) }) else { return }
    for name in found where name.hasPrefix(ExportFile.prefix) || name.hasPrefix(".dm-attach-") {
      removeFile("\(folder)/\(name)")
    }
  }
}
