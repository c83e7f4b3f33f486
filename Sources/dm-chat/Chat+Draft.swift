internal import DMCLI
internal import DMKit

/// What the user has begun to write.
extension Chat {
  /// Shows the conversation until the user leaves it, and keeps what they have begun to write as the draft.
  ///
  /// If that cannot be kept, it is printed.
  func run() throws -> End {
    do {
      try converse()
      try keepDraft()
    } catch {
      try printText()
      throw error
    }
    return end ?? .quit
  }

  private var text: String { line.text == offered?.text ? "" : line.text }

  private func keepDraft() throws {
    if text.contains(where: { !$0.isWhitespace }) {
      conversation = try messenger.saveDraft(text, in: acts.conversation)
    } else {
      try removeDraft()
    }
  }

  func removeDraft() throws {
    guard let draft = conversation?.draftText, draft == loadedDraft else { return }
    _ = try messenger.change(.draft(nil), in: [acts.conversation])
    conversation?.draftText = nil
  }

  /// After an error, which ends the program.
  private func printText() throws {
    window.leave()
    if text.isEmpty { return }
    try call.print("> " + visible(text, indent: "  "))
    try call.output.flush()
  }
}
