internal import DMMedia
public import DMModel
internal import DMStore
internal import DMSystem

extension Messenger {
  /// A file that is ready to be sent.
  public struct Prepared: Sendable {
    /// The attachment; `Outgoing` names it by its id.
    public let attachment: Attachment
    /// Warnings for the user, one clause each: what was not done, and what to install.
    package let advice: [String]
  }

  /// Prepares a file to be sent, and stores it for the user, so that a message can have it.
  ///
  /// It is on the disk on return. A purge removes attachments that are older than a day and that no message has. This
  /// runs other programs, and does not lock the store while they run.
  ///
  /// - Parameters:
  ///   - source: the file, descriptor or bytes to attach.
  ///   - name: the name, which is made safe; nil for the name of the source.
  ///   - options: what to change, and what to refuse.
  ///   - progress: called often with the current step; if it throws, the work ends and leaves nothing behind.
  /// - Throws: `unknown_file`, `bad_attachment`, `unknown_user`, `busy`, or an error of the store or the disk.
  public func prepare(
    _ source: AttachmentSource, name: String? = nil, _ options: PreparationOptions = PreparationOptions(),
    progress: @escaping (String) throws -> Void = { _ in }
  ) throws -> Prepared {
    // Checks, before the work is done, that the user may do this.
    try lookAhead { _ in }
    return try location.keepingFolders { try prepareInStore(source, name: name, options, progress) }
  }

  private func prepareInStore(
    _ source: AttachmentSource, name: String?, _ options: PreparationOptions,
    _ progress: @escaping (String) throws -> Void
  ) throws -> Prepared {
    let contents = location.contents
    try contents.create()
    let folder = try WorkFolder(.attachment, in: contents.path)
    let copy = "\(folder.path)/source"
    let copied = try source.copy(
      to: copy, hashes: options.asFile, maximum: options.maximumSize, progress)
    let file =
      options.asFile
      ? try PreparedFile(asIs: copy)
      : try Preparer(folder: folder.path, options: options, progress: progress, name: name ?? source.name).prepare(copy)
    let attachment = try Attachment(
      file, name: file.name(name ?? source.name, keeps: options.asFile),
      sha256: copied ?? contentHash(ofFile: file.path) { try progress("computing its hash") })
    try contents.install(file.path, as: attachment.sha256) { try progress("writing it to the disk") }
    if let file = file.thumbnail, let thumbnail = attachment.thumbnail {
      try contents.install(file.path, as: thumbnail.sha256)
    }
    try writing { session in
      // From here on a purge sees that the contents are in use; an earlier purge may have removed them.
      for content in attachment.contents where contents.size(of: content.hash) != content.size {
        throw DMError(.busy, "what was prepared was removed meanwhile; try again")
      }
      try session.store.attachments.insert(attachment, by: session.me, at: .now)
    }
    return Prepared(attachment: attachment, advice: file.advice)
  }

  /// The attachment with an id, if the user prepared it or sees a message that has it.
  ///
  /// - Throws: `unknown_attachment`.
  public func attachment(_ id: Identifier) throws -> Attachment {
    let found = try reading(nil as Attachment?) { try $0.usableAttachment(id).attachment }
    guard let found else { throw unknownAttachment(id) }
    return found
  }

  /// The attachments of a message that the user sees, in their order; never empty.
  ///
  /// - Throws: `unknown_message`, and `unknown_attachment` if the message has none.
  public func attachments(of reference: MessageReference) throws -> [Attachment] {
    let found = try reading([] as [Attachment]) { try $0.visibleMessage(reference).message.attachments }
    guard !found.isEmpty else {
      throw DMError(
        .unknownAttachment, "the message '\(reference)' carries nothing", subject: reference.description,
        remedy: .listAttachments)
    }
    return found
  }

  /// The attachments of a conversation that the user sees, by kind, and within a kind the newest first.
  ///
  /// Linear in the number of attachments.
  ///
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  package func attachments(in reference: ConversationReference) throws -> [SentAttachment] {
    try expectStore(with: reference)
    return try reading([]) { session in
      let sent = try session.attachments(in: session.find(reference).key)
      return Attachment.Kind.allCases.flatMap { kind in sent.filter { $0.attachment.kind == kind } }
    }
  }
}

extension Session {
  /// The attachments of the messages that the user sees.
  fileprivate func attachments(in conversation: ConversationKey) throws -> [SentAttachment] {
    try store.messages.seqsWithAttachments(in: conversation).flatMap { seq in
      try store.messages.seen(in: conversation, seq...seq, as: viewer).flatMap { message in
        message.attachments.map { SentAttachment(attachment: $0, message: message) }
      }
    }
  }

  /// An attachment, by its id, that the user may send again or fetch.
  ///
  /// - Throws: `unknown_attachment` if it does not exist or the user may not use it.
  func usableAttachment(_ id: Identifier) throws -> Attachments.Row {
    guard let stored = try attachmentIfUsable(id) else { throw unknownAttachment(id) }
    return stored
  }

  /// The attachment with an id; nil if it does not exist or the user may not use it.
  func attachmentIfUsable(_ id: Identifier) throws -> Attachments.Row? {
    guard let stored = try store.attachments.row(id) else { return nil }
    guard let key = stored.message else { return stored.user == me ? stored : nil }
    guard let address = try store.messages.address(of: key),
      try store.members.participates(me, in: address.conversation),
      try store.messages.seen(at: address, as: viewer) != nil
    else { return nil }
    return stored
  }
}

private func unknownAttachment(_ id: Identifier) -> DMError {
  DMError(
    .unknownAttachment, "there is no attachment '\(id)' for you", subject: id.description,
    remedy: .listAttachmentsOfConversation)
}

/// An attachment and the message that has it.
package struct SentAttachment: Equatable, Sendable {
  /// The attachment.
  package let attachment: Attachment
  /// The message.
  package let message: Message
}
