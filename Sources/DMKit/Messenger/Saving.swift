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

/// A content of an attachment.
public enum AttachmentPart: Sendable {
  /// The attachment itself.
  case content
  /// Its small image.
  case thumbnail
}

extension Attachment {
  /// The hash of a content.
  ///
  /// - Throws: `unknown_attachment` for a thumbnail that does not exist.
  func hash(of part: AttachmentPart) throws -> ContentHash {
    if part == .content { return sha256 }
    if let thumbnail { return thumbnail.sha256 }
    throw DMError(
      .unknownAttachment, "the attachment '\(id)' has no thumbnail", subject: id.description, remedy: .saveContent)
  }

  /// A safe name for a file, whatever the stored name is.
  func fileName(of part: AttachmentPart) -> String {
    let name = Self.safeName(name)
    guard part == .thumbnail, let thumbnail else { return name }
    let ending = MediaFormat(rawValue: thumbnail.mimeType)?.fileExtensions.first ?? "bin"
    return Self.name(name, withExtension: "thumbnail.\(ending)")
  }
}

extension Messenger {
  /// The path of the file in the store with the content of an attachment; only read this file.
  package func path(of attachment: Attachment) -> String { location.contents.path(of: attachment.sha256) }

  /// Passes a content to `body` chunk by chunk, after comparing the whole content with its hash.
  ///
  /// Linear in the size of the content.
  ///
  /// - Throws: `store_damaged` before the first chunk; `unknown_attachment` for a thumbnail that does not exist.
  public func read(
    _ part: AttachmentPart, of attachment: Attachment, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let hash = try attachment.hash(of: part)
    try location.contents.chunks(of: hash) { _ in }
    try location.contents.chunks(of: hash, body)
  }

  /// Saves a content as a new file, after comparing it with its hash.
  ///
  /// Only its owner can read the file, and it is not executable. The file is either complete or absent. A symbolic link
  /// is not followed.
  ///
  /// - Parameters:
  ///   - part: the content to save.
  ///   - attachment: the attachment.
  ///   - path: the path of the file, or of a folder, in which the file gets the name of the attachment.
  ///   - replacesAny: whether to replace a file of that name.
  /// - Throws: `cannot_create` if there is such a file, or if the path is inside a store; `store_damaged`;
  ///   `unknown_attachment` for a thumbnail that does not exist.
  public func save(
    _ part: AttachmentPart, of attachment: Attachment, to path: String, replacesAny: Bool = false
  ) throws -> SavedAttachment {
    try save(
      part, of: attachment, as: isFolder(path) ? "\(path)/\(attachment.fileName(of: part))" : path, replacesAny)
  }

  /// Saves several attachments, and calls `body` for each; names that occur twice are numbered.
  ///
  /// - Parameters:
  ///   - part: the content to save of each.
  ///   - attachments: the attachments, such as those of one message.
  ///   - path: the path of a folder or, for one attachment, of the file.
  ///   - replacesAny: whether to replace files of these names.
  ///   - body: called after each file is complete.
  /// - Throws: like `save` of one attachment, and `cannot_create` for several attachments if the path is not a folder.
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
