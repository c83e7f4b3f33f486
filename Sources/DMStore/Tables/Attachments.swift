package import DMModel
internal import DMSystem

// Reads: attachment.
// Writes: attachment.

/// The attachments of messages, and prepared attachments that no message has yet.
package struct Attachments {
  let store: Store

  /// An attachment as it is stored.
  ///
  /// This type does not check who may see the attachment.
  package struct Row {
    package let key: AttachmentKey
    /// The user who prepared the attachment.
    package let user: UserKey
    /// The message that has the attachment; nil until the attachment is sent.
    package let message: MessageKey?
    package let attachment: Attachment
  }

  /// The columns that a query must select so that `row(_:)` can read its rows.
  private enum Column: Int32, QueryColumn {
    case key, user, message, id, kind, name, mimeType, sizeBytes, sha256, width, height, duration, waveform
    case thumbnailSHA256, thumbnailMIMEType, thumbnailSizeBytes, thumbnailWidth, thumbnailHeight
  }

  static let columns = """
    a.id AS key, a.user, a.message, a.uuid AS id, a.kind, a.name, a.mime_type, a.size_bytes, a.sha256, a.width, a.height, a.duration,
    a.waveform, a.thumbnail_sha256, a.thumbnail_mime_type, a.thumbnail_size_bytes, a.thumbnail_width, a.thumbnail_height
    """

  /// Reads an attachment from a row of a query.
  ///
  /// - Throws: `store_damaged` for a row that no program of dm has written.
  package func row(_ row: borrowing Statement) throws -> Row {
    assert(row.has(Column.self))
    let id = row.identifier(Column.id)
    guard let kind = Attachment.Kind(number: row.int64(Column.kind)),
      let hash = row.withBytes(Column.sha256, { $0.flatMap(ContentHash.init) })
    else { throw DMError(.storeDamaged, "the attachment '\(id)' cannot be read", remedy: .checkDeeply) }
    var attachment = Attachment(
      id: id, kind: kind, name: row.text(Column.name), mimeType: row.text(Column.mimeType),
      sizeBytes: row.int(Column.sizeBytes), sha256: hash)
    attachment.width = row.optionalInt(Column.width)
    attachment.height = row.optionalInt(Column.height)
    attachment.duration = row.optionalInt64(Column.duration).map { .microseconds($0) }
    attachment.waveform = row.withBytes(Column.waveform) { $0.map { Array($0) } }
    attachment.thumbnail = row.withBytes(Column.thumbnailSHA256) { $0.flatMap(ContentHash.init) }.map {
      Attachment.Thumbnail(
        sha256: $0, mimeType: row.text(Column.thumbnailMIMEType), sizeBytes: row.int(Column.thumbnailSizeBytes),
        width: row.int(Column.thumbnailWidth), height: row.int(Column.thumbnailHeight))
    }
    return Row(
      key: AttachmentKey(number: row.int64(Column.key)), user: row.userKey(Column.user),
      message: row.optionalMessageKey(Column.message),
      attachment: attachment)
  }

  /// The rows of the attachments of a message, in the order in which they were attached.
  package func rows(of message: MessageKey) throws -> [Row] {
    var statement = try store.connection.prepare(
      as: "attachments", "SELECT \(Self.columns) FROM attachment a WHERE a.message = ? ORDER BY a.place")
    statement.bind(message)
    var rows: [Row] = []
    while try statement.step() { rows.append(try row(statement)) }
    return rows
  }

  package func row(_ id: Identifier) throws -> Row? {
    var statement = try store.connection.prepare(
      as: "attachment", "SELECT \(Self.columns) FROM attachment a WHERE a.uuid = ?")
    statement.bind(id)
    return try statement.step() ? try row(statement) : nil
  }

  /// The attachments of a message, in the order in which they were attached.
  package func all(of message: MessageKey) throws -> [Attachment] { try rows(of: message).map(\.attachment) }

  // MARK: Writing

  /// Adds a prepared attachment, which no message has yet.
  @discardableResult
  package func insert(_ attachment: Attachment, by user: UserKey, at time: Timestamp) throws -> AttachmentKey {
    do {
      var insert = try store.connection.prepare(
        """
        INSERT INTO attachment (uuid, user, created_at, kind, name, mime_type, size_bytes, sha256, width, height, duration,
          waveform, thumbnail_sha256, thumbnail_mime_type, thumbnail_size_bytes, thumbnail_width, thumbnail_height)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
      insert.bind(attachment.id)
      insert.bind(user)
      insert.bind(time)
      insert.bind(attachment.kind.number)
      insert.bind(attachment.name)
      insert.bind(attachment.mimeType)
      insert.bind(attachment.sizeBytes)
      insert.bind(blob: attachment.sha256.bytes)
      insert.bind(attachment.width.map(Int64.init))
      insert.bind(attachment.height.map(Int64.init))
      insert.bind(attachment.duration?.microseconds)
      insert.bind(blob: attachment.waveform)
      let thumbnail = attachment.thumbnail
      insert.bind(blob: thumbnail?.sha256.bytes)
      insert.bind(thumbnail?.mimeType)
      insert.bind(thumbnail.map { Int64($0.sizeBytes) })
      insert.bind(thumbnail.map { Int64($0.width) })
      insert.bind(thumbnail.map { Int64($0.height) })
      try insert.run()
    }
    let key = AttachmentKey(number: store.connection.lastInsertedRow)
    try store.writeDigest(of: key, in: .attachment)
    return key
  }

  /// Adds attachments to a message that was just inserted.
  ///
  /// If a message has one of the attachments already, a copy of that attachment is added instead.
  ///
  /// - Returns: the attachments of the message.
  package func attach(_ attachments: [Row], to message: MessageKey, by user: UserKey, at time: Timestamp)
    throws
    -> [Attachment]
  {
    for (index, stored) in attachments.enumerated() {
      // The list may contain the same attachment twice; the second time, a copy is added.
      let isFree = stored.message == nil && !attachments[..<index].contains { $0.key == stored.key }
      let key = isFree ? stored.key : try copy(stored, by: user, at: time)
      var update = try store.connection.prepare("UPDATE attachment SET message = ?, place = ? WHERE id = ?")
      update.bind(message)
      update.bind(index + 1)
      update.bind(key)
      try update.run()
      try store.writeDigest(of: key, in: .attachment)
    }
    return try self.all(of: message)
  }

  func copy(_ stored: Row, by user: UserKey, at time: Timestamp) throws -> AttachmentKey {
    var copy = stored.attachment
    copy.id = Identifier(at: time)
    let key = try insert(copy, by: user, at: time)
    if store.isLinked { try store.hubAttachments.copy(stored.key, to: key) }
    return key
  }

  /// Deletes the attachments of a message.
  ///
  /// A later purge deletes the contents that no other attachment has.
  func remove(of message: MessageKey) throws {
    if store.isLinked { try store.hubAttachments.remove(of: message) }
    var delete = try store.connection.prepare("DELETE FROM attachment WHERE message = ?")
    delete.bind(message)
    try delete.run()
  }

  /// The words that identify an attachment in a finding of `dm-doctor check`: the id of the attachment.
  package func reference(to key: AttachmentKey) throws -> String {
    var statement = try store.connection.prepare("SELECT uuid FROM attachment WHERE id = ?")
    statement.bind(key)
    return try statement.step() ? statement.identifier(0).description : "row \(key)"
  }
}
