internal import DMMedia
public import DMModel
internal import DMStore
internal import DMSystem

extension Messenger {
  /// A file that was prepared, and so can be sent.
  public struct Prepared: Sendable {
    /// The attachment, whose id is used in `Outgoing`.
    public let attachment: Attachment
    /// Warnings for the user, one clause each.
    ///
    /// A warning says which step was left out, and which program to install for that step.
    package let advice: [String]
  }

  /// Prepares a file to be sent, and stores it as an attachment of the user.
  ///
  /// When the call returns, the attachment is on the disk. If no message has the attachment after a day, a purge
  /// removes it. The call may run external programs, and does not lock the store while they run.
  ///
  /// - Parameters:
  ///   - source: the file, descriptor or bytes to attach.
  ///   - name: the name of the attachment, which is changed if it is unsafe; nil for the name of the source.
  ///   - options: which parts of the file to change, and which files to refuse.
  ///   - progress: called often with the current step. If it throws, the preparation ends, and its files are removed.
  /// - Throws: `unknown_file`, `bad_attachment`, `unknown_user`, `busy`, or an error of the store or the disk.
  public func prepare(
    _ source: AttachmentSource, name: String? = nil, _ options: PreparationOptions = PreparationOptions(),
    progress: @escaping (String) throws -> Void = { _ in }
  ) throws -> Prepared {
    let name = name ?? source.name
    return try reporting(.attached) {
      UsageAct.Extent(count: 1, bytes: $0.attachment.sizeBytes)
    } _: {
      try preparing(source, name: name, options, progress) { preparer, copy, hash in
        try install(copy, hash, name: name, preparer, progress)
      }
    }
  }

  /// Calls `body` with a private copy of a source, in a work folder that is removed afterwards.
  ///
  /// - Parameter body: gets a preparer for the folder, the path of the copy, and the hash of a file that is sent as it is.
  func preparing<T>(
    _ source: AttachmentSource, name: String?, _ options: PreparationOptions,
    _ progress: @escaping (String) throws -> Void, _ body: (Preparer, _ copy: String, _ hash: ContentHash?) throws -> T
  ) throws -> T {
    // Checks the permission of the user before the long work of the preparation.
    try lookAhead { _ in }
    return try location.keepingFolders {
      try location.contents.create()
      let work = try WorkFolder(.attachment, in: location.contents.path)
      let copy = "\(work.path)/source"
      let hash = try source.copy(to: copy, hashes: options.asFile, maximum: options.maximumSize, progress)
      let preparer = Preparer(folder: work.path, options: options, progress: progress, name: name)
      return try body(preparer, copy, hash)
    }
  }

  /// Prepares a private copy, and stores the result as an attachment of the user.
  private func install(
    _ copy: String, _ hash: ContentHash?, name: String?, _ preparer: Preparer, _ progress: (String) throws -> Void
  ) throws -> Prepared {
    let contents = location.contents
    let file = try preparer.prepare(copy)
    let attachment = try Attachment(
      file, name: file.name(name, keeps: preparer.options.asFile),
      sha256: hash ?? contentHash(ofFile: file.path) { try progress("computing its hash") })
    try contents.install(file.path, as: attachment.sha256) { try progress("writing it to the disk") }
    if let file = file.thumbnail, let thumbnail = attachment.thumbnail {
      try contents.install(file.path, as: thumbnail.sha256)
    }
    try writing { session in
      // The row that this transaction inserts protects the contents from purges. An earlier purge may have removed the
      // files.
      for content in attachment.contents where contents.size(of: content.hash) != content.size {
        throw DMError(.busy, "what was prepared was removed meanwhile; try again")
      }
      try session.store.attachments.insert(attachment, by: session.me, at: .now)
    }
    return Prepared(attachment: attachment, advice: file.advice)
  }

  /// The attachment with an id.
  ///
  /// - Throws: `unknown_attachment`, also if the user neither prepared the attachment nor sees a message that has it.
  public func attachment(_ id: Identifier) throws -> Attachment {
    let found = try reading(nil as Attachment?) { try $0.usableAttachment(id).attachment }
    guard let found else { throw unknownAttachment(id) }
    return found
  }

  /// The attachments of a message that the user sees, in the order in which they were attached.
  ///
  /// - Throws: `unknown_message`; `unknown_attachment` if the message has no attachments.
  public func attachments(of reference: MessageReference) throws -> [Attachment] {
    let found = try reading([] as [Attachment]) { try $0.visibleMessage(reference).message.attachments }
    guard !found.isEmpty else {
      throw DMError(
        .unknownAttachment, "the message '\(reference)' carries nothing", subject: reference.description,
        remedy: .listAttachments)
    }
    return found
  }

  /// The attachments in a conversation that the user sees, sorted by kind, then newest first.
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
  /// The attachments of the messages in a conversation that the user sees.
  fileprivate func attachments(in conversation: ConversationKey) throws -> [SentAttachment] {
    try store.messages.seqsWithAttachments(in: conversation).flatMap { seq in
      try store.messages.seen(in: conversation, seq...seq, as: viewer).flatMap { message in
        message.attachments.map { SentAttachment(attachment: $0, message: message) }
      }
    }
  }

  /// The attachment with an id, if the user may send or fetch it.
  ///
  /// - Throws: `unknown_attachment` if the attachment does not exist, or if the user may not use it.
  func usableAttachment(_ id: Identifier) throws -> Attachments.Row {
    guard let stored = try attachmentIfUsable(id) else { throw unknownAttachment(id) }
    return stored
  }

  /// The attachment with an id; nil if it does not exist, or if the user may not use it.
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
