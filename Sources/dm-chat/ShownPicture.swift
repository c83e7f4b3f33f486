internal import DMCLI
internal import DMKit
internal import DMModel

/// A file with the picture of a message.
struct ShownPicture {
  let file: [UInt8]
  let width: Int
  let height: Int

  /// The picture above the text of the message, in at most two thirds of the rows; nil if the terminal shows none.
  func drawn(in layout: Layout) -> TerminalPicture? {
    layout.pictures.map {
      TerminalPicture(
        file, width: width, height: height, by: $0, columns: min(60, layout.width - 1), rows: layout.height * 2 / 3)
    }
  }
}

extension Conversing {
  /// One message as lines of text, and its first picture if the terminal shows it.
  ///
  /// The picture is the thumbnail, or a small image itself if the terminal does not show the format of the thumbnail.
  ///
  /// - Parameters:
  ///   - words: the number of the message.
  ///   - pictures: how the terminal shows pictures; nil if it does not.
  ///   - progress: called often while a file is fetched; an error that it throws ends the wait.
  func show(
    _ words: String, _ pictures: PictureProtocol?, progress: (String) throws -> Void
  ) throws -> (lines: [String], picture: ShownPicture?) {
    let (number, rest) = Entered.number(words)
    guard let number, rest.isEmpty else { throw usage("write /show and the number of a message") }
    let range = RangeReference(from: number, to: number)
    guard let message = try messenger.messages(in: conversation, [range]).first else {
      throw DMError(.unknownMessage, "there is no message \(number) here", subject: String(number))
    }
    var people = People(messenger.identity.handle)
    people.add(try participants())
    let lines = [TextFormat.line(message, people)]
    guard let pictures else { return (lines, nil) }
    for attachment in message.attachments {
      guard let (part, width, height) = picture(of: attachment, pictures) else { continue }
      try messenger.fetch(part, of: [attachment], settings, progress: progress)
      var file: [UInt8] = []
      try messenger.read(part, of: attachment) { file += $0 }
      return (lines, ShownPicture(file: file, width: width, height: height))
    }
    return (lines, nil)
  }

  private func picture(
    of attachment: Attachment, _ pictures: PictureProtocol
  ) -> (part: AttachmentPart, width: Int, height: Int)? {
    if let small = attachment.thumbnail, pictures.shows(small.mimeType), small.sizeBytes <= TerminalPicture.sizeLimit {
      return (.thumbnail, small.width, small.height)
    }
    guard attachment.kind == .image, pictures.shows(attachment.mimeType),
      attachment.sizeBytes <= TerminalPicture.sizeLimit, let width = attachment.width, let height = attachment.height
    else { return nil }
    return (.content, width, height)
  }
}
