package import DMModel
package import DMSystem
internal import Glibc

/// The contents of attachments: files that bear their hashes as names, in folders that bear the first two digits.
///
/// A content takes its name when it is whole and on the disk, so none is ever seen half; equal ones are one.
package struct ContentFolder {
  package let path: String

  /// What a content is moved in: the chunks of one are numbered 0, 1, 2 …, and all but the last have this size.
  static let chunkBytes = 256 * 1024

  package init(_ path: String) { self.path = path }

  package func path(of hash: ContentHash) -> String { "\(folder(of: path))/\(name(of: hash))" }

  /// Its path in the folder of the store.
  package func name(of hash: ContentHash) -> String {
    let name = hash.description
    return "\(fileName(of: path))/\(name.prefix(2))/\(name)"
  }

  /// Makes the folder where it is missing.
  ///
  /// - Throws: `read_only_store`, `io_error`.
  package func create() throws {
    try makeFolder(path, syncs: true)
    guard access(path, W_OK | X_OK) == 0 else { throw storeFault("write to", path) }
  }

  /// Gives a file of a content its name; what bore it before was the same, or damaged.
  ///
  /// - Parameters:
  ///   - file: in a `WorkFolder`, so of the same file system.
  ///   - syncs: whether it is on the disk before it has its name, and that, too, on return.
  ///   - waiting: called often while it is written to the disk; what it throws ends that.
  package func place(_ file: String, as hash: ContentHash, syncs: Bool = true, waiting: () throws -> Void = {}) throws {
    // A tool that wrote it knows nothing of privacy.
    guard chmod(file, 0o600) == 0 else { throw fileFault(.cannotCreate, "protect", file) }
    if syncs { try syncToDisk(file, waiting: waiting) }
    let target = path(of: hash)
    try makeFolder(folder(of: target), syncs: syncs)
    guard rename(file, target) == 0 else { throw fileFault(.cannotCreate, "create", target) }
    if syncs { try syncToDisk(folder(of: target)) }
  }

  /// A folder that is there already may have been made by a process that was killed before its name was on the disk.
  private func makeFolder(_ path: String, syncs: Bool) throws {
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw storeFault("create", path) }
    if syncs { try syncToDisk(folder(of: path)) }
  }

  /// The size of a content; nil when it is not there.
  package func size(of hash: ContentHash) -> Int? { status(of: hash).map { Int($0.st_size) } }

  private func status(of hash: ContentHash) -> stat? {
    var status = stat()
    return lstat(path(of: hash), &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? status : nil
  }

  /// Hands on a content chunk by chunk, and holds it against its hash at the end.
  ///
  /// - Throws: `store_damaged` when it is not there, or not what it was; then what was handed on is worth nothing.
  package func chunks(of hash: ContentHash, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let path = path(of: hash)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { throw fault("is not there", path) }
      throw fileFault(.inputOutput, "read", path)
    }
    defer { close(descriptor) }
    guard try hashed(descriptor, path, body) == hash else { throw fault("is not what it was", path) }
  }

  /// Whether an error says that a content cannot be had as it was.
  package func isDamage(_ error: DMError, of hash: ContentHash) -> Bool {
    error.isDamage && error.subject == path(of: hash)
  }

  private func fault(_ what: String, _ path: String) -> DMError {
    DMError(.storeDamaged, "the content '\(path)' \(what); restore a backup", subject: path)
  }

  /// Removes a content, unless it was put there since a moment.
  ///
  /// - Returns: how many bytes it had; nil when it stays.
  package func remove(_ hash: ContentHash, before time: Timestamp) -> Int? {
    // An equal one that was put there meanwhile is another file, and fresh.
    guard let status = status(of: hash), isOlder(status, than: time), unlink(path(of: hash)) == 0 else { return nil }
    return Int(status.st_size)
  }

  /// The contents that have been there since before a moment.
  package func all(before time: Timestamp) throws -> [ContentHash] {
    try all.filter { hash in status(of: hash).map { isOlder($0, than: time) } == true }
  }

  private func isOlder(_ status: stat, than time: Timestamp) -> Bool {
    Int64(status.st_mtim.tv_sec) < time.microseconds / 1_000_000
  }

  /// Every content that is there.
  ///
  /// - Throws: `io_error` when a folder cannot be read: one that counted as empty would lose what is in it.
  package var all: [ContentHash] {
    get throws { try folders.flatMap { try names(in: $0).sorted().compactMap { ContentHash($0) } } }
  }

  /// The folders of contents that are there.
  package var folders: [String] {
    get throws {
      try names(in: path, mayBeAbsent: true).filter { $0.utf8.count == 2 }.sorted().map { "\(path)/\($0)" }
    }
  }

  /// Keeps others from removing contents, of which somebody reads what the rows of a moment name, as long as it lives.
  ///
  /// - Returns: nil when there are none at all.
  /// - Throws: `busy` when somebody removes some for 5 seconds.
  package func share() throws(DMError) -> FileLock? {
    try FileLock(sharing: path, milliseconds: 5000, busy: "contents of attachments are being removed; try again")
  }
}

/// Reads a descriptor to its end by chunks, and hands each on; what is empty is one empty chunk.
///
/// - Parameter waiting: called about five times a second while nothing comes; what it throws ends that.
package func chunks(
  _ descriptor: Int32, _ name: String, waiting: () throws -> Void = {}, _ body: (UnsafeRawBufferPointer) throws -> Void
) throws {
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ContentFolder.chunkBytes, alignment: 64)
  defer { buffer.deallocate() }
  var (isFirst, isAtEnd) = (true, false)
  while !isAtEnd {
    var filled = 0
    while filled < buffer.count, !isAtEnd {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      while !isReadable(descriptor) { try waiting() }
      let count = try readSome(descriptor, into: rest, name)
      filled += count
      isAtEnd = count == 0
    }
    if filled > 0 || isFirst { try body(UnsafeRawBufferPointer(rebasing: buffer[..<filled])) }
    isFirst = false
  }
}

/// Whether something or the end has come, of which it waits for a fifth of a second.
private func isReadable(_ descriptor: Int32) -> Bool {
  var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  // What cannot be waited for, reading says.
  return poll(&request, 1, 200) != 0
}

/// The same, with the hash of all that was handed on.
func hashed(
  _ descriptor: Int32, _ name: String, waiting: () throws -> Void = {}, _ body: (UnsafeRawBufferPointer) throws -> Void
) throws -> ContentHash {
  var hash = SHA256()
  try chunks(descriptor, name, waiting: waiting) { chunk in
    hash.update(chunk)
    try body(chunk)
  }
  return hash.finish()
}

/// The hash of a file.
///
/// - Parameter waiting: called for each chunk; what it throws ends that.
package func contentHash(ofFile path: String, waiting: () throws -> Void = {}) throws -> ContentHash {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
  guard descriptor >= 0 else { throw fileFault(.inputOutput, "read", path) }
  defer { close(descriptor) }
  return try hashed(descriptor, path) { _ in try waiting() }
}
