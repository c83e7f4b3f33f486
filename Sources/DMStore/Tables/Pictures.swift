package import DMModel

// Reads: conversation, former, picture, user.
// Writes: picture.

/// The small pictures of users and groups.
package struct Pictures {
  let store: Store

  /// Adds a picture, before a user or a group gets it; does nothing if the store has it.
  package func insert(_ picture: Picture) throws {
    var insert = try store.connection.prepare("INSERT INTO picture (hash, bytes) VALUES (?, ?) ON CONFLICT DO NOTHING")
    insert.bind(picture.sha256.bytes)
    insert.bind(picture.bytes)
    try insert.run()
  }

  package typealias Named = (url: String?, picture: Picture?)

  /// A URL and the picture that it names.
  package func named(_ url: String?) throws -> Named { (url, try picture(url)) }

  /// The picture with this name; nil if the text is not the name of a picture, or if the store lacks the picture.
  package func picture(_ url: String?) throws -> Picture? {
    guard let hash = url.flatMap({ ContentHash(url: $0) }) else { return nil }
    var row = try store.connection.prepare("SELECT bytes FROM picture WHERE hash = ?")
    row.bind(hash.bytes)
    return try row.step() ? Picture(bytes: row.withBytes(0) { $0.map(Array.init) ?? [] }, sha256: hash) : nil
  }

  /// Deletes the picture with this name, if no user, conversation or former participant has it.
  ///
  /// Linear in the number of users and conversations, if the text is the name of a picture.
  package func release(_ url: String?) throws {
    guard let url, let hash = ContentHash(url: url) else { return }
    var delete = try store.connection.prepare(
      """
      DELETE FROM picture WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM user WHERE avatar_url = ?2)
        AND NOT EXISTS (SELECT 1 FROM conversation WHERE avatar_url = ?2)
        AND NOT EXISTS (SELECT 1 FROM former WHERE avatar_url = ?2)
      """)
    delete.bind(hash.bytes)
    delete.bind(url)
    try delete.run()
  }

  /// Deletes all pictures that no user, conversation or former participant has.
  package func deleteUnused() throws {
    var delete = try store.connection.prepare(
      """
      DELETE FROM picture WHERE ? || lower(hex(hash)) NOT IN (
        SELECT avatar_url FROM user WHERE avatar_url IS NOT NULL
        UNION ALL SELECT avatar_url FROM conversation WHERE avatar_url IS NOT NULL
        UNION ALL SELECT avatar_url FROM former WHERE avatar_url IS NOT NULL)
      """)
    delete.bind(ContentHash.urlScheme)
    try delete.run()
  }
}
