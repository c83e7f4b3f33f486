internal import CSystem
public import DMModel
internal import DMSystem
internal import Glibc

/// An attachment whose content was saved as a file.
public struct SavedAttachment: Equatable, Sendable {
  public let attachment: Attachment
  public let path: String
}

/// Which content of an attachment is meant.
public enum AttachmentPart: Sendable {
  case content
  case thumbnail
}

extension Attachment {
  /// - Throws: `unknown_attachment` of a thumbnail that is not there.
  func hash(of part: AttachmentPart) throws -> ContentHash {
    if part == .content { return sha256 }
    if let thumbnail { return thumbnail.sha256 }
    throw DMError(
      .unknownAttachment, "the attachment '\(id)' has no thumbnail; leave out --thumbnail", subject: id.description)
  }

  /// What it is called as a file, whatever a store says.
  func fileName(of part: AttachmentPart) -> String {
    let name = Self.safeName(name)
    guard part == .thumbnail, let thumbnail else { return name }
    let ending = MediaFormat(rawValue: thumbnail.mimeType)?.fileExtensions.first ?? "bin"
    return Self.name(name, withExtension: "thumbnail.\(ending)")
  }
}

extension Messenger {
  /// Hands on a content chunk by chunk, after it was held against its hash as a whole.
  ///
  /// - Throws: `store_damaged`, before anything is handed on.
  public func read(
    _ part: AttachmentPart, of attachment: Attachment, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let hash = try attachment.hash(of: part)
    try location.contents.chunks(of: hash) { _ in }
    try location.contents.chunks(of: hash, body)
  }

  /// Saves a content, held against its hash, as a new file for its owner alone, never executable.
  ///
  /// Whole or not at all. A name that is a symbolic link is never followed.
  ///
  /// - Parameters:
  ///   - path: of the file, or of a folder in which it gets its own name.
  ///   - replacesAny: whether a file of that name is replaced.
  /// - Throws: `cannot_create` when there is one, and inside of any store; `store_damaged`, `unknown_attachment` of a thumbnail that is not there.
  public func save(
    _ part: AttachmentPart, of attachment: Attachment, to path: String, replacesAny: Bool = false
  ) throws -> SavedAttachment {
    try save(
      part, of: attachment, as: isFolder(path) ? "\(path)/\(attachment.fileName(of: part))" : path, replacesAny)
  }

  /// Saves those of one message, and tells of each; of two with the same name the second is called otherwise.
  ///
  /// - Throws: the same, and `cannot_create` when there are several and the path is not a folder.
  public func save(
    _ part: AttachmentPart, of attachments: [Attachment], to path: String, replacesAny: Bool = false,
    _ body: (SavedAttachment) throws -> Void
  ) throws {
    guard attachments.count > 1 else {
      for attachment in attachments { try body(save(part, of: attachment, to: path, replacesAny: replacesAny)) }
      return
    }
    guard isFolder(path) else {
      throw DMError(
        .cannotCreate,
        "there is no folder '\(path)' for \(attachments.count) attachments; make it, or name another with -o",
        subject: path)
    }
    var taken: Set<String> = []
    for attachment in attachments {
      let name = attachment.fileName(of: part)
      var (unused, number) = (name, 1)
      while !taken.insert(unused).inserted {
        number += 1
        unused = Attachment.name(name, numbered: number)
      }
      try body(save(part, of: attachment, as: "\(path)/\(unused)", replacesAny))
    }
  }

  private func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  private func save(
    _ part: AttachmentPart, of attachment: Attachment, as target: String, _ replacesAny: Bool
  ) throws -> SavedAttachment {
    try StoreLocation.refuse(insideStore: target)
    let temporary = try temporaryName(in: folder(of: target), ".dm-attach-")
    defer { unlink(temporary) }
    try write(part, of: attachment, to: temporary)
    try replacesAny ? rename(temporary, over: target) : link(temporary, as: target)
    try syncToDisk(folder(of: target))
    return SavedAttachment(attachment: attachment, path: target)
  }

  private func write(_ part: AttachmentPart, of attachment: Attachment, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw fileError(.cannotCreate, "create", path) }
    defer { close(descriptor) }
    try location.contents.chunks(of: attachment.hash(of: part)) { try writeAll($0, to: descriptor, path) }
    guard fsync(descriptor) == 0 else { throw fileError(.inputOutput, "make durable", path) }
  }

  private func rename(_ file: String, over target: String) throws {
    guard Glibc.rename(file, target) == 0 else { throw fileError(.cannotCreate, "create", target) }
  }

  /// Unlike rename(2), link(2) replaces nothing, also when another process comes at the same moment.
  private func link(_ file: String, as target: String) throws {
    if Glibc.link(file, target) == 0 { return }
    let reason = errno
    var status = stat()
    if reason == EEXIST || lstat(target, &status) == 0 {
      throw DMError(
        .cannotCreate, "'\(target)' is there already; name another with -o, or say --force", subject: target)
    }
    // Some file systems have no links.
    guard reason == EPERM || reason == EOPNOTSUPP else { throw fileError(.cannotCreate, "create", target, reason) }
    try rename(file, over: target)
  }
}
