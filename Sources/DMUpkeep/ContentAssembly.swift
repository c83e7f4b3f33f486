internal import DMMedia
internal import DMModel
internal import DMSystem
internal import Glibc

/// Writes content files from chunks that arrive in order, one content after the other.
final class ContentAssembly {
  private let contents: ContentFolder
  private let folder: WorkFolder
  private let takesDamaged: Bool
  private var part: Part?

  /// A content of which some chunks have arrived.
  private struct Part {
    let hash: ContentHash
    let descriptor: Int32
    var sum = SHA256()
  }

  /// - Parameter takesDamaged: whether a content that does not have its hash is left out, instead of an error.
  init(in contents: ContentFolder, takesDamaged: Bool) throws {
    try contents.create()
    self.contents = contents
    folder = try WorkFolder(.attachment, in: contents.path)
    self.takesDamaged = takesDamaged
  }

  deinit { if let part { close(part.descriptor) } }

  private var path: String { folder.path + "/content" }

  /// - Parameter number: the chunk's number within its content, from 0.
  /// - Throws: `store_damaged` if the content before does not have its hash.
  func add(_ hash: ContentHash, _ number: Int, _ bytes: UnsafeRawBufferPointer) throws {
    // A missing chunk changes the hash.
    if part?.hash != hash || number == 0 { try begin(hash) }
    guard let descriptor = part?.descriptor else { return }
    part?.sum.update(bytes)
    try writeAll(bytes, to: descriptor, path)
  }

  /// Adds all chunks of a content of another folder.
  func add(_ hash: ContentHash, from other: ContentFolder) throws {
    var number = 0
    try other.chunks(of: hash) { chunk in
      try add(hash, number, chunk)
      number += 1
    }
  }

  /// Puts the last content in its place, and syncs the folder.
  func end() throws {
    try endPart()
    try syncAllToDisk(contents.path)
  }

  private func begin(_ hash: ContentHash) throws {
    try endPart()
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw fileError(.cannotCreate, "create", path) }
    part = Part(hash: hash, descriptor: descriptor)
  }

  private func endPart() throws {
    guard let ended = part else { return }
    part = nil
    close(ended.descriptor)
    if ended.sum.finish() == ended.hash { return try contents.place(path, as: ended.hash, syncs: false) }
    guard takesDamaged else {
      throw DMError(
        .storeDamaged,
        "the content '\(ended.hash)' is not whole, or not what it was; make the copy anew",
        subject: ended.hash.description, remedy: .leaveOutDamaged)
    }
  }
}
