internal import DMMedia
public import DMModel
internal import DMStore
internal import DMSystem

extension Messenger {
  /// Makes a small picture of an image, for `setProfile` or `setPicture`.
  ///
  /// The picture is upright, has no metadata, at most 10,240 bytes, and at most 512 pixels a side. The call may run
  /// external programs, and stores nothing.
  ///
  /// - Parameters:
  ///   - source: the file, descriptor or bytes of the image.
  ///   - progress: called often with the current step. If it throws, the call ends.
  /// - Throws: `unknown_file`, `bad_attachment`, or an error of the disk.
  public func preparePicture(
    _ source: AttachmentSource, progress: @escaping (String) throws -> Void = { _ in }
  ) throws -> Picture {
    // Checks the permission of the user before the long work of the preparation.
    try lookAhead { _ in }
    return try location.keepingFolders {
      try location.contents.create()
      let folder = try WorkFolder(.attachment, in: location.contents.path)
      let copy = "\(folder.path)/source"
      let options = PreparationOptions()
      _ = try source.copy(to: copy, hashes: false, maximum: options.maximumSize, progress)
      return try Preparer(folder: folder.path, options: options, progress: progress, name: source.name).picture(copy)
    }
  }

  /// The picture of a user; without a handle, that of the acting user.
  ///
  /// - Throws: `unknown_user`; `unknown_attachment` if the user has no picture in the store.
  public func picture(of handle: Handle? = nil) throws -> Picture {
    let user = try user(handle)
    return try picture(user.avatarURL, of: user.handle.description)
  }

  /// The picture of a group.
  ///
  /// - Throws: `unknown_conversation`, `ambiguous_title`; `unknown_attachment` if the group has no picture in the store.
  public func picture(ofGroup reference: ConversationReference) throws -> Picture {
    try picture(conversation(reference).avatarURL, of: reference.description)
  }

  private func picture(_ url: String?, of subject: String) throws -> Picture {
    if let picture = try existingStore().flatMap({ store in try store.read { try store.pictures.picture(url) } }) {
      return picture
    }
    throw DMError(
      .unknownAttachment,
      url.map { "the picture of '\(subject)' is not in the store, but at '\($0)'" } ?? "'\(subject)' has no picture",
      subject: subject)
  }
}
