internal import Glibc

/// The contents of attachments: files that bear their hashes as names, in folders that bear the first two digits.
///
/// A content takes its name when it is whole and on the disk, so none is ever seen half; equal ones are one.
struct ContentFolder {
  let path: String

  /// What a content is moved in: the chunks of one are numbered 0, 1, 2 …, and all but the last have this size.
  static let chunkBytes = 256 * 1024

  init(_ path: String) { self.path = path }

  func path(of hash: ContentHash) -> String {
    let name = hash.description
    return "\(path)/\(name.prefix(2))/\(name)"
  }

  /// Makes the folder where it is missing.
  func create() throws { try makeFolder(path) }

  /// Gives a file of a content its name; what bore it before was the same, or damaged.
  ///
  /// - Parameter file: in a `WorkFolder`, so of the same file system.
  func place(_ file: String, as hash: ContentHash) throws {
    // A tool that wrote it knows nothing of privacy.
    guard chmod(file, 0o600) == 0 else { throw fileFault(.cannotCreate, "protect", file) }
    try syncToDisk(file)
    let target = path(of: hash)
    try makeFolder(folder(of: target))
    guard rename(file, target) == 0 else { throw fileFault(.cannotCreate, "create", target) }
    try syncToDisk(folder(of: target))
  }

  private func makeFolder(_ path: String) throws {
    if mkdir(path, 0o700) == 0 { return try syncToDisk(folder(of: path)) }
    guard errno == EEXIST else { throw fileFault(.cannotCreate, "create", path) }
  }

  /// The size of a content; nil when it is not there.
  func size(of hash: ContentHash) -> Int? {
    var status = stat()
    return lstat(path(of: hash), &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
  }

  /// Hands on a content chunk by chunk, and holds it against its hash at the end.
  ///
  /// - Throws: `store_damaged` when it is not there, or not what it was; then what was handed on is worth nothing.
  func chunks(of hash: ContentHash, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let path = path(of: hash)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { throw fault("is not there", path) }
      throw fileFault(.inputOutput, "read", path)
    }
    defer { close(descriptor) }
    guard try hashed(descriptor, path, body) == hash else { throw fault("is not what it was", path) }
  }

  private func fault(_ what: String, _ path: String) -> DMError {
    DMError(.storeDamaged, "the content '\(path)' \(what); restore a backup", subject: path)
  }

  /// Removes contents that nothing refers to, once they are old enough that nobody is about to refer to them.
  ///
  /// - Returns: how many, and how many bytes they had.
  func removeAll(
    but kept: Set<ContentHash>, olderThan time: Timestamp, _ progress: (String) throws -> Void
  ) throws -> (count: Int, bytes: Int) {
    var (count, bytes) = (0, 0)
    for (hash, path) in try all() where !kept.contains(hash) {
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mtim.tv_sec < time.microseconds / 1_000_000, unlink(path) == 0
      else { continue }
      (count, bytes) = (count + 1, bytes + Int(status.st_size))
      try progress("\(count) contents removed that nothing refers to")
    }
    return (count, bytes)
  }

  /// Every content that is there, and its path.
  func all() throws -> [(hash: ContentHash, path: String)] {
    names(in: path).filter { $0.utf8.count == 2 }.sorted().flatMap { first in
      names(in: "\(path)/\(first)").sorted().compactMap { name in
        ContentHash(name).map { ($0, "\(path)/\(first)/\(name)") }
      }
    }
  }
}

/// Reads a descriptor to its end by chunks, and hands each on.
func chunks(_ descriptor: Int32, _ name: String, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ContentFolder.chunkBytes, alignment: 64)
  defer { buffer.deallocate() }
  var isAtEnd = false
  while !isAtEnd {
    var filled = 0
    while filled < buffer.count, !isAtEnd {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      let count = try readSome(descriptor, into: rest, name)
      filled += count
      isAtEnd = count == 0
    }
    if filled > 0 { try body(UnsafeRawBufferPointer(rebasing: buffer[..<filled])) }
  }
}

/// The same, with the hash of all that was handed on.
func hashed(
  _ descriptor: Int32, _ name: String, _ body: (UnsafeRawBufferPointer) throws -> Void
) throws -> ContentHash {
  var hash = SHA256()
  try chunks(descriptor, name) { chunk in
    hash.update(chunk)
    try body(chunk)
  }
  return hash.finish()
}

/// The hash of a file.
func hash(ofFile path: String) throws -> ContentHash {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
  guard descriptor >= 0 else { throw fileFault(.inputOutput, "read", path) }
  defer { close(descriptor) }
  return try hashed(descriptor, path) { _ in }
}
