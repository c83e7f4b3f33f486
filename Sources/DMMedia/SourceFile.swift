package import DMModel
internal import DMSystem
internal import Glibc

/// The source of an attachment: a file, a descriptor, or bytes.
public enum AttachmentSource: Sendable {
  /// The path of a regular file.
  case file(String)
  /// A descriptor, which is read to its end and not closed.
  case descriptor(Int32)
  /// The content itself.
  case bytes([UInt8])

  /// The name of the source; nil if it has none.
  package var name: String? {
    switch self {
    case .file(let path): fileName(of: path)
    case .descriptor, .bytes: nil
    }
  }

  /// Copies the source to a new file, because a file must not change while it is prepared.
  ///
  /// - Parameters:
  ///   - hashes: whether to compute the hash, which takes longer than the copy.
  ///   - maximum: the maximum size of the source in bytes.
  /// - Throws: `unknown_file`; `bad_attachment` if it is not a regular file or is too large; `busy` if it changed
  ///   meanwhile.
  package func copy(
    to path: String, hashes: Bool, maximum: Int, _ progress: (String) throws -> Void
  ) throws -> ContentHash? {
    switch self {
    case .bytes(let bytes):
      let target = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard target >= 0 else { throw fileError(.cannotCreate, "create", path) }
      defer { close(target) }
      try bytes.withUnsafeBytes { try writeAll($0, to: target, path) }
      return nil
    case .descriptor(let descriptor):
      return try Self.copy(
        descriptor, "standard input", to: path, hashes: hashes, of: nil, maximum: maximum, progress)
    case .file(let source):
      // O_NONBLOCK because open(2) of a FIFO would wait for a writer; a FIFO is refused below.
      let descriptor = open(source, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
      guard descriptor >= 0 else {
        throw fileError(errno == ENOENT || errno == ENOTDIR ? .unknownFile : .inputOutput, "read", source)
      }
      defer { close(descriptor) }
      let before = try Self.status(descriptor, source)
      guard before.st_mode & S_IFMT == S_IFREG else {
        throw before.st_mode & S_IFMT == S_IFDIR
          ? DMError(
            .badAttachment, "'\(source)' is a folder; pack it with tar, and attach the archive", subject: source)
          : DMError(.badAttachment, "'\(source)' is not a regular file", subject: source, remedy: .pipeContent)
      }
      let size = Int(before.st_size)
      guard size <= maximum else { throw Self.refusal(source, maximum) }
      let hash = try Self.copy(
        descriptor, source, to: path, hashes: hashes, of: size, maximum: maximum, progress)
      let after = try Self.status(descriptor, source)
      guard before.st_size == after.st_size, before.st_mtim.tv_sec == after.st_mtim.tv_sec,
        before.st_mtim.tv_nsec == after.st_mtim.tv_nsec, fileSize(path) == Int(before.st_size)
      else { throw DMError(.busy, "'\(source)' changed while it was read; try again", subject: source) }
      return hash
    }
  }

  private static func status(_ descriptor: Int32, _ name: String) throws -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw fileError(.inputOutput, "read", name) }
    return status
  }

  private static func refusal(_ name: String, _ maximum: Int) -> DMError {
    DMError(
      .badAttachment, "'\(name)' has more than \(maximum) bytes", subject: name, remedy: .raiseMaximumSize)
  }

  private static func copy(
    _ source: Int32, _ name: String, to path: String, hashes: Bool, of total: Int?, maximum: Int,
    _ progress: (String) throws -> Void
  ) throws -> ContentHash? {
    let target = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard target >= 0 else { throw fileError(.cannotCreate, "create", path) }
    defer { close(target) }
    var done = 0
    func tell() throws { try progress("\(done >> 20)\(total.map { " of \($0 >> 20)" } ?? "") MiB of '\(name)' read") }
    let write: (UnsafeRawBufferPointer) throws -> Void = { chunk in
      guard chunk.count <= maximum - done else { throw refusal(name, maximum) }
      try writeAll(chunk, to: target, path)
      done += chunk.count
      try tell()
    }
    if hashes { return try hashed(source, name, onTick: tell, write) }
    try chunks(source, name, onTick: tell, write)
    return nil
  }
}
