internal import DMJSON
package import DMModel
internal import DMStore
internal import DMSystem

/// A copy that was made of a conversation after its hub was restored from an older backup.
package struct Copy: Equatable, Sendable {
  package let path: String
  package let createdAt: Timestamp
  package let sizeBytes: Int
  /// The number of messages with a text that are in the copy, but not in the store.
  package let missingCount: Int
  /// The senders of these messages, by handle; they may have left the hub, or may not have connected since the restore.
  package let senders: [String]
}

extension Upkeep {
  /// Microseconds after which a purge removes a copy.
  private static let copyLifetime: Int64 = 30 * 86_400_000_000

  private func files(in folder: String) throws -> [(path: String, status: FileStatus)] {
    try names(in: folder, mayBeAbsent: true).sorted().compactMap { name in
      let path = "\(folder)/\(name)"
      return FileStatus(itself: path).flatMap { $0.kind == .regular ? (path, $0) : nil }
    }
  }

  /// All copies, in the order of their names.
  ///
  /// - Throws: an error that names the copy and the line, if a line of a copy cannot be read.
  func copies(_ store: Store) throws -> [Copy] {
    try files(in: location.forks).map { path, status in
      var (missing, senders) = (0, Set<String>())
      let file = try OpenFile(path, for: .readingItself) { fileError(.inputOutput, "read", path, $0) }
      var lines = DumpLines(descriptor: file.descriptor, progress)
      do {
        while let line = try lines.next() {
          guard case .string(let id)? = line["id"], line["text"] != nil, let id = Identifier(id),
            try store.messages.address(of: id) == nil
          else { continue }
          missing += 1
          if case .string(let sender)? = line["sender"] { senders.insert(sender) }
        }
      } catch let error as DMError {
        throw DMError(error.code, "'\(path)', \(error.message)", subject: path)
      }
      return Copy(
        path: path, createdAt: status.modified, sizeBytes: status.size, missingCount: missing, senders: senders.sorted()
      )
    }
  }

  /// Removes the copies of conversations, and those of the database from before an upgrade, that are older than 30 days.
  func removeOldCopies() throws -> (count: Int, bytes: Int) {
    var (count, bytes) = (0, 0)
    for (path, status) in try files(in: location.forks) + files(in: location.upgrades)
    where status.modified.microseconds < Timestamp.now.microseconds - Self.copyLifetime {
      if removeFile(path) { (count, bytes) = (count + 1, bytes + status.size) }
    }
    return (count, bytes)
  }

  /// Copies the rows of the store to a new file, without the contents of attachments.
  ///
  /// - Throws: `no_store`, or an error of the store or of the disk.
  package func copyRows(to other: StoreLocation) throws {
    let store = try store()
    try other.createFolders()
    try store.connection.vacuum(into: other.database)
  }
}
