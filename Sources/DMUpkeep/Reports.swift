package import DMModel
internal import DMStore

extension Upkeep {
  /// The columns of a report.
  private enum ReportColumn: Int32, QueryColumn {
    case key, messageID, conversationID, seq, sender, reporter, reason, text, at
  }

  /// A page of reports, oldest first.
  ///
  /// - Parameter key: the last key of the page before.
  /// - Returns: a page, and its last key; nil at the end.
  package func reports(after key: ReportKey? = nil, limit: Int = 500) throws -> (page: [Report], last: ReportKey)? {
    let store = try store()
    if key == nil { try note(.reports) }
    return try store.read {
      var last = key ?? ReportKey(number: 0)
      var rows = try store.connection.prepare(
        """
        SELECT r.id AS key, m.uuid AS message_id, c.uuid AS conversation_id, m.seq, m.sender, r.reporter, r.reason, r.text, r.at
        FROM report r JOIN message m ON m.id = r.message JOIN conversation c ON c.id = m.conversation
        WHERE r.id > ? ORDER BY r.id LIMIT ?
        """)
      rows.bind(last.number)
      rows.bind(limit)
      assert(rows.has(ReportColumn.self))
      var page: [Report] = []
      while try rows.step() {
        // On a damaged page, keys may be in any order.
        guard rows.int64(ReportColumn.key) > last.number else {
          throw DMError(
            .storeDamaged, "the reports of the store are not in the order of their keys", remedy: .checkDeeply)
        }
        last = ReportKey(number: rows.int64(ReportColumn.key))
        page.append(
          Report(
            messageID: rows.identifier(ReportColumn.messageID),
            conversationID: rows.identifier(ReportColumn.conversationID), seq: rows.int(ReportColumn.seq),
            sender: try store.users.handle(rows.userKey(ReportColumn.sender)),
            user: try store.users.handle(rows.userKey(ReportColumn.reporter)),
            reason: rows.optionalText(ReportColumn.reason), text: rows.optionalText(ReportColumn.text),
            reportedAt: rows.timestamp(ReportColumn.at)))
      }
      return page.isEmpty ? nil : (page, last)
    }
  }
}
