internal import DMCLI
internal import DMKit
internal import DMPreview

/// Makes the previews for --preview and DM_PREVIEW.
///
/// A message whose link has no preview is sent without it.
struct Previews {
  private let call: Invocation
  private let messenger: Messenger
  /// Nil if no previews are wanted, or if none can be made.
  private let maker: PreviewMaker?

  /// Whether the command line, the environment or the configuration file asks for previews.
  ///
  /// - Throws: `usage` for a value of DM_PREVIEW that is not valid.
  static func areWanted(_ call: Invocation) throws -> Bool {
    try call.arguments[DMSend.preview] || call.settings[.preview] == "on"
  }

  /// Loads the libraries only if previews are wanted.
  init(_ call: Invocation, _ messenger: Messenger) throws {
    (self.call, self.messenger) = (call, messenger)
    do {
      maker = try Self.areWanted(call) ? PreviewMaker() : nil
    } catch let error as DMError where error.code == .linkFailed {
      maker = nil
      Self.warn(error)
    }
  }

  var areMade: Bool { maker != nil }

  /// The preview of the first link in a text; nil if there is none, or if it cannot be made.
  ///
  /// - Parameter attachments: the attachments of the message. If there is no room for another, the image is left out.
  private func preview(in text: String, with attachments: [Identifier]) -> LinkPreview? {
    do throws(DMError) {
      return try maker?.linkPreview(in: text, attach: attachments.count < Attachment.limit ? attachment : nil)
    } catch {
      Self.warn(error)
      return nil
    }
  }

  /// The message with a preview, unless it has one, is forwarded, or was sent before.
  func adding(to outgoing: Outgoing) throws -> Outgoing { try adding(to: [outgoing])[0] }

  /// A message, once for each conversation, with a preview, unless it has one, is forwarded, or was sent to all of them
  /// before.
  func adding(to messages: [Outgoing]) throws -> [Outgoing] {
    guard areMade, let message = messages.first, message.linkPreview == nil, message.forwards == nil,
      try !messages.allSatisfy(messenger.wasSent),
      let preview = preview(in: message.text, with: message.attachments)
    else { return messages }
    return try messages.map { try $0.with(preview) }
  }

  private func attachment(_ image: [UInt8]) -> Identifier? {
    do {
      return try messenger.prepare(.bytes(image), name: "preview").attachment.id
    } catch {
      Self.warn(error as? DMError ?? DMError(.internal, "cannot prepare an image"), lacks: "the image of the preview")
      return nil
    }
  }

  private static func warn(_ error: DMError, lacks part: String = "a preview") {
    printError(DMSend.command.name, "sent without \(part): \(error.text)")
  }
}
