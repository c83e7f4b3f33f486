/// What went wrong, said to the person at the prompt and, by its code, to the script.
///
/// The message is one lower-case clause that ends with the next thing to try. Neither it nor the
/// subject ever holds a message's text.
public struct DMError: Error, Equatable, Sendable {
  /// Why, as it stands in error records.
  ///
  /// Expect more cases in later versions.
  public enum Code: String, CaseIterable, Sendable {
    // A line or a value that is wrong in itself.
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
    // A value that is right in itself and does not go with what the store holds.
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

    /// Whether it ends the whole run, because no other line could fare better.
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
  /// What it is about: a reference, a handle, a path, a field's name.
  public let subject: String?
  public let message: String
  /// The nonce of the line that it answers.
  public private(set) var nonce: String?

  public init(_ code: Code, _ message: String, subject: String? = nil) {
    self.code = code
    self.subject = subject.map { cut($0, 256) }
    self.message = cut(message, 1024)
  }

  /// The same as the answer to a line with this nonce; one that is too long to be a nonce is left out.
  public func answering(nonce: String?) -> DMError {
    guard let nonce, nonce.utf8.count <= Outgoing.nonceLimit else { return self }
    var error = self
    error.nonce = nonce
    return error
  }
}

extension DMError {
  /// Whether it comes of what stands in the files.
  package var isDamage: Bool {
    code == .storeDamaged || code == .inputOutput || code == .storeForeign || code == .internal
  }
}

/// The same, whole, or its beginning: an error must not be longer than what it is about.
private func cut(_ text: String, _ limit: Int) -> String {
  text.utf8.count <= limit ? text : beginning(of: text, bytes: limit) + "…"
}

/// The first bytes of a text, whole characters of it.
func beginning(of text: String, bytes limit: Int) -> String {
  guard var end = text.utf8.index(text.startIndex, offsetBy: limit, limitedBy: text.endIndex) else { return text }
  while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
  return String(text[..<end])
}
