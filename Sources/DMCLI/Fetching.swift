package import DMKit

extension Invocation {
  /// Fetches contents or thumbnails that a linked store does not have, and shows the progress on a terminal.
  ///
  /// - Throws: `hub_unreachable`, `unknown_attachment`.
  package func fetch(_ part: AttachmentPart, of attachments: [Attachment]) throws {
    let (messenger, settings) = (try messenger(), settings)
    try Interruption.heeded(Progress(self)) { step in
      try messenger.fetch(part, of: attachments, settings, progress: step)
    }
  }
}

extension Messenger {
  /// Fetches contents or thumbnails that a linked store does not have.
  ///
  /// - Parameter progress: called often, with how much was fetched; an error that it throws ends the wait.
  /// - Throws: `hub_unreachable`, `unknown_attachment`.
  package func fetch(
    _ part: AttachmentPart, of attachments: [Attachment], _ settings: Settings, progress: (String) throws -> Void
  ) throws {
    try fetch(part, of: attachments) {
      Carrier.start(for: self, settings).fault
    } progress: { done, all in
      try progress("\(TextFormat.size(done)) of \(TextFormat.size(all))")
    }
  }
}
