internal import DMCLI
internal import DMKit
internal import DMModel

/// The attachments of messages: opening and saving them.
extension Conversing {
  private func attachments(of number: Int) throws -> [Attachment] {
    do {
      return try messenger.attachments(of: message(number))
    } catch let error as DMError where error.code == .unknownAttachment {
      throw DMError(.unknownAttachment, "message \(number) has no attachment")
    }
  }

  /// Saves the attachments of a message.
  ///
  /// - Parameters:
  ///   - words: the number of the message, and the path of a file or folder; the present folder if there is no path.
  ///   - replaces: whether to replace existing files; nil if the user cannot be asked.
  ///   - progress: called often while contents are fetched; an error that it throws ends the wait.
  /// - Returns: what was saved, for the user.
  /// - Throws: `cannot_create`, with the remedy `nameFileOrReplace` for a file that exists if the user can be asked.
  func save(_ words: String, replaces: Bool?, progress: (String) throws -> Void) throws -> String {
    let (number, rest) = Entered.number(words)
    guard let number else { throw usage("write /save, the number of a message, and perhaps a file or folder") }
    let path = try Self.path(rest)
    let attachments = try attachments(of: number)
    try messenger.fetch(.content, of: attachments, settings, progress: progress)
    var saved: [String] = []
    do {
      try messenger.save(.content, of: attachments, to: path.isEmpty ? "." : path, replacesAny: replaces ?? false) {
        saved.append($0.path)
      }
    } catch let error as DMError
      where error.code == .cannotCreate && (replaces == nil || error.remedy != .nameFileOrReplace)
    {
      // The words of its remedy would be those of dm-attach.
      throw DMError(
        error.code, "\(error.message); name another file or folder after '/save \(number)'", subject: error.subject)
    }
    return "saved " + (saved.count == 1 ? "as '\(saved[0])'" : "\(saved.count) files: \(saved.joined(separator: ", "))")
  }

  /// Opens a copy of an attachment with `xdg-open` or the program of `$DM_OPENER`.
  ///
  /// The copy is a new file that is not executable, with a name of plain ASCII. Only files of kinds that are shown and
  /// not run are opened, because senders choose names and kinds.
  ///
  /// - Parameter words: the number of the message, and the number of the attachment if there are several.
  func open(_ words: String, progress: (String) throws -> Void) throws -> OpenedAttachment {
    let (number, rest) = Entered.number(words)
    guard let number else { throw usage("write /open and the number of a message") }
    let attachments = try attachments(of: number)
    let index = Entered.number(rest).0 ?? (attachments.count == 1 && rest.allSatisfy(\.isWhitespace) ? 1 : 0)
    guard attachments.indices.contains(index - 1) else {
      let choice = "message \(number) has \(counted(attachments.count, "attachment"))"
      throw usage("\(choice); write '/open \(number) 1' for the first one")
    }
    let attachment = attachments[index - 1]
    guard let name = OpenedAttachment.name(for: attachment) else {
      throw DMError(
        .badAttachment,
        "'\(attachment.name)' is not opened, because it could be a program; '/save \(number)' saves it")
    }
    try messenger.fetch(.content, of: [attachment], settings, progress: progress)
    return try OpenedAttachment(attachment, as: name, messenger, or: "or save it with '/save \(number)'")
  }
}
