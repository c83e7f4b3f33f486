internal import DMCLI
internal import DMKit

extension DMAttach {
  /// Saves an attachment, or all attachments of a message.
  static func fetch(_ id: String, _ call: Invocation) throws {
    let (arguments, messenger) = (call.arguments, try call.messenger())
    let part = arguments[thumbnail] ? AttachmentPart.thumbnail : .content
    let output = try arguments[output]
    var attachments = try named(id, messenger)
    // Skips attachments without a thumbnail, unless none has one, which is an error.
    if part == .thumbnail, attachments.contains(where: { $0.thumbnail != nil }) {
      attachments.removeAll { $0.thumbnail == nil }
    }
    if output == "-" {
      guard attachments.count == 1 else {
        throw usage("the message carries \(attachments.count) attachments; use the id of one of them to print it")
      }
      return try messenger.read(part, of: attachments[0]) { try call.output.write(content: $0) }
    }
    // A copy, because the program that opens it may write to it, and must not write to the store.
    let place = arguments[open] ? try temporaryFolder() : output ?? "."
    try messenger.save(part, of: attachments, to: place, replacesAny: arguments[force]) { saved in
      if arguments[open] { try openByDesktop(saved.path) }
      try call.print(saved, text: TextFormat.line)
    }
  }

  /// The attachment with an id, or all attachments of a message.
  private static func named(_ text: String, _ messenger: Messenger) throws -> [Attachment] {
    guard let id = Identifier(text) else { return try messenger.attachments(of: MessageReference(text)) }
    do {
      return [try messenger.attachment(id)]
    } catch let error as DMError where error.code == .unknownAttachment {
      // It may be the id of a message.
      do {
        return try messenger.attachments(of: .id(id))
      } catch let other as DMError where other.code == .unknownMessage {
        throw error
      }
    }
  }
}
