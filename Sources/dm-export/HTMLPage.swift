internal import DMCLI
internal import DMKit
internal import DMModel

/// The id of a message on a page, and its links to other messages.
struct HTMLAnchors {
  let id: String
  /// The address of the message that is answered; nil if it is not in the export.
  var answered: String?
  var answers: [(seq: Int, address: String)] = []

  init(id: String) { self.id = id }
}

extension [UInt8] {
  /// Adds the beginning of a page, which allows no scripts and nothing from other places.
  ///
  /// All tags are closed as in XML, so that the page is both HTML and well-formed XML.
  mutating func add(headOf title: String) {
    add(
      """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8"/>
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self' file:; media-src 'self' file:; \
      style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"/>
      <meta name="viewport" content="width=device-width, initial-scale=1"/>
      <meta name="referrer" content="no-referrer"/>
      <title>
      """)
    add(html: title)
    add("</title>\n<style>\n\(Self.style)</style>\n</head>\n<body>\n")
  }

  mutating func addFoot() { add("</body>\n</html>\n") }

  private static var style: String {
    """
    :root { color-scheme: light dark; --back: #fff; --text: #1b1d21; --dim: #5f656d; --line: #d5d8dd; --card: #f2f4f6;
      --mine: #e2eefe; --link: #0b57d0 }
    @media (prefers-color-scheme: dark) { :root { --back: #16181b; --text: #e3e6ea; --dim: #a1a7af; --line: #383d44;
      --card: #22262b; --mine: #1c3049; --link: #8ab4f8 } }
    body { background: var(--back); color: var(--text); font: 16px/1.45 system-ui, sans-serif; max-width: 46em;
      margin: 0 auto; padding: 1em }
    a { color: var(--link) }
    h1 { font-size: 1.4em; margin: .3em 0 }
    h2 { font-size: .9em; color: var(--dim); text-align: center; border-top: 1px solid var(--line); margin: 1.5em 0 .5em;
      padding-top: .5em }
    nav { display: flex; gap: 1.5em; margin: .5em 0 }
    article { background: var(--card); border-radius: .6em; padding: .4em .8em; margin: .4em 3em .4em 0;
      overflow-wrap: anywhere }
    article.mine { background: var(--mine); margin: .4em 0 .4em 3em }
    article.note { background: none; text-align: center; margin: .4em 0 }
    article:target { outline: 2px solid var(--link) }
    article p, article blockquote, article figure { margin: .2em 0 }
    blockquote { border-left: 3px solid var(--line); padding-left: .6em }
    .text { white-space: pre-wrap }
    .by, .dim, blockquote, figcaption { color: var(--dim); font-size: .9em }
    .by b { color: var(--text) }
    .by a { color: inherit; text-decoration: none }
    img, video { max-width: 100%; max-height: 28em; width: auto; height: auto; border-radius: .4em }
    audio { max-width: 100% }
    @media print { :root { --back: #fff; --text: #000; --dim: #444; --line: #aaa; --card: #fff; --mine: #fff; --link: #000 }
      body { max-width: none; padding: 0; font-size: 10pt } nav { display: none }
      article { border: 1px solid var(--line); break-inside: avoid } h2 { break-after: avoid } }

    """
  }

  mutating func add(headingOf conversation: Conversation) {
    add("<h1>")
    add(html: Words.title(of: conversation))
    add("</h1>\n<p class=\"dim\">")
    let people = conversation.participants.prefix(50).map { visible($0.description) }.joined(separator: ", ")
    add(html: people)
    if conversation.participants.count > 50 { add(" and \(conversation.participants.count - 50) more") }
    add("</p>\n")
  }

