/// A fault of the store.
///
/// A finding never contains the text of a message.
package struct Finding: Equatable, Sendable {
  /// The subject of a check.
  ///
  /// Expect more cases in later versions.
  package enum Check: String, CaseIterable, Sendable {
    /// The id and the version of the store.
    case identity
    /// Files, folders and their modes.
    case files
    /// Tables, indexes and triggers.
    case schema
    /// The database's pages, by SQLite.
    case integrity
    /// References between rows.
    case foreignKeys = "foreign_keys"
    /// Values that a column must not have.
    case values
    /// The search index.
    case search
    /// Stored counts, such as that of unread messages.
    case counts
    /// Read ranges, hidden ranges and receipts.
    case ranges
    /// Digests of messages and of tables.
    case digests
    /// The contents of attachments.
    case attachments
    /// What comes from the hub.
    case hub
  }

  /// The check that found it.
  package let check: Check
  /// A path, a table, a conversation's id, an attachment's, or a message as `ID:SEQ`.
  package let subject: String?
  /// One clause: what is wrong.
  package let message: String
  /// What helps, which the programs add to the message in words.
  package let remedy: Remedy?

  package init(check: Check, subject: String?, message: String, remedy: Remedy? = nil) {
    self.check = check
    self.subject = subject
    self.message = message
    self.remedy = remedy
  }
}
