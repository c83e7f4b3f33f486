internal import DMCLI
internal import DMKit
internal import DMModel

/// Markdown for people and for language models.
///
/// Each line of a text begins with `>`, so that no text can look like the line above a message.
final class MarkdownFormat: Format {
  private struct Entry {
    let day: String
    let message: Message
    /// How many bytes the message takes at most.
    let size: Int
  }

  private let job: Job
  private let target: Target
  /// The maximum number of bytes; nil for no maximum.
  private let limit: Int?
  private var day = ""
  /// With a maximum, the last messages that fit.
  private var kept: ArraySlice<Entry> = []
  private var size = 0
  private var leftOut = 0

  init(_ job: Job, limit: Int?) throws {
    (self.job, self.limit) = (job, limit)
    target = try job.target("messages.md")
  }

  func begin() throws {
    target.bytes.add("# ")
    let title = Words.title(of: job.conversation)
    // An escaped byte takes at most five.
    target.bytes.add(markdown: limit.map { beginning(of: cut(title, 40), bytes: min(200, $0 / 8)) } ?? title)
    target.bytes.add("\n")
    size = target.bytes.count + Self.leftOutRoom
  }

  /// The bytes of the line that says how many messages are left out, at most.
  private static let leftOutRoom = 64

  func add(_ message: Message) throws {
    guard let limit else { return try write(message) }
    var bytes: [UInt8] = []
    bytes.add(message, message.attachments.map(job.path))
    let entry = Entry(day: TextFormat.day(message.createdAt), message: message, size: bytes.count)
    size += entry.size + (kept.last?.day == entry.day ? 0 : Self.headingLength)
    kept.append(entry)
    while size > limit, let first = kept.popFirst() {
      size -= first.size + (kept.first?.day == first.day ? 0 : Self.headingLength)
      leftOut += 1
    }
  }

  /// Writes a message, and copies its files.
  private func write(_ message: Message) throws {
    let date = TextFormat.day(message.createdAt)
    if date != day { target.bytes.add(heading: date) }
    day = date
    target.bytes.add(message, try message.attachments.map { try job.copy($0, of: message) })
    try target.drain()
  }

  /// The bytes of the heading of a day.
  private static let headingLength = "\n## 2026-11-21\n".utf8.count

  func end() throws {
    if leftOut > 0 { target.bytes.add("\n\(counted(leftOut, "earlier message")) left out\n") }
    if limit != nil { job.countOnly(kept.map(\.message)) }
    for entry in kept { try write(entry.message) }
    try job.finish(target)
  }
}

extension [UInt8] {
  fileprivate mutating func add(heading day: String) {
    add("\n## ")
    add(day)
    add("\n")
  }

  /// Adds the line above a message, its text, its attachments and the reactions to it.
  fileprivate mutating func add(_ message: Message, _ files: [String?]) {
    add("\n**")
    add(markdown: Words.sender(of: message))
    add("** ")
    add(TextFormat.clock(message.createdAt))
    if let seq = message.seq { add(" · \(seq)") }
    if let reply = message.replyTo {
      add(", answers ")
      add(markdown: Words.answered(reply))
    }
    for note in Words.notes(on: message) {
      add(", ")
      add(markdown: note)
    }
    add("\n")
    let text = Words.text(of: message)
    if !text.isEmpty {
      add("\n")
      let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      for (index, line) in lines.enumerated() {
        add(line.isEmpty ? ">" : "> ")
        add(markdown: String(Substring(line)), isLineStart: true)
        // Two spaces keep the end of the line (CommonMark, section 6.7).
        add(index + 1 < lines.count && !line.isEmpty ? "  \n" : "\n")
      }
    }
    if let preview = message.linkPreview {
      add("\nLink: ")
      add(markdown: visible(preview.title))
      add("\n")
    }
    for (attachment, file) in zip(message.attachments, files) { add(attachment, file) }
    if let reactions = Words.reactions(message) {
      add("\nReactions: ")
      add(markdown: reactions)
      add("\n")
    }
  }

  private mutating func add(_ attachment: Attachment, _ file: String?) {
    add("\n")
    if file != nil { add(attachment.kind == .image ? "![" : "[") }
    add(markdown: visible(attachment.name), isLineStart: file == nil)
    if let file {
      add("](")
      add(path: file)
      add(")")
    }
    add(" (\(Words.kind(of: attachment)))\n")
  }

  /// Adds one line of text in which no character has a meaning in Markdown; addresses of web pages become links.
  ///
  /// The characters that have a meaning within a line are in CommonMark, sections 2.4, 2.5 and 6, and those at the start
  /// of a line in sections 4 and 5.
  fileprivate mutating func add(markdown text: String, isLineStart: Bool = false) {
    var end = text.startIndex
    for range in TextFormat.addresses(in: text) {
      add(escaped: text[end..<range.lowerBound], isLineStart: isLineStart && end == text.startIndex)
      add("<")
      // The characters of a URL (RFC 3986, section 2), without the quotation mark.
      add(percent: String(text[range]), also: ":/?#[]@!$&()*+,;=~%")
      add(">")
      end = range.upperBound
    }
    add(escaped: text[end...], isLineStart: isLineStart && end == text.startIndex)
  }

  private mutating func add(escaped text: Substring, isLineStart: Bool) {
    var isStart = isLineStart
    var afterDigits = false
    var text = text
    // Four spaces would begin a block of code, in which escapes and entities mean nothing (CommonMark, section 4.4).
    if isStart, text.utf8.starts(with: "    ".utf8) {
      add("&nbsp;")
      text = Substring(text.utf8.dropFirst())
    }
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "&"): add("&amp;")
      case UInt8(ascii: "<"): add("&lt;")
      case UInt8(ascii: ">"): add("&gt;")
      case UInt8(ascii: "\n"): append(UInt8(ascii: " "))
      case UInt8(ascii: "\\"), UInt8(ascii: "`"), UInt8(ascii: "*"), UInt8(ascii: "_"), UInt8(ascii: "["),
        UInt8(ascii: "]"), UInt8(ascii: "~"), UInt8(ascii: "|"), UInt8(ascii: "$"):
        append(UInt8(ascii: "\\"))
        append(byte)
      case UInt8(ascii: "#"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "="):
        if isStart { append(UInt8(ascii: "\\")) }
        append(byte)
      case UInt8(ascii: "."), UInt8(ascii: ")"):
        if afterDigits { append(UInt8(ascii: "\\")) }
        append(byte)
      default: append(byte)
      }
      let isDigit = 0x30...0x39 ~= byte
      afterDigits = isDigit && (isStart || afterDigits)
      if byte != UInt8(ascii: " ") { isStart = false }
    }
  }
}
