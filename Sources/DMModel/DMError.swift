/// An error: a clause for the user, and a code for scripts.
///
/// `message` is one lower-case clause, to which the programs add what to do next. Neither `message` nor `subject` ever
/// contains the text of a message.
public struct DMError: Error, Equatable, Sendable {
  /// The code of an error; its raw value is in error records.
  ///
  /// Expect more cases in later versions.
  public enum Code: String, CaseIterable, Sendable {
    // Errors about a line or a value that is not valid.
    /// The line is not a JSON object of the expected form.
    case malformedLine = "malformed_line"
    /// The input is not valid UTF-8.
    case invalidUTF8 = "invalid_utf8"
    /// The line is over 1 MiB.
    case lineTooLong = "line_too_long"
    /// The input ended within the line.
    case unfinishedLine = "unfinished_line"
    /// A member that is required is missing.
    case missingField = "missing_field"
    /// A value is not valid for its member or parameter.
    case badField = "bad_field"
    /// The text is not a valid reference to a conversation or a message.
    case badReference = "bad_reference"
    /// The text is not a valid handle.
    case badHandle = "bad_handle"
    /// The text is not a valid time or length of time.
    case badTime = "bad_time"
    /// The text is not a valid cursor, or the cursor is of another store.
    case badCursor = "bad_cursor"
    /// The text is empty or has only white space, and there are no attachments.
    case emptyText = "empty_text"
    /// The text is over 64 KiB.
    case textTooLong = "text_too_long"
    /// The source cannot be attached, for example because it is a folder, is too large, or cannot be prepared.
    case badAttachment = "bad_attachment"
    // Errors about a valid value that conflicts with the data of the store.
    /// The nonce, or the id of an imported message, was used before, for a message with another text or other
    /// attachments.
    case nonceConflict = "nonce_conflict"
    /// The message to import is not newer than the last message of its conversation.
    case outOfOrder = "out_of_order"
    /// Another user has the handle.
    case handleTaken = "handle_taken"
    /// The user has given the name to another conversation; or groups with the title exist, but none that the user
    /// created and owns has the requested users.
    case nameTaken = "name_taken"
    /// The conversation does not exist.
    case unknownConversation = "unknown_conversation"
    /// Several groups have the title.
    case ambiguousTitle = "ambiguous_title"
    /// The message does not exist, or the user does not see it.
    case unknownMessage = "unknown_message"
    /// The attachment does not exist, or the user does not see it.
    case unknownAttachment = "unknown_attachment"
    /// The user does not exist.
    case unknownUser = "unknown_user"
    /// The conversation has no draft.
    case noDraft = "no_draft"
    /// The user has no consumer of that name.
    case unknownConsumer = "unknown_consumer"
    /// The file to attach does not exist.
    case unknownFile = "unknown_file"
    /// The file to attach cannot be read.
    case unreadableFile = "unreadable_file"
    /// The file to attach changed while it was read.
    case fileChanged = "file_changed"
    /// The user may not do this.
    case notAllowed = "not_allowed"
    // Errors about the command line, the store, the machine or the hub.
    /// The command line or the call is wrong, for example because a required option is missing.
    case usage
    /// There is no store in the folder.
    case noStore = "no_store"
    /// A file or folder cannot be created.
    case cannotCreate = "cannot_create"
    /// The system reported an error while reading or writing.
    case inputOutput = "io_error"
    /// The store cannot be written to.
    case readOnlyStore = "read_only_store"
    /// Another process has held a lock for too long.
    case busy
    /// A newer version of dm has changed the schema of the store.
    case storeTooNew = "store_too_new"
    /// The database belongs to another program.
    case storeForeign = "store_foreign"
    /// The store is damaged, or has lost commits.
    case storeDamaged = "store_damaged"
    /// Another store is in the folder now.
    case storeReplaced = "store_replaced"
    /// Changes that a consumer needs are no longer in the log.
    case gap
    /// The folder is on a network file system.
    case networkFileSystem = "network_file_system"
    /// The hub cannot be reached, or something that needs it was not done in time.
    case hubUnreachable = "hub_unreachable"
    /// The hub does not let this store in.
    case hubRefused = "hub_refused"
    /// The hub is not the one to which the store is linked, or has a version that does not fit.
    case hubMismatch = "hub_mismatch"
    /// The data of the hub is damaged.
    case hubDamaged = "hub_damaged"
    /// The store is not linked to a hub.
    case noHub = "no_hub"
    /// The hub refuses an operation.
    case refusedByHub = "refused_by_hub"
    /// The user has sent more than the hub, or the owner of an agent, accepts for now.
    case overQuota = "over_quota"
    /// The program of a model gave no answer that can be used.
    case modelFailed = "model_failed"
    /// A link is not fetched, because its address or its form is not allowed.
    case linkRefused = "link_refused"
    /// A link has no preview: its page cannot be fetched or read.
    case linkFailed = "link_failed"
    /// A bug in dm.
    case `internal`

