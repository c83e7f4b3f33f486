/// An error: a clause for the user, and a code for scripts.
///
/// `message` is one lower-case clause that ends with what to do next. Neither `message` nor `subject` ever contains the
/// text of a message.
public struct DMError: Error, Equatable, Sendable {
  /// The code of an error, as error records contain it.
  ///
  /// Expect more cases in later versions.
  public enum Code: String, CaseIterable, Sendable {
    // A line or a value that is invalid.
    case malformedLine = "malformed_line"
    case invalidUTF8 = "invalid_utf8"
    case lineTooLong = "line_too_long"
    case unfinishedLine = "unfinished_line"
    case missingField = "missing_field"
    case badField = "bad_field"
    case badReference = "bad_reference"
    case badHandle = "bad_handle"
    case badTime = "bad_time"
    case badCursor = "bad_cursor"
    case emptyText = "empty_text"
    case textTooLong = "text_too_long"
    case badAttachment = "bad_attachment"
    // A valid value that conflicts with the data of the store.
    case nonceConflict = "nonce_conflict"
    case outOfOrder = "out_of_order"
    case handleTaken = "handle_taken"
    case nameTaken = "name_taken"
    case unknownConversation = "unknown_conversation"
    case ambiguousTitle = "ambiguous_title"
    case unknownMessage = "unknown_message"
    case unknownAttachment = "unknown_attachment"
    case unknownUser = "unknown_user"
    case noDraft = "no_draft"
    case unknownConsumer = "unknown_consumer"
    case unknownFile = "unknown_file"
    case notAllowed = "not_allowed"
    // The call, the store or the machine.
    case usage
    case noStore = "no_store"
    case cannotCreate = "cannot_create"
    case inputOutput = "io_error"
    case readOnlyStore = "read_only_store"
    case busy
    case storeTooNew = "store_too_new"
    case storeForeign = "store_foreign"
    case storeDamaged = "store_damaged"
    case storeReplaced = "store_replaced"
    case gap
    case networkFileSystem = "network_file_system"
    case `internal`

    /// Whether the same line may succeed when it is tried again unchanged.
    public var isRetryable: Bool {
      switch self {
      case .busy, .inputOutput: true
      default: false
      }
    }

    /// Whether the error ends the run, because every other line would fail too.
    public var isFatal: Bool {
      switch self {
      case .usage, .noStore, .cannotCreate, .inputOutput, .readOnlyStore, .busy, .storeTooNew,
        .storeForeign, .storeDamaged, .storeReplaced, .gap, .networkFileSystem, .internal:
        true
      default: false
      }
    }
  }

  public let code: Code
  /// The thing that is wrong: a reference, a handle, a path or the name of a field; cut after 256 bytes.
  public let subject: String?
  /// The clause for the user; cut after 1,024 bytes.
  public let message: String
  /// The nonce of the line of input that the error answers.
  public private(set) var nonce: String?

  public init(_ code: Code, _ message: String, subject: String? = nil) {
    self.code = code
    self.subject = subject.map { cut($0, 256) }
    self.message = cut(message, 1024)
  }

  /// The error as the answer to a line with this nonce; a text that is too long for a nonce is left out.
  public func answering(nonce: String?) -> DMError {
    guard let nonce, nonce.utf8.count <= Outgoing.nonceLimit else { return self }
    var error = self
    error.nonce = nonce
    return error
  }
}

extension DMError {
  /// Whether damaged or unreadable files may be the cause; a check reports such an error as a finding, and goes on.
  package var isDamage: Bool {
    code == .storeDamaged || code == .inputOutput || code == .storeForeign || code == .internal
  }
}

/// The text, or its first `limit` bytes and `…`, so that an error stays short however long the wrong value is.
private func cut(_ text: String, _ limit: Int) -> String {
  text.utf8.count <= limit ? text : beginning(of: text, bytes: limit) + "…"
}

/// The beginning of a text, at most `limit` bytes, cut between two code points.
func beginning(of text: String, bytes limit: Int) -> String {
  guard var end = text.utf8.index(text.startIndex, offsetBy: limit, limitedBy: text.endIndex) else { return text }
  while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
  return String(text[..<end])
}
