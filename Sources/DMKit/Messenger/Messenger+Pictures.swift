internal import DMMedia
public import DMModel
internal import DMStore

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
    try preparing(source, name: source.name, PreparationOptions(), progress) { preparer, copy, _ in
      try preparer.picture(copy)
    }
  }

  // Each of these functions reads the URL and the picture in one transaction, because another process may replace them.

  /// The picture of a user; without a handle, that of the acting user.
  ///
  /// - Throws: `unknown_user`; `unknown_attachment` if the user has no picture in the store.
  public func picture(of handle: Handle? = nil) throws -> Picture {
    let handle = try user(handle).handle
    let found = try existingStore().map { store in
      try store.read { try store.pictures.named(store.users.user(handle)?.avatarURL) }
    }
    return try picture(found, of: handle.description)
  }

  /// The picture of a group.
  ///
  /// - Throws: `unknown_conversation`, `ambiguous_title`; `unknown_attachment` if the group has no picture in the store.
  public func picture(ofGroup reference: ConversationReference) throws -> Picture {
    try expectStore(with: reference)
    let found = try reading(nil as Pictures.Named?) { session in
      try session.store.pictures.named(session.asSeen(session.find(reference)).avatarURL)
    }
    return try picture(found, of: reference.description)
  }

  private func picture(_ found: Pictures.Named?, of subject: String) throws -> Picture {
    if let picture = found?.picture { return picture }
    let lack = found?.url.map {
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
