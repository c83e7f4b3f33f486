package import DMModel

// Reads: link_preview.
// Writes: link_preview, message.

/// The previews of the first links of messages.
package struct LinkPreviews {
  let store: Store

  /// A preview, and which attachment of its message is the image, counted from 1; nil if it has no image.
  package struct Placed: Equatable {
    package let preview: LinkPreview
    package let place: Int?

    package init(_ preview: LinkPreview, place: Int? = nil) { (self.preview, self.place) = (preview, place) }

    /// A preview whose image has an id that one of these attachments has.
    package init(_ preview: LinkPreview, among attachments: [Identifier]) {
      self.init(preview, place: preview.attachment.flatMap(attachments.firstIndex).map { $0 + 1 })
    }

    /// The preview with the id of the attachment that is its image.
    package func resolved(_ attachments: [Attachment]) -> LinkPreview {
      let index = place.map { $0 - 1 }
      return preview.with(attachment: index.flatMap { attachments.indices.contains($0) ? attachments[$0].id : nil })
    }
  }

  private enum Column: Int32, QueryColumn { case url, title, description, site, place }

  /// The preview that a message shows; nil if there is none, or if the text does not have its link.
  ///
  /// In a linked store, the text may lack the link while an edit waits for the hub, which may refuse it.
  ///
  /// - Parameters:
  ///   - text: the text of the message.
  ///   - attachments: the attachments of the message.
  func preview(of message: MessageKey, in text: String?, _ attachments: [Attachment]) throws -> LinkPreview? {
    guard let placed = try placed(of: message), text?.contains(text: placed.preview.url) == true else { return nil }
    return placed.resolved(attachments)
  }

  /// The preview of a message, even if its text does not have the link; nil if there is none.
  package func placed(of message: MessageKey) throws -> Placed? {
    var row = try store.connection.prepare(
      "SELECT url, title, description, site, place FROM link_preview WHERE message = ?")
    row.bind(message)
    assert(row.has(Column.self))
    guard try row.step() else { return nil }
    let preview = LinkPreview(
      stored: row.text(Column.url), row.text(Column.title), row.optionalText(Column.description),
      row.optionalText(Column.site))
    return Placed(preview, place: row.optionalInt(Column.place))
  }

  /// Replaces the preview of a message; nil removes it.
  package func set(_ placed: Placed?, of message: MessageKey) throws {
    if try self.placed(of: message) == placed { return }
    try remove(of: message)
    if let placed { try insert(placed, of: message) }
  }

  /// Adds the preview of a message that has none.
  func insert(_ placed: Placed, of message: MessageKey) throws {
    do {
      var insert = try store.connection.prepare(
        "INSERT INTO link_preview (message, url, title, description, site, place) VALUES (?, ?, ?, ?, ?, ?)")
      insert.bind(message)
      insert.bind(placed.preview.url)
      insert.bind(placed.preview.title)
      insert.bind(placed.preview.description)
      insert.bind(placed.preview.site)
      insert.bind(placed.place.map(Int64.init))
      try insert.run()
    }
    try set(count: 1, of: message)
  }

  /// Removes the preview of a message, if it has one.
  ///
  /// - Parameter text: if the link of the preview occurs in this text, the preview is kept; nil to remove it in any case.
  package func remove(of message: MessageKey, unlessIn text: String? = nil) throws {
    if let text, let placed = try placed(of: message), text.contains(text: placed.preview.url) { return }
    do {
      var delete = try store.connection.prepare("DELETE FROM link_preview WHERE message = ?")
      delete.bind(message)
      try delete.run()
    }
    if store.connection.changes > 0 { try set(count: 0, of: message) }
  }

  private func set(count: Int, of message: MessageKey) throws {
    var update = try store.connection.prepare("UPDATE message SET link_preview_count = ? WHERE id = ?")
    update.bind(count)
    update.bind(message)
    try update.run()
  }
}
