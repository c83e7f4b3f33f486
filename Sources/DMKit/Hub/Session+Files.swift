package import DMStore

// The files that carry the contents of attachments over the hub.

extension Session {
  /// Makes attachments part of a message that waits, and queues the upload of their files.
  ///
  /// - Returns: the attachments as the payload has them.
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

  /// The files of an attachment, which the hub is to have before the message.
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
    try store.hubFiles.insert(file, hash, size: size)
    try store.hubFiles.set(.upload, of: file)
  }

  /// Uploads a file under another id, because another file on the hub has its id; changes all messages that wait for it.
  package func replace(_ file: Identifier, with other: Identifier) throws {
    guard let row = try store.hubFiles.row(file) else { return }
    try store.hubFiles.set(.none, of: file)
    try upload(other, row.hash, row.size)
    try store.hubAttachments.replace(file, with: other)
    for operation in try store.outbox.open() where operation.act == .say {
      var arguments = try HubArguments(json: operation.arguments)
      guard arguments.files.contains(file), let waiting = HubPayload.text(operation.payload) else { continue }
      var payload = waiting
      arguments.files = arguments.files.map { $0 == file ? other : $0 }
      payload.attachments = waiting.attachments.map { attachment in
        var attachment = attachment
        if attachment.file == file { attachment.file = other }
        if attachment.thumbnailFile == file { attachment.thumbnailFile = other }
        return attachment
      }
      try store.outbox.replace(
        arguments: arguments.json, payload: HubPayload.text(payload).bytes, of: operation.key)
    }
  }

  /// Queues the upload of the files of a message again.
  ///
  /// - Parameter evenFailed: whether also files that could not be uploaded.
  /// - Returns: false if there is nothing to upload, or a file could not be uploaded.
  package func uploadAgain(_ operation: Outbox.Row, evenFailed: Bool) throws -> Bool {
    let files = try HubArguments(json: operation.arguments).files
    let rows = try files.compactMap(store.hubFiles.row)
    if files.isEmpty || rows.count < files.count || !evenFailed && rows.contains(where: { $0.fault != nil }) {
      return false
    }
    for file in files { try store.hubFiles.set(.upload, of: file) }
    return true
  }

  /// The payload of a message, with `text` in place of its own text.
  package func payload(of message: Message, text: String?) throws -> HubPayload.Text {
    HubPayload.Text(
      text: text, replyTo: message.replyTo?.id, nonce: message.nonce, forwardedFrom: message.forwardedFrom,
      attachments: try message.attachments.compactMap { try hubAttachment($0) })
  }

  /// An attachment as a payload has it; nil if it was never sent over the hub.
  private func hubAttachment(_ attachment: Attachment) throws -> HubAttachment? {
    guard let stored = try store.attachments.row(attachment.id),
      let files = try store.hubAttachments.files(of: stored.key)
    else { return nil }
    return HubAttachment(attachment, file: files.file, thumbnailFile: files.thumbnailFile)
  }

  /// Adds the attachments of a message that came from the hub, as free ones, and queues the fetching of small contents.
  ///
  /// - Parameter fetches: whether contents up to `fetchedBytes` are fetched at once; larger ones are fetched on request.
  package func receive(_ attachments: [HubAttachment], fetches: Bool, at time: Timestamp) throws -> [Attachments.Row] {
    try attachments.compactMap { received in
      var attachment = received.attachment
      attachment.id = Identifier(at: time)
      let key = try store.attachments.insert(attachment, by: me, at: time)
      let files = HubAttachments.Files(file: received.file, thumbnailFile: received.thumbnailFile)
      try store.hubAttachments.set(files, of: key)
      try expect(received.file, attachment.sha256, attachment.sizeBytes, fetches)
      if let thumbnail = attachment.thumbnail, let file = received.thumbnailFile {
        try expect(file, thumbnail.sha256, thumbnail.sizeBytes, fetches)
      }
      return try store.attachments.row(attachment.id)
    }
  }

  private func expect(_ file: Identifier, _ hash: ContentHash, _ size: Int, _ fetches: Bool) throws {
    try store.hubFiles.insert(file, hash, size: size)
    guard fetches, size <= Self.fetchedBytes, messenger.location.contents.size(of: hash) == nil,
      let known = try store.hubFiles.row(file), known.task == .none, known.hash == hash
    else { return }
    try store.hubFiles.set(.fetch, of: file)
  }

  /// The size in bytes up to which a content is fetched as soon as its message arrives.
  package static let fetchedBytes = 1 << 20
}
