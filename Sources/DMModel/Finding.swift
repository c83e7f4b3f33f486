/// A fault of the store, found by a check.
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
    /// The pages of the database, which SQLite checks.
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
    /// The data that came from the hub.
    case hub
  }

  /// The check that found the fault.
  package let check: Check
  /// The thing that has the fault: a path, a table, the id of a conversation or of an attachment, or a message as
  /// `ID:SEQ`.
  package let subject: String?
  /// What is wrong, as one clause.
  package let message: String
  /// The next step for the user; the programs put it into words and add them to the message.
  package let remedy: Remedy?

  package init(check: Check, subject: String?, message: String, remedy: Remedy? = nil) {
    self.check = check
    self.subject = subject
    self.message = message
    self.remedy = remedy
  }
}
