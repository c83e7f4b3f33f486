package import DMModel

// Reads: attachment, hub_attachment.
// Writes: attachment, hub_attachment.

/// The files on the hub that belong to attachments, and the attachments of messages that wait for the hub.
package struct HubAttachments {
  let store: Store

  /// The ids of the files on the hub with the contents of an attachment.
  package struct Files: Equatable, Sendable {
    package let file: Identifier
    package let thumbnailFile: Identifier?

    package init(file: Identifier, thumbnailFile: Identifier?) {
      self.file = file
      self.thumbnailFile = thumbnailFile
    }
  }

  /// The files of an attachment; nil if the attachment was never sent over the hub.
  package func files(of attachment: AttachmentKey) throws -> Files? {
    var statement = try store.connection.prepare("SELECT file, thumbnail_file FROM hub_attachment WHERE attachment = ?")
    statement.bind(attachment)
    guard try statement.step() else { return nil }
    return Files(file: statement.identifier(0), thumbnailFile: statement.optionalIdentifier(1))
  }

  /// The name of an attachment to which a file belongs; nil if the file belongs to no attachment.
  ///
  /// Linear in the number of attachments with files on the hub.
  package func name(of file: Identifier) throws -> String? {
    var statement = try store.connection.prepare(
      """
      SELECT a.name FROM hub_attachment h JOIN attachment a ON a.id = h.attachment
      WHERE ?1 IN (h.file, h.thumbnail_file) LIMIT 1
      """)
    statement.bind(file)
    return try statement.step() ? statement.text(0) : nil
  }

  /// The attachments of a message that waits, in the order in which they were attached.
  package func waiting(_ key: OutboxKey) throws -> [Attachments.Row] {
    var statement = try store.connection.prepare(
      text: "SELECT \(Attachments.columns) FROM hub_attachment h JOIN attachment a ON a.id = h.attachment "
        + "WHERE h.waiting = ? ORDER BY h.place")
    statement.bind(key)
    var rows: [Attachments.Row] = []
    while try statement.step() { rows.append(try store.attachments.row(statement)) }
    return rows
  }

  /// Sets the files of an attachment, which replace its previous files.
  package func set(_ files: Files, of attachment: AttachmentKey) throws {
    var insert = try store.connection.prepare(
      """
      INSERT INTO hub_attachment (attachment, file, thumbnail_file) VALUES (?1, ?2, ?3)
      ON CONFLICT DO UPDATE SET file = ?2, thumbnail_file = ?3
      """)
    insert.bind(attachment)
    insert.bind(files.file)
    insert.bind(files.thumbnailFile)
    try insert.run()
  }

  /// Sets the files of a copy of an attachment to the files of the original.
  func copy(_ attachment: AttachmentKey, to copy: AttachmentKey) throws {
    if let files = try files(of: attachment) { try set(files, of: copy) }
  }

  /// In messages that wait, replaces a file with another file that has the same content.
  package func replace(_ file: Identifier, with other: Identifier) throws {
    var update = try store.connection.prepare(
      """
      UPDATE hub_attachment SET file = iif(file = ?1, ?2, file),
        thumbnail_file = iif(thumbnail_file = ?1, ?2, thumbnail_file)
      WHERE waiting IS NOT NULL AND ?1 IN (file, thumbnail_file)
      """)
    update.bind(file)
    update.bind(other)
    try update.run()
  }

  // MARK: Waiting messages

  /// An attachment that no message has: the given attachment if no message has it, otherwise a copy with the same
  /// files.
  package func free(_ stored: Attachments.Row, by user: UserKey, at time: Timestamp) throws -> AttachmentKey {
    let isFree = try stored.message == nil && !isWaiting(stored.key)
    return isFree ? stored.key : try store.attachments.copy(stored, by: user, at: time)
  }

  private func isWaiting(_ attachment: AttachmentKey) throws -> Bool {
    var statement = try store.connection.prepare(
      "SELECT 1 FROM hub_attachment WHERE attachment = ? AND waiting IS NOT NULL")
    statement.bind(attachment)
    return try statement.step()
  }

  /// Adds an attachment to a message that waits.
  ///
  /// The files of the attachment must be recorded already.
  package func place(_ attachment: AttachmentKey, in waiting: OutboxKey, at place: Int) throws {
    var update = try store.connection.prepare(
      "UPDATE hub_attachment SET waiting = ?2, place = ?3 WHERE attachment = ?1")
    update.bind(attachment)
    update.bind(waiting)
    update.bind(place)
    try update.run()
  }

  /// Removes the attachments from a message that waited, because the message got a number.
  package func release(_ waiting: OutboxKey) throws {
    var update = try store.connection.prepare(
      "UPDATE hub_attachment SET waiting = NULL, place = NULL WHERE waiting = ?")
    update.bind(waiting)
    try update.run()
  }

  /// Removes the attachments from a message that waited, because the message was cancelled, or because another machine
  /// has sent it.
  ///
  /// An attachment whose content is not in this store is deleted, because it can never be sent: its content was
  /// forwarded, but was not fetched.
  package func discard(_ waiting: OutboxKey) throws {
    var absent: [Int64] = []
    do {
      var statement = try store.connection.prepare(
        """
        SELECT id, sha256 FROM attachment WHERE message IS NULL
        AND id IN (SELECT attachment FROM hub_attachment WHERE waiting = ?)
        """)
      statement.bind(waiting)
      while try statement.step() {
        guard let hash = statement.withBytes(1, { $0.flatMap(ContentHash.init) }) else { continue }
        if store.location.contents.size(of: hash) == nil { absent.append(statement.int64(0)) }
      }
    }
    try release(waiting)
    for sql in ["DELETE FROM hub_attachment WHERE attachment = ?", "DELETE FROM attachment WHERE id = ?"] {
      for key in absent {
        var delete = try store.connection.prepare(text: sql)
        delete.bind(key)
        try delete.run()
      }
    }
  }

  // MARK: Removing

  func remove(of message: MessageKey) throws {
    var delete = try store.connection.prepare(
      "DELETE FROM hub_attachment WHERE attachment IN (SELECT id FROM attachment WHERE message = ?)")
    delete.bind(message)
    try delete.run()
  }

  /// Deletes the records of files of attachments that were added before a time and that no message has, such as the
  /// attachments of cancelled messages.
  package func removeUnsent(before time: Timestamp) throws {
    var delete = try store.connection.prepare(
      """
      DELETE FROM hub_attachment WHERE waiting IS NULL AND attachment IN (
        SELECT id FROM attachment WHERE message IS NULL AND created_at < ?)
      """)
    delete.bind(time)
    try delete.run()
  }
}
