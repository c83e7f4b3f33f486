package import DMModel
package import DMSystem

/// The contents of attachments: files named by their hashes, in folders named by the first two digits.
///
/// A content gets its name after it is complete and on the disk, so that no process sees a part of it; equal contents
/// are one file.
package struct ContentFolder {
  package let path: String

  /// The size of a chunk of a content: chunks are numbered 0, 1, 2 …, and only the last one may be smaller.
  static let chunkBytes = DMSystem.chunkBytes

  package init(_ path: String) { self.path = path }

  package func path(of hash: ContentHash) -> String { "\(folder(of: path))/\(name(of: hash))" }

  /// The path of a content, relative to the folder of the store.
  package func name(of hash: ContentHash) -> String {
    let name = hash.description
    return "\(fileName(of: path))/\(name.prefix(2))/\(name)"
  }

  /// Makes the folder if it does not exist, and checks that it is writable.
  ///
  /// - Throws: `read_only_store`, `io_error`.
  package func create() throws {
    try makeFolder(path, syncs: true)
    try refuseUnwritable(folder: path)
  }

  /// Renames a file to its hash; an existing file with that name was equal or damaged, and is replaced.
  ///
  /// - Parameters:
  ///   - file: a file in a `WorkFolder`, and so in the same file system.
  ///   - syncs: whether to sync the file to the disk before the rename, and the folder after it.
  ///   - onTick: called often during the sync; an error that it throws ends the sync.
  package func install(_ file: String, as hash: ContentHash, syncs: Bool = true, onTick: () throws -> Void = {}) throws
  {
    // The external program that wrote the file may have given it other permissions.
    try makePrivate(file)
    if syncs { try syncToDisk(file, onTick: onTick) }
    let target = path(of: hash)
    try makeFolder(folder(of: target), syncs: syncs)
    try moveFile(file, to: target)
    if syncs { try syncToDisk(folder(of: target)) }
  }

  /// Makes a folder if it does not exist.
  ///
  /// Syncs an existing folder's name too, because the process that made it may have been killed before its sync.
  private func makeFolder(_ path: String, syncs: Bool) throws {
    if case .failed(let reason) = createFolder(path) { throw storeError("create", path, reason) }
    if syncs { try syncToDisk(folder(of: path)) }
  }

  /// The size of a content in bytes; nil if it does not exist.
  package func size(of hash: ContentHash) -> Int? { status(of: hash)?.size }

  /// When a content was written, or last used if that is recorded; nil if it does not exist.
  package func lastUse(of hash: ContentHash) -> Timestamp? { status(of: hash)?.modified }

  private func status(of hash: ContentHash) -> FileStatus? {
    FileStatus(itself: path(of: hash)).flatMap { $0.kind == .regular ? $0 : nil }
  }

  /// Calls `body` with each chunk of a content, and checks the hash at the end.
  ///
  /// - Throws: `store_damaged` if the content does not exist or has another hash; then discard the chunks.
  package func chunks(of hash: ContentHash, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let path = path(of: hash)
    let file = try OpenFile(path, for: .readingItself) {
      $0 == .notFound ? fault("is not there", path) : fileError(.inputOutput, "read", path, $0)
    }
    guard try hashed(file.descriptor, path, body) == hash else { throw fault("is not what it was", path) }
  }

  /// Whether an error says that a content is missing, damaged or unreadable.
  package func isDamage(_ error: DMError, of hash: ContentHash) -> Bool {
    error.isDamage && error.subject == path(of: hash)
  }

  private func fault(_ what: String, _ path: String) -> DMError {
    DMError(.storeDamaged, "the content '\(path)' \(what); restore a backup", subject: path)
  }

  /// Removes a content, unless it was written since a time.
  ///
  /// - Returns: its size in bytes; nil if it was not removed.
  package func remove(_ hash: ContentHash, before time: Timestamp) -> Int? {
    // If an equal content was placed meanwhile, its file is newer, and stays.
    guard let status = status(of: hash), isOlder(status, than: time), removeFile(path(of: hash)) else { return nil }
    return status.size
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
  /// - Throws: `io_error` if a folder cannot be read: if it counted as empty, its contents would be lost.
  package var all: [ContentHash] {
    get throws { try folders.flatMap { try names(in: $0).sorted().compactMap { ContentHash($0) } } }
  }

  /// The paths of the existing folders of contents.
  package var folders: [String] {
    get throws {
      try names(in: path, mayBeAbsent: true).filter { $0.utf8.count == 2 }.sorted().map { "\(path)/\($0)" }
    }
  }

  // MARK: Contents that are being fetched

  /// The path of a content that was not fetched to its end.
  package func partialPath(of hash: ContentHash) -> String { "\(path)/\(Self.partialPrefix)\(hash)" }

  private static let partialPrefix = ".fetch-"

  /// Removes partly fetched contents that were last written before a time.
  package func removePartials(before time: Timestamp) throws {
    for name in try names(in: path, mayBeAbsent: true) where name.hasPrefix(Self.partialPrefix) {
      let path = "\(path)/\(name)"
      if let status = FileStatus(itself: path), isOlder(status, than: time) { removeFile(path) }
    }
  }

  /// Prevents the removal of contents while the lock exists, for a process that reads the contents that one snapshot
  /// refers to.
  ///
  /// - Returns: nil if there is no folder of contents.
  /// - Throws: `busy` if another process is still removing contents after 5 seconds.
  package func share() throws(DMError) -> FileLock? {
    try FileLock(
      sharing: path, milliseconds: 5000, busy: DMError(.busy, "contents of attachments are being removed; try again"))
  }
}