    /// Whether the same line may succeed when it is tried again unchanged.
    public var isRetryable: Bool {
      switch self {
      case .busy, .fileChanged, .inputOutput, .hubUnreachable, .overQuota, .modelFailed: true
      default: false
      }
    }

    /// Whether a program must stop at this error, because all further lines of its input would fail, too.
    public var isFatal: Bool {
      switch self {
      case .usage, .noStore, .cannotCreate, .inputOutput, .readOnlyStore, .busy, .storeTooNew,
        .storeForeign, .storeDamaged, .storeReplaced, .gap, .networkFileSystem, .hubRefused, .hubMismatch,
        .hubDamaged, .noHub, .internal:
        true
      default: false
      }
    }
  }

  /// The code of the error, for programs.
  public let code: Code
  /// The thing that is wrong: a reference, a handle, a path or the name of a field; cut after 256 bytes.
  public let subject: String?
  /// What failed, as a clause for people; cut after 1,024 bytes.
  public var message: String { message(adding: "") }
  /// The next step for the user; the programs put it into words and add them to the message.
  package let remedy: Remedy?
  /// The nonce of the line of input that the error answers.
  package private(set) var nonce: String?
  private let clause: String
  private var detail: String

  private static let limit = 1024

  /// - Parameter detail: the end of the message, after the words of the remedy.
  package init(_ code: Code, _ clause: String, subject: String? = nil, remedy: Remedy? = nil, detail: String = "") {
    self.code = code
    self.subject = subject.map { cut($0, 256) }
    self.remedy = remedy
    // Keeps 4 bytes more than the limit, so that `message` notices that the clause is too long, and adds an ellipsis.
    self.clause = beginning(of: clause, bytes: Self.limit + 4)
    self.detail = detail
  }

  /// The message with the words of the remedy.
  package func message(adding words: String) -> String { cut(clause + words + detail, Self.limit) }

  /// The error with more detail at the end of its message.
  package func adding(_ detail: String) -> DMError {
    var error = self
    error.detail += detail
    return error
  }

  /// The error with the nonce of the line that it answers; a text that is too long to be a nonce is left out.
  package func answering(nonce: String?) -> DMError {
    guard let nonce, nonce.utf8.count <= Outgoing.nonceLimit else { return self }
    var error = self
    error.nonce = nonce
    return error
  }
}

extension DMError: CustomStringConvertible {
  /// The message and the code, and then the advice if a call of the library helps:
  /// `there is no user 'x' (unknown_user); …`.
  public var description: String { "\(message) (\(code.rawValue))\(remedy?.call.map { "; \($0)" } ?? "")" }
}

extension DMError {
  /// Whether damaged or unreadable files may be the cause; a check reports such an error as a finding, and goes on.
  package var isDamage: Bool {
    code == .storeDamaged || code == .inputOutput || code == .storeForeign || code == .internal
  }
}

/// The text, or its first `limit` bytes and `…` if it is longer.
///
/// So an error is short even if the wrong value is long.
private func cut(_ text: String, _ limit: Int) -> String {
  text.utf8.count <= limit ? text : beginning(of: text, bytes: limit) + "…"
}

/// The beginning of a text, at most `limit` bytes, cut between two code points.
package func beginning(of text: String, bytes limit: Int) -> String {
  guard var end = text.utf8.index(text.startIndex, offsetBy: limit, limitedBy: text.endIndex) else { return text }
  while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
  return String(text[..<end])
}
