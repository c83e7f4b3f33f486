package import DMKit

extension Invocation {
  /// Fetches contents that a linked store does not have yet, and shows the progress on a terminal.
  ///
  /// - Throws: `hub_unreachable`, `unknown_attachment`.
  package func fetch(_ part: AttachmentPart, of attachments: [Attachment]) throws {
    let messenger = try messenger()
    let progress = Progress(self)
    try Interruption.heeded(progress) { interruption in
      try messenger.fetch(part, of: attachments) {
        Carrier.start(for: messenger).fault
      } progress: { done, all in
        progress.show("\(TextFormat.size(done)) of \(TextFormat.size(all))")
        try interruption.check()
      }
    }
  }
}
