internal import DMModel
internal import DMStore

/// The hash of a content that rows of `attachment` refer to, and the size in bytes that they state.
struct NamedContent {
  let hash: ContentHash
  let size: Int
  /// Whether the hub has the content, so that it can be fetched from there.
  let isOnHub: Bool

  /// Whether the content is missing in `folder` but can be fetched from the hub.
  func isElsewhere(than folder: ContentFolder) -> Bool { isOnHub && folder.size(of: hash) == nil }
}

/// Checks the attachments of messages against the messages, and the content files against the rows that refer to them.
enum AttachmentAudit {
  /// Checks that tombstones and announcements have no attachments, and that positions are 1, 2, 3 ….
  static func checkPositions(_ store: Store, _ findings: Findings) throws {
    var rows = try store.connection.prepare(
      """
      SELECT a.message, deleted_at IS NOT NULL OR system_kind IS NOT NULL FROM attachment a JOIN message m ON m.id = a.message
      GROUP BY a.message HAVING min(place) <> 1 OR max(place) <> count(*) OR deleted_at IS NOT NULL
        OR system_kind IS NOT NULL
      """)
    while try rows.step() {
      findings.add(
        .counts, try store.messages.reference(to: rows.messageKey(0)),
        rows.bool(1) ? "it carries attachments, and cannot" : "the places of its attachments have holes")
    }
  }

  /// Checks that each content has a file, and that the file has the stated size.
  ///
  /// A content that the hub has needs no file, and its size is not checked.
  ///
  /// - Parameter readsAll: whether each file is also read and compared with its hash.
  static func check(
    _ contents: [NamedContent], in folder: ContentFolder, readsAll: Bool, _ progress: (String) throws -> Void,
    _ findings: Findings
  ) throws {
    var (count, bytes) = (0, 0)
    for content in contents where !content.isElsewhere(than: folder) {
      func fault(_ what: String) {
        findings.add(.attachments, folder.name(of: content.hash), "the content \(what); restore a backup")
      }
      switch folder.size(of: content.hash) {
      case nil: fault("is not there")
      case let size? where size != content.size && !content.isOnHub:
        fault("has \(size) bytes, and a row says \(content.size)")
      case _ where readsAll:
        do {
          try folder.chunks(of: content.hash) { chunk in
            bytes += chunk.count
            try progress("\(count) of \(contents.count) contents read, \(bytes >> 20) MiB")
          }
        } catch let error as DMError {
          guard error.isDamage else { throw error }
          fault(error.code == .storeDamaged ? "is not what it was" : "cannot be read")
        }
      default: break
      }
      count += 1
    }
  }
}

extension Connection {
  /// The contents that rows refer to, ordered by hash.
  ///
  /// A content is listed more than once only if rows state different sizes.
  ///
  /// - Throws: `store_damaged` if a row has no valid hash.
  borrowing func namedContents() throws -> [NamedContent] {
    var isLinked = false
    do {
      var table = try prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'hub_attachment'")
      isLinked = try table.step()
    }
    func isOnHub(_ hash: String) -> String {
      isLinked
        ? """
        EXISTS (SELECT 1 FROM hub_attachment h JOIN hub_file f ON f.uuid IN (h.file, h.thumbnail_file)
          WHERE h.attachment = a.id AND f.sha256 = a.\(hash) AND f.is_uploaded)
        """ : "0"
    }
    var rows = try prepare(
      text: """
        SELECT a.sha256, a.size_bytes, \(isOnHub("sha256")) FROM attachment a
        UNION SELECT a.thumbnail_sha256, a.thumbnail_size_bytes, \(isOnHub("thumbnail_sha256")) FROM attachment a
        WHERE thumbnail_sha256 IS NOT NULL ORDER BY 1, 3 DESC
        """)
    var contents: [NamedContent] = []
    while try rows.step() {
      guard let hash = rows.withBytes(0, { $0.flatMap(ContentHash.init) }) else {
        throw DMError(.storeDamaged, "an attachment names no content", remedy: .checkDeeply)
      }
      let content = NamedContent(hash: hash, size: rows.int(1), isOnHub: rows.bool(2))
      // Another row with this hash has no file on the hub: for example, a message that waits for the hub may forward a
      // content that was never fetched.
      if let last = contents.last, last.isOnHub, last.hash == hash { continue }
      contents.append(content)
    }
    return contents
  }
}
