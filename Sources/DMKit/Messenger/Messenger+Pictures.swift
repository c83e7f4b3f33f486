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
    return try picture(of: user.handle.description) { store in try store.users.user(user.handle)?.avatarURL }
  }

  /// The picture of a group.
  ///
  /// - Throws: `unknown_conversation`, `ambiguous_title`; `unknown_attachment` if the group has no picture in the store.
  public func picture(ofGroup reference: ConversationReference) throws -> Picture {
    let id = try conversation(reference).id
    return try picture(of: reference.description) { store in
      guard let key = try store.conversations.row(id)?.key, let me = try store.users.key(identity.handle) else {
        return nil
      }
      return try store.conversations.seen(key, as: Viewer(store, me))?.avatarURL
    }
  }

  /// Reads the URL and the picture in one transaction, because another process may replace the picture.
  private func picture(of subject: String, _ url: (Store) throws -> String?) throws -> Picture {
    let found = try existingStore().map { store in
      try store.read {
        let url = try url(store)
        return (url, try store.pictures.picture(url))
      }
    }
    if let picture = found?.1 { return picture }
    let lack = found?.0.map {
      ContentHash(url: $0) == nil
        ? "the picture of '\(subject)' is not in the store, but at '\($0)'"
        : "the store lacks the picture of '\(subject)'"
    }
    throw DMError(.unknownAttachment, lack ?? "'\(subject)' has no picture", subject: subject)
  }

  /// - Throws: `bad_field` if the URL names a picture that is not in the store.
  func expectPicture(_ url: String?) throws {
    guard let url, ContentHash(url: url) != nil else { return }
    let isThere = try existingStore().map { store in try store.read { try store.pictures.picture(url) != nil } }
    if isThere != true {
      throw DMError(
        .badField, "'\(url)' names a picture that is not in the store; set a picture from its file",
        subject: "avatar_url")
    }
  }
}
