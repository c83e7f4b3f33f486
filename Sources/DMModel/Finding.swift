/// A fault of the store.
///
/// A finding never contains the text of a message.
public struct Finding: Equatable, Sendable {
  /// The subject of a check.
  ///
  /// Expect more cases in later versions.
  public enum Check: String, CaseIterable, Sendable {
    case identity
    case files
    /// Tables, indexes and triggers.
    case schema
    case integrity
    case foreignKeys = "foreign_keys"
    case values
    case search
    case counts
    case ranges
    case digests
    /// The contents of attachments.
    case attachments
  }

  public let check: Check
  /// A path, a table, a conversation's id, an attachment's, or a message as `ID:SEQ`.
  public let subject: String?
  public let message: String

  package init(check: Check, subject: String?, message: String) {
    self.check = check
    self.subject = subject
    self.message = message
  }
}
