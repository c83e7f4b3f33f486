internal import DMMedia
public import DMModel
internal import DMStore
internal import DMSystem

/// An attachment whose content was saved as a file.
public struct SavedAttachment: Equatable, Sendable {
  /// The attachment.
  public let attachment: Attachment
  /// The path of the new file.
  public let path: String
}

/// The part of an attachment whose content is read or saved.
public enum AttachmentPart: Sendable {
  /// The attachment itself.
  case content
  /// The small image that shows the attachment.
  case thumbnail
}

extension Attachment {
  /// The hash of the content of a part.
  ///
  /// - Throws: `unknown_attachment` if the part is a thumbnail and the attachment has none.
  func hash(of part: AttachmentPart) throws -> ContentHash {
    if part == .content { return sha256 }
    if let thumbnail { return thumbnail.sha256 }
    throw DMError(
      .unknownAttachment, "the attachment '\(id)' has no thumbnail", subject: id.description, remedy: .saveContent)
  }

  /// A name that is safe for a file, even if the stored name is not.
  func fileName(of part: AttachmentPart) -> String {
    let name = Self.safeName(name)
    guard part == .thumbnail, let thumbnail else { return name }
    let ending = MediaFormat(rawValue: thumbnail.mimeType)?.fileExtensions.first ?? "bin"
    return Self.name(name, withExtension: "thumbnail.\(ending)")
  }
}

extension Messenger {
  /// The path of the file in the store that has the content of an attachment.
  ///
  /// A caller may only read this file.
  package func path(of attachment: Attachment) -> String { location.contents.path(of: attachment.sha256) }

  /// Calls `body` with each chunk of a content.
  ///
  /// Before the first call, compares the whole content with its hash.
  ///
  /// Linear in the size of the content.
  ///
  /// - Throws: `store_damaged` before the first chunk; `unknown_attachment` if the part is a thumbnail and the
  ///   attachment has none.
  public func read(
    _ part: AttachmentPart, of attachment: Attachment, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let hash = try attachment.hash(of: part)
    try location.contents.chunks(of: hash) { _ in }
    try location.contents.chunks(of: hash, body)
  }

  /// Saves a content as a new file, after comparing the content with its hash.
  ///
  /// Only the owner of the new file can read it, and the file is not executable. The file is either complete or absent.
  /// If the path is a symbolic link, the link is not followed.
  ///
  /// - Parameters:
  ///   - part: the content to save.
  ///   - attachment: the attachment.
  ///   - path: the path of the new file, or of a folder. In a folder, the file gets the name of the attachment.
  ///   - replacesAny: whether to replace an existing file at this path.
  /// - Throws: `cannot_create` if there is a file that may not be replaced, or if the path is inside a store;
  ///   `store_damaged`; `unknown_attachment` if the part is a thumbnail and the attachment has none.
  public func save(
    _ part: AttachmentPart, of attachment: Attachment, to path: String, replacesAny: Bool = false
  ) throws -> SavedAttachment {
    try save(
      part, of: attachment, as: isFolder(path) ? "\(path)/\(attachment.fileName(of: part))" : path, replacesAny)
  }

  /// Saves several attachments, and calls `body` for each.
  ///
  /// If attachments have the same name, their files get numbers.
  ///
  /// - Parameters:
  ///   - part: the part of each attachment to save.
  ///   - attachments: the attachments, such as those of one message.
  ///   - path: the path of a folder. For one attachment, the path may also be that of the new file.
  ///   - replacesAny: whether to replace existing files at these paths.
  ///   - body: called each time a file is complete.
  /// - Throws: the errors of saving one attachment; `cannot_create` if there are several attachments and the path is
  ///   not a folder.
  package func save(
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
        "there is no folder '\(path)' for \(attachments.count) attachments; make it",
        subject: path, remedy: .nameFolder)
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

  private func isFolder(_ path: String) -> Bool { FileStatus(path)?.kind == .folder }

  private func save(
    _ part: AttachmentPart, of attachment: Attachment, as target: String, _ replacesAny: Bool
  ) throws -> SavedAttachment {
    try StoreLocation.refuse(insideStore: target)
    let temporary = try temporaryName(in: folder(of: target), ".dm-attach-")
    defer { removeFile(temporary) }
    try write(part, of: attachment, to: temporary)
    try replacesAny ? moveFile(temporary, to: target) : link(temporary, as: target)
    try syncToDisk(folder(of: target))
    return SavedAttachment(attachment: attachment, path: target)
  }

  private func write(_ part: AttachmentPart, of attachment: Attachment, to path: String) throws {
    let file = try OpenFile(path, for: .writing) { fileError(.cannotCreate, "create", path, $0) }
    try location.contents.chunks(of: attachment.hash(of: part)) { try file.write($0) }
    try file.sync()
  }

  private func link(_ file: String, as target: String) throws {
    do throws(SystemFailure) {
      try linkFile(file, as: target)
    } catch {
      if error == .exists || fileExists(target) {
        throw DMError(
          .cannotCreate, "'\(target)' is there already", subject: target, remedy: .nameFileOrReplace)
      }
      guard error.hasNoLinks else { throw fileError(.cannotCreate, "create", target, error) }
      try moveFile(file, to: target)
    }
  }
}