  /// Adds a message.
  ///
  /// - Parameter files: for each attachment the path of its copy; nil if there is none.
  mutating func add(_ message: Message, _ files: [String?], isStream: Bool, _ anchors: HTMLAnchors) {
    let isNote = message.systemKind != nil
    add("<article id=\"\(anchors.id)\"")
    if isNote || message.isMine { add(isNote ? " class=\"note\"" : " class=\"mine\"") }
    add(">\n<p class=\"by\"><b>")
    add(html: Words.sender(of: message))
    add("</b> ")
    if isNote { add(html: Words.text(of: message) + " ") }
    add(
      "<a href=\"#\(anchors.id)\"><time datetime=\"\(message.createdAt)\">\(TextFormat.clock(message.createdAt))</time></a>"
    )
    for note in Words.notes(on: message) {
      add(", ")
      add(html: note)
    }
    add("</p>\n")
    if let reply = message.replyTo { add(reply, anchors.answered) }
    if !isNote, message.text != nil {
      add("<p class=\"text\" dir=\"auto\">")
      addLinked(Words.text(of: message))
      add("</p>\n")
    }
    if let preview = message.linkPreview { add(preview) }
    for (attachment, file) in zip(message.attachments, files) { add(attachment, file) }
    if let reactions = Words.reactions(message) { addLine("", reactions) }
    if anchors.answers.isEmpty { return add("</article>\n") }
    add("<p class=\"dim\">Answers:")
    for (seq, address) in anchors.answers { add(" <a href=\"\(address)\">\(seq)</a>") }
    add("</p>\n</article>\n")
  }

  private mutating func add(_ reply: Message.Reply, _ address: String?) {
    add("<blockquote>answers ")
    if let address { add("<a href=\"\(address)\">") }
    add(html: Words.answered(reply))
    add(address == nil ? "</blockquote>\n" : "</a></blockquote>\n")
  }

  /// Adds a text whose addresses of web pages are links, and which has no other tags.
  private mutating func addLinked(_ text: String) {
    var end = text.startIndex
    for range in TextFormat.addresses(in: text) {
      add(html: text[end..<range.lowerBound])
      add(linkTo: TextFormat.escaped(text[range]))
      add(html: text[range])
      add("</a>")
      end = range.upperBound
    }
    add(html: text[end...])
  }

  private mutating func add(linkTo address: String) {
    add("<a rel=\"noreferrer nofollow\" href=\"")
    add(html: address)
    add("\">")
  }

  private mutating func add(_ preview: LinkPreview) {
    // The address is in the text, which has a link to it.
    addLine(
      "",
      [preview.title, preview.description, preview.site].compactMap { $0.map { visible($0) } }
        .joined(separator: " · "))
  }

  private mutating func addLine(_ start: String, _ text: String) {
    add("<p class=\"dim\">\(start)")
    add(html: text)
    add("</p>\n")
  }

  private mutating func add(_ attachment: Attachment, _ file: String?) {
    let name = visible(attachment.name)
    guard let file else { return addLine("", "\(name) (\(Words.kind(of: attachment))) is not in this export") }
    add("<figure>")
    let isShown = !file.hasSuffix(".bin")
    switch attachment.kind {
    case .image where isShown:
      add(link: file)
      add("<img loading=\"lazy\" src=\"")
      add(path: file)
      add("\" alt=\"")
      add(html: name)
      if let width = attachment.width, let height = attachment.height {
        add("\" width=\"\(width)\" height=\"\(height)")
      }
      add("\"/></a>")
    case .video where isShown: add(player: "video", file)
    case .audio, .voice: add(player: "audio", file)
    default: break
    }
    add("<figcaption>")
    add(link: file)
    add(html: name)
    add("</a> (\(Words.kind(of: attachment)))</figcaption></figure>\n")
  }

  private mutating func add(link file: String) {
    add("<a href=\"")
    add(path: file)
    add("\">")
  }

  private mutating func add(player tag: String, _ file: String) {
    add("<\(tag) controls=\"\" preload=\"none\" src=\"")
    add(path: file)
    add("\"></\(tag)>")
  }
}
