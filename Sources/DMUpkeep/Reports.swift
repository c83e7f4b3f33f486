package import DMModel
internal import DMStore

extension Upkeep {
  /// A page of reports, oldest first.
  ///
  /// - Parameter after: the last key of the page before.
  /// - Returns: a page, and its last key; nil at the end.
  package func reports(after key: Int64 = 0, limit: Int = 500) throws -> (page: [Report], last: Int64)? {
    let store = try store()
    if key == 0 { try note(.reports) }
    return try store.read {
      var rows = try store.connection.prepare(
        """
        SELECT r.id, m.uuid, c.uuid, m.seq, m.sender, r.reporter, r.reason, r.text, r.at
        FROM report r JOIN message m ON m.id = r.message JOIN conversation c ON c.id = m.conversation
        WHERE r.id > ? ORDER BY r.id LIMIT ?
        """)
      rows.bind(key)
      rows.bind(limit)
      var page: [Report] = []
      var last = key
      while try rows.step() {
        last = rows.int64(0)
        page.append(
          Report(
            messageID: rows.identifier(1), conversationID: rows.identifier(2), seq: rows.int(3),
            sender: try store.users.handle(rows.userKey(4)), user: try store.users.handle(rows.userKey(5)),
            reason: rows.optionalText(6), text: rows.optionalText(7), reportedAt: rows.timestamp(8)))
      }
      return page.isEmpty ? nil : (page, last)
    }
  }
}
