package import DMModel
internal import DMSystem

extension AttachmentSource {
  /// The name of the source; nil if the source has no name.
  package var name: String? {
    switch self {
    case .file(let path): fileName(of: path)
    case .descriptor, .bytes: nil
    }
  }

  /// Copies the source to a new file, because the file that is prepared must not change during the preparation.
  ///
  /// - Parameters:
  ///   - hashes: whether to compute the hash of the content, which takes longer than the copy; ignored for `bytes`.
  ///   - maximum: the maximum size of the source in bytes.
  /// - Returns: the hash; nil if it was not computed.
  /// - Throws: `unknown_file`, `unreadable_file`; `bad_attachment` if the source is not a regular file or is too large;
  ///   `file_changed` if the source changed during the copy.
  package func copy(
    to path: String, hashes: Bool, maximum: Int, _ progress: (String) throws -> Void
  ) throws -> ContentHash? {
    switch self {
    case .bytes(let bytes):
      try OpenFile(path, for: .creating) { fileError(.cannotCreate, "create", path, $0) }.write(bytes)
      return nil
    case .descriptor(let descriptor):
      return try Self.copy(
        descriptor, "standard input", to: path, hashes: hashes, of: nil, maximum: maximum, progress)
    case .file(let source):
      // Opens a FIFO without waiting for a writer. A FIFO is refused below.
      let file = try OpenFile(source, for: .readingAtOnce) {
        let error = fileError($0.isAbsence ? .unknownFile : .unreadableFile, "read", source, $0)
        guard $0.isAbsence, !source.hasPrefix("/"), let folder = wholePath(".") else { return error }
        return error.adding("; this path begins in '\(folder)'")
      }
      let before = try file.status()
      guard before.kind == .regular else {
        throw before.kind == .folder
          ? DMError(
            .badAttachment, "'\(source)' is a folder; pack it with tar, and attach the archive", subject: source)
          : Self.notRegular(source)
      }
      guard before.size <= maximum else { throw Self.refusal(source, maximum) }
      let hash: ContentHash?
      do {
        hash = try Self.copy(
          file.descriptor, source, to: path, hashes: hashes, of: before.size, maximum: maximum, progress)
      } catch let error as DMError where error.code == .inputOutput && error.subject == source {
        // An error of reading concerns only this file. An error of writing the copy keeps its code, because then no
        // file can be prepared.
        throw DMError(.unreadableFile, error.message, subject: source)
      }
      guard try file.status().isUnchanged(since: before), fileSize(path) == before.size else {
        throw DMError(.fileChanged, "'\(source)' changed while it was read; try again", subject: source)
      }
      return hash
    }
  }

  private static func notRegular(_ name: String) -> DMError {
    DMError(.badAttachment, "'\(name)' is not a regular file", subject: name, remedy: .pipeContent)
  }

  private static func refusal(_ name: String, _ maximum: Int) -> DMError {
    DMError(
      .badAttachment, "'\(name)' has more than \(maximum) bytes", subject: name, remedy: .raiseMaximumSize)
  }

  private static func copy(
    _ source: Int32, _ name: String, to path: String, hashes: Bool, of total: Int?, maximum: Int,
    _ progress: (String) throws -> Void
  ) throws -> ContentHash? {
    let target = try OpenFile(path, for: .creating) { fileError(.cannotCreate, "create", path, $0) }
    var done = 0
    func report() throws { try progress("\(done >> 20)\(total.map { " of \($0 >> 20)" } ?? "") MiB of '\(name)' read") }
    func write(_ chunk: UnsafeRawBufferPointer) throws {
      guard chunk.count <= maximum - done else { throw refusal(name, maximum) }
      // A file in /proc has the size 0 although it has content, and the content may have no end.
      if let total, chunk.count > total - done {
        throw total == 0
          ? notRegular(name)
          : DMError(.fileChanged, "'\(name)' changed while it was read; try again", subject: name)
      }
      try target.write(chunk)
      done += chunk.count
      try report()
    }
    // A regular file can be read without waiting (POSIX, poll). /proc/kmsg appears to be a regular file, but waits for
    // new kernel messages.
    func wait() throws { if total == nil { try report() } else { throw notRegular(name) } }
    if hashes { return try hashed(source, name, onTick: wait, write) }
    try chunks(source, name, onTick: wait, write)
    return nil
  }
}
