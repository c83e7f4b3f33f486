internal import DMModel
internal import DMStore
internal import DMSystem

/// Writes content files from chunks that arrive in order, one content after the other.
final class ContentAssembly {
  private let contents: ContentFolder
  private let folder: WorkFolder
  private let takesDamaged: Bool
  private var part: Part?

  /// A content of which some chunks have arrived.
  private struct Part: ~Copyable {
    let hash: ContentHash
    let file: OpenFile
    var sum = SHA256()
  }

  /// - Parameter takesDamaged: whether to go on after a content that does not match its hash, and leave this content
  ///   out. If false, such a content is an error.
  init(in contents: ContentFolder, takesDamaged: Bool) throws {
    try contents.create()
    self.contents = contents
    folder = try WorkFolder(.attachment, in: contents.path)
    self.takesDamaged = takesDamaged
  }

  private var path: String { folder.path + "/content" }

  /// - Parameter number: the chunk's number within its content, from 0.
  /// - Throws: `store_damaged` if the previous content does not match its hash, unless `takesDamaged` is true.
  func add(_ hash: ContentHash, _ number: Int, _ bytes: UnsafeRawBufferPointer) throws {
    // Chunk numbers are not checked, because a missing chunk changes the hash.
    if part?.hash != hash || number == 0 { try begin(hash) }
    part?.sum.update(bytes)
    try part?.file.write(bytes)
  }

  /// Adds all chunks of a content of another folder.
  func add(_ hash: ContentHash, from other: ContentFolder) throws {
    var number = 0
    try other.chunks(of: hash) { chunk in
      try add(hash, number, chunk)
      number += 1
    }
  }

  /// Finishes the last content, and syncs the folder.
  func end() throws {
    try endPart()
    try syncAllToDisk(contents.path)
  }

  private func begin(_ hash: ContentHash) throws {
    try endPart()
    let file = try OpenFile(path, for: .creatingOrEmptying) { fileError(.cannotCreate, "create", path, $0) }
    part = Part(hash: hash, file: file)
  }

  private func endPart() throws {
    guard let ended = part.take() else { return }
    let (hash, sum) = (ended.hash, ended.sum.finish())
    _ = consume ended
    if sum == hash { return try contents.install(path, as: hash, syncs: false) }
    guard takesDamaged else {
      throw DMError(
        .storeDamaged,
        "the content '\(hash)' is not whole, or not what it was; make the copy anew",
        subject: hash.description, remedy: .leaveOutDamaged)
    }
  }
}
