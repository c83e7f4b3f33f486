package import DMKit

extension Invocation {
  /// Fetches contents or thumbnails that a linked store does not have, and shows the progress on a terminal.
  ///
  /// - Throws: `hub_unreachable`, `unknown_attachment`.
  package func fetch(_ part: AttachmentPart, of attachments: [Attachment]) throws {
    let (messenger, settings) = (try messenger(), settings)
    try Interruption.heeded(Progress(self)) { step in
      try messenger.fetch(part, of: attachments) {
        Carrier.start(for: messenger, settings).fault
      } progress: { done, all in
        try step("\(TextFormat.size(done)) of \(TextFormat.size(all))")
      }
    }
  }
}
