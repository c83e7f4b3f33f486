package import DMModel

// Writes: report.

/// The messages that users have reported to the people who run the store.
package struct Reports {
  let store: Store

  /// Stores a copy of a message for the people who run the store.
  ///
  /// If the user reports the message again, the new report replaces the old one.
  package func report(_ message: Messages.Row, by user: UserKey, reason: String?, at time: Timestamp) throws {
    var insert = try store.connection.prepare(
      """
      INSERT INTO report (message, reporter, at, reason, text) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (message, reporter) DO UPDATE SET at = excluded.at, reason = excluded.reason, text = excluded.text
      """)
    insert.bind(message.key)
    insert.bind(user)
    insert.bind(time)
    insert.bind(reason)
    insert.bind(message.text)
    try insert.run()
  }
}
