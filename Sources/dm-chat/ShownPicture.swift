internal import DMCLI
internal import DMKit
internal import DMModel

extension Conversing {
  /// One message as lines of text, and its first picture if the terminal shows it.
  ///
  /// The picture is the thumbnail, converted if need be, or a small image itself if the terminal does not show the
  /// thumbnail. It takes at most two thirds of the rows.
  ///
  /// - Parameters:
  ///   - words: the number of the message.
  ///   - pictures: how the terminal shows pictures; nil if it does not.
  ///   - layout: the window, in which the picture must fit.
  ///   - progress: called often while a file is fetched or converted; an error that it throws ends the wait.
  func show(
    _ words: String, _ pictures: PictureProtocol?, in layout: Layout?, progress: @escaping (String) throws -> Void
  ) throws -> (lines: [String], picture: TerminalPicture?) {
    let (number, rest) = Entered.number(words)
    guard let number, rest.isEmpty else { throw usage("write /show and the number of a message") }
    let range = RangeReference(from: number, to: number)
    guard let message = try messenger.messages(in: conversation, [range]).first else {
      throw DMError(.unknownMessage, "there is no message \(number) here", subject: String(number))
    }
    var people = People(messenger.identity.handle)
    people.add(try participants())
    let lines = [TextFormat.line(message, people)]
    guard let pictures, let layout else { return (lines, nil) }
    let converts = pictures.converts
    for attachment in message.attachments {
      guard let (part, type, size) = picture(of: attachment, pictures, converting: converts) else { continue }
      try messenger.fetch(part, of: [attachment], settings, progress: progress)
      var file: [UInt8] = []
      try messenger.read(part, of: attachment) { file += $0 }
      let shown = try pictures.picture(
        file, type, size: size, columns: min(60, layout.width - 1), rows: layout.height * 2 / 3
      ) { try progress("converting the picture") }
      if let shown { return (lines, shown) }
    }
    return (lines, nil)
  }

  private func picture(
    of attachment: Attachment, _ pictures: PictureProtocol, converting: Bool
  ) -> (part: AttachmentPart, type: String, size: (width: Int, height: Int))? {
    func fits(_ type: String, _ bytes: Int) -> Bool {
      bytes <= TerminalPicture.sizeLimit && pictures.shows(type, converting: converting)
    }
    if let small = attachment.thumbnail, fits(small.mimeType, small.sizeBytes) {
      return (.thumbnail, small.mimeType, (small.width, small.height))
    }
    guard attachment.kind == .image, fits(attachment.mimeType, attachment.sizeBytes), let width = attachment.width,
      let height = attachment.height
    else { return nil }
    return (.content, attachment.mimeType, (width, height))
  }
}
