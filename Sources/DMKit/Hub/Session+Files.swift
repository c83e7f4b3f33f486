package import DMStore

// The files on the hub that have the contents of attachments.

extension Session {
  /// Adds attachments to a waiting message, and queues the upload of their files.
  ///
  /// - Returns: the attachments in the form that the payload has.
  package func attach(_ attachments: [Attachments.Row], to key: OutboxKey, at time: Timestamp) throws
    -> [HubAttachment]
  {
    try attachments.enumerated().map { index, stored in
      let attachment = try store.hubAttachments.free(stored, by: me, at: time)
      let files = try files(of: stored.attachment, attachment)
      try store.hubAttachments.place(attachment, in: key, at: index + 1)
      return HubAttachment(stored.attachment, file: files.file, thumbnailFile: files.thumbnailFile)
    }
  }

  /// The files of an attachment; queues their upload, because the hub must have them before the message.
  private func files(of attachment: Attachment, _ key: AttachmentKey) throws -> HubAttachments.Files {
    let known = try store.hubAttachments.files(of: key)
    let files =
      known
      ?? HubAttachments.Files(
        file: .random(), thumbnailFile: attachment.thumbnail.map { _ in .random() })
    if known == nil { try store.hubAttachments.set(files, of: key) }
    try upload(files.file, attachment.sha256, attachment.sizeBytes)
    if let thumbnail = attachment.thumbnail, let file = files.thumbnailFile {
      try upload(file, thumbnail.sha256, thumbnail.sizeBytes)
    }
    return files
  }

  private func upload(_ file: Identifier, _ hash: ContentHash, _ size: Int) throws {
    let key = HubFiles.Key(id: file, hash: hash, size: size)
    try store.hubFiles.insert(key)
    try store.hubFiles.set(isUploaded: false, of: key)
  }

  /// Queues the upload of a file under another id, because the hub has a different file with the present id.
  ///
  /// Also changes the id in the queued messages and edits.
  package func replace(_ file: HubFiles.Row, with other: Identifier) throws {
    try store.hubFiles.set(isUploaded: true, of: file.key)
    try upload(other, file.key.hash, file.key.size)
    try store.hubAttachments.replace(file.key.id, with: other)
    for operation in try store.outbox.pending() where [.say, .edit].contains(operation.act) {
      guard var payload = HubPayload.text(operation.payload) else { continue }
      let before = payload
      for index in payload.attachments.indices { payload.attachments[index].replace(file.key.id, with: other) }
      if payload == before { continue }
      var arguments = try HubArguments(json: operation.arguments)
      arguments.files = arguments.files.map { $0 == file.key.id ? other : $0 }
      try store.outbox.replace(
        arguments: arguments.json, payload: HubPayload.text(payload).bytes, of: operation.key)
    }
  }

  /// Queues the upload of the files of a message again.
  ///
  /// - Parameter evenFailed: whether to try again even if an upload failed before.
  /// - Returns: false if there is nothing to upload, or if a file cannot be uploaded.
  package func uploadAgain(_ operation: Outbox.Row, evenFailed: Bool) throws -> Bool {
    let files = try HubArguments(json: operation.arguments).files
    let rows = try files.map(store.hubFiles.rows)
    let isHere = rows.allSatisfy { rows in
      rows.contains {
        messenger.location.contents.size(of: $0.key.hash) == $0.key.size && (evenFailed || $0.fault == nil)
      }
    }
    if files.isEmpty || !isHere { return false }
    for row in rows.joined() { try store.hubFiles.set(isUploaded: false, of: row.key) }
    return true
  }

  /// The payload of a message, with `text` in place of its own text.
  package func payload(of message: Message, _ key: MessageKey, text: String?) throws -> HubPayload.Text {
    HubPayload.Text(
      message, text: text, attachments: try message.attachments.compactMap { try hubAttachment($0) },
      preview: try store.linkPreviews.placed(of: key))
  }

  /// An attachment in the form that a payload has; nil if it was never sent over the hub.
  private func hubAttachment(_ attachment: Attachment) throws -> HubAttachment? {
    guard let stored = try store.attachments.row(attachment.id),
      let files = try store.hubAttachments.files(of: stored.key)
    else { return nil }
    return HubAttachment(attachment, file: files.file, thumbnailFile: files.thumbnailFile)
  }

  /// Adds the attachments of a message from the hub to the store, not yet to the message, and queues the fetching of
  /// small contents.
  ///
  /// - Parameter fetches: whether contents up to `fetchedBytes` are fetched at once; larger ones are fetched on request.
  package func receive(_ attachments: [HubAttachment], fetches: Bool, at time: Timestamp) throws -> [Attachments.Row] {
    try attachments.compactMap { received in
      var attachment = received.attachment
      attachment.id = Identifier(at: time)
      _ = try store.attachments.insert(attachment, by: me, at: time)
      guard let row = try store.attachments.row(attachment.id) else { return nil }
      try setFiles(of: row, to: received)
      if fetches { try fetchSmall(received) }
      return row
    }
  }

  /// Records the files of an attachment.
  package func setFiles(of row: Attachments.Row, to received: HubAttachment) throws {
    let files = HubAttachments.Files(file: received.file, thumbnailFile: received.thumbnailFile)
    try store.hubAttachments.set(files, of: row.key)
    try received.contents.forEach(store.hubFiles.insert)
  }

  private func fetchSmall(_ received: HubAttachment) throws {
    for content in received.contents
    where content.size <= Self.fetchedBytes && messenger.location.contents.size(of: content.hash) == nil {
      // The number is limited, because a member can describe any number of files that do not exist.
      if try store.hubFiles.wantedCount() >= Self.mostWanted { return }
      try store.hubFiles.set(isWanted: true, of: content)
    }
  }

  /// If this number of contents waits to be fetched, no more are queued, except contents that the user requests.
  private static var mostWanted: Int { 1000 }

  /// The size in bytes up to which a content is fetched as soon as its message arrives.
  package static let fetchedBytes = 1 << 20
}
