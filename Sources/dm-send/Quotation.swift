internal import DMCLI
internal import DMKit

extension DMSend {
  static let quote = Option(
    "quote", value: "MESSAGE", "put the text of this message before yours, each line after '> ', and answer it",
    as: MessageReference.init)
  static let ifAny = Flag("if-any", "if the text is empty, send nothing, and end with status 0")
  static let waitRead = Option(
    "wait-read", value: "TIME", "wait until all others have read the message, at most this time", as: duration)
}

/// The text of a message that the new message quotes.
struct Quotation {
  private let message: Message
  /// The lines of the quoted text, each after `> `, without empty lines at the end.
  let text: String

  /// - Returns: nil without --quote.
  /// - Throws: `usage`, `empty_text` for a message without text, or the error for a message that the user does not see.
  init?(_ arguments: Arguments, _ messenger: Messenger, to conversations: [ConversationReference]) throws {
    guard let reference = try arguments[DMSend.quote], let first = conversations.first else { return nil }
    if conversations.count > 1, case .number(let number, in: nil) = reference {
      throw usage("with several --to, '\(number)' alone names no message; write CONVERSATION:\(number)")
    }
    message = try messenger.messageToQuote(reference, in: first)
    guard let quoted = message.text, !quoted.allSatisfy(\.isWhitespace) else {
      throw DMError(
        .emptyText, "the message '\(reference)' has no text to quote; answer it with --reply-to",
        subject: reference.description)
    }
    var lines = quoted.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    while lines.last?.isEmpty == true { lines.removeLast() }
    text = lines.map { $0.isEmpty ? ">" : "> " + String(Substring($0)) }.joined(separator: "\n")
  }

  func before(_ text: String) -> String { text.isEmpty ? self.text : self.text + "\n" + text }

  /// The quoted message, if it is in this conversation, so that the new message answers it; otherwise nil.
  func answered(in conversation: ConversationReference, _ messenger: Messenger) throws -> MessageReference? {
    try messenger.isMessage(message, in: conversation) ? .id(message.id) : nil
  }
}
