package import DMModel
package import DMSystem

/// The folder with the contents of attachments.
///
/// The name of each file is the hash of its content; the name of its folder is the first two digits of the hash.
///
/// A file gets this name after its content is complete and on the disk, so that no process reads an incomplete file.
/// Equal contents are stored once, as one file.
package struct ContentFolder {
  package let path: String

  /// The size of a chunk in bytes.
  ///
  /// The chunks of a content have the numbers 0, 1, 2 …; only the last chunk may be smaller.
  static let chunkBytes = DMSystem.chunkBytes

  package init(_ path: String) { self.path = path }

  package func path(of hash: ContentHash) -> String { "\(folder(of: path))/\(name(of: hash))" }

  /// The path of a content, relative to the folder of the store.
  package func name(of hash: ContentHash) -> String {
    let name = hash.description
    return "\(fileName(of: path))/\(name.prefix(2))/\(name)"
  }

  /// Creates the folder if it does not exist, and checks that it is writable.
  ///
  /// - Throws: `read_only_store`, `io_error`.
  package func create() throws {
    try makeFolder(path, syncs: true)
    try refuseUnwritable(folder: path)
  }

  /// Renames a file to the hash of its content.
  ///
  /// If a file with this name exists, it has the same content or is damaged, and is replaced.
  ///
  /// - Parameters:
  ///   - file: the path of a file in the same file system, for example in a `WorkFolder`.
  ///   - syncs: whether to sync the file to the disk before the rename, and the folder after it.
  ///   - onTick: called often during the sync; an error that it throws ends the sync.
  package func install(_ file: String, as hash: ContentHash, syncs: Bool = true, onTick: () throws -> Void = {}) throws
  {
    // An external program may have written the file with other permissions.
    try makePrivate(file)
    if syncs { try syncToDisk(file, onTick: onTick) }
    let target = path(of: hash)
    try makeFolder(folder(of: target), syncs: syncs)
    try moveFile(file, to: target)
    if syncs { try syncToDisk(folder(of: target)) }
  }

  /// Creates a folder if it does not exist.
  ///
  /// With `syncs`, syncs the folder's directory entry even if the folder exists, because the process that created the
  /// folder may have been killed before its sync.
  private func makeFolder(_ path: String, syncs: Bool) throws {
    if case .failed(let reason) = createFolder(path) { throw storeError("create", path, reason) }
    if syncs { try syncToDisk(folder(of: path)) }
  }

  /// The size of a content in bytes; nil if the content does not exist.
  package func size(of hash: ContentHash) -> Int? { status(of: hash)?.size }

  /// The time at which a content was written, or at which its last use was recorded; nil if the content does not exist.
  package func lastUse(of hash: ContentHash) -> Timestamp? { status(of: hash)?.modified }

  private func status(of hash: ContentHash) -> FileStatus? {
    FileStatus(itself: path(of: hash)).flatMap { $0.kind == .regular ? $0 : nil }
  }

  /// Calls `body` with each chunk of a content.
  ///
  /// After the last chunk, compares the content with its hash.
  ///
  /// - Throws: `store_damaged` if the content does not exist or has another hash. The caller must then discard the
  ///   chunks.
  package func chunks(of hash: ContentHash, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let path = path(of: hash)
    let file = try OpenFile(path, for: .readingItself) {
      $0 == .notFound ? fault("is not there", path) : fileError(.inputOutput, "read", path, $0)
    }
    guard try hashed(file.descriptor, path, body) == hash else { throw fault("is not what it was", path) }
  }

  /// Whether an error means that a content is missing, damaged or unreadable.
  package func isDamage(_ error: DMError, of hash: ContentHash) -> Bool {
    error.isDamage && error.subject == path(of: hash)
  }

  private func fault(_ what: String, _ path: String) -> DMError {
    DMError(.storeDamaged, "the content '\(path)' \(what); restore a backup", subject: path)
  }

  /// Removes a content, unless it was written at or after a time.
  ///
  /// The caller holds the write lock of the store, so that no process adds a row for the content meanwhile.
  ///
  /// - Returns: the size of the removed content in bytes; nil if the content was not removed.
  package func remove(_ hash: ContentHash, before time: Timestamp) throws -> Int? {
    guard let status = status(of: hash), isOlder(status, than: time) else { return nil }
    // Another process may install an equal content at any time. The file is renamed first, and checked again, so that
    // a newer file is not removed.
    let removed = "\(path)/\(Self.removedPrefix)\(hash)"
    guard try attempt({ try moveFile(path(of: hash), to: removed) }) else { return nil }
    guard let status = FileStatus(itself: removed), isOlder(status, than: time) else {
      try moveFile(removed, to: path(of: hash))
      try syncToDisk(folder(of: path(of: hash)))
      return nil
    }
    return removeFile(removed) ? status.size : nil
  }

  /// The contents that were written before a time.
  package func all(before time: Timestamp) throws -> [ContentHash] {
    try all.filter { hash in status(of: hash).map { isOlder($0, than: time) } == true }
  }

  private func isOlder(_ status: FileStatus, than time: Timestamp) -> Bool {
    status.modified.microseconds / 1_000_000 < time.microseconds / 1_000_000
  }

  /// The hashes of all contents.
  ///
  /// - Throws: `io_error` if a folder cannot be read, because its contents would be missing from the result.
  package var all: [ContentHash] {
    get throws { try folders.flatMap { try names(in: $0).sorted().compactMap { ContentHash($0) } } }
  }

  /// The paths of the subfolders that exist; each has the first two digits of hashes as its name.
  package var folders: [String] {
    get throws {
      try names(in: path, mayBeAbsent: true).filter { $0.utf8.count == 2 }.sorted().map { "\(path)/\($0)" }
    }
  }

  // MARK: Contents that are being fetched

  /// The path of the file with a content that was fetched only in part.
  package func partialPath(of hash: ContentHash) -> String { "\(path)/\(Self.partialPrefix)\(hash)" }

  private static let partialPrefix = ".fetch-"

  /// The prefix of a content's name while `remove` checks it again.
  private static let removedPrefix = ".remove-"

  /// The files that purges have renamed and not removed, because they were killed.
  package var remains: [String] {
    get throws {
      try names(in: path, mayBeAbsent: true).filter { $0.hasPrefix(Self.removedPrefix) }.map { "\(path)/\($0)" }
    }
  }

  /// Removes the files of partly fetched contents that were last written before a time.
  package func removePartials(before time: Timestamp) throws {
    for name in try names(in: path, mayBeAbsent: true) where name.hasPrefix(Self.partialPrefix) {
      let path = "\(path)/\(name)"
      if let status = FileStatus(itself: path), isOlder(status, than: time) { removeFile(path) }
    }
  }

  /// Locks the folder so that no process removes contents, as long as the lock exists.
  ///
  /// A process needs this lock while it reads the contents to which a snapshot of the database refers.
  ///
  /// - Returns: the lock; nil if the folder does not exist.
  /// - Throws: `busy` if another process is still removing contents after 5 seconds.
  package func share() throws(DMError) -> FileLock? {
    try FileLock(
      sharing: path, milliseconds: 5000, busy: DMError(.busy, "contents of attachments are being removed; try again"))
  }
}
