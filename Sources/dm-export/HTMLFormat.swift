internal import DMCLI
internal import DMKit
internal import DMModel
internal import DMUpkeep

/// Pages of HTML, each with the messages of a thousand numbers, or one page on standard output.
///
/// The page of a message follows from its number, so a link to a message never changes.
final class HTMLFormat: Format {
  private let job: Job
  /// The beginning of the ids on a page that has several conversations.
  private let prefix: String
  private var target: Target?
  private var page = 1
  private var day = ""
  /// The numbers of the answers to each message.
  private var answers: [Int: [Int]] = [:]
  private var firstSeq = Int.max

  static let messagesOnPage = 1000

  init(_ job: Job, prefix: String = "") { (self.job, self.prefix) = (job, prefix) }

  /// Whether a file may be a page, by its name.
  static func isPage(_ name: String) -> Bool {
    name.hasPrefix("page") && name.hasSuffix(".html")
      && name.utf8.dropFirst(4).dropLast(5).allSatisfy { 0x30...0x39 ~= $0 || $0 == UInt8(ascii: "-") }
  }

  private static func name(of page: Int) -> String { "page\(page).html" }

  private static func page(of seq: Int) -> Int {
    let index = seq - 1
    return (index >= 0 ? index : index - (messagesOnPage - 1)) / messagesOnPage + 1
  }

  func begin() throws {
    try job.eachBatch { batch in
      for message in batch {
        guard let seq = message.seq else { continue }
        firstSeq = min(firstSeq, seq)
        if let answered = message.replyTo?.seq { answers[answered, default: []].append(seq) }
      }
    }
    if let stream = job.stream {
      target = stream
      stream.bytes.add(headingOf: job.conversation)
    }
  }

  func add(_ message: Message) throws {
    let next = job.stream == nil ? message.seq.map(Self.page) ?? page : page
    if target == nil || next != page { try turn(to: next) }
    guard let target else { return }
    let date = TextFormat.day(message.createdAt)
    if date != day {
      target.bytes.add("<h2>")
      target.bytes.add(html: TextFormat.weekdayAndDay(message.createdAt))
      target.bytes.add("</h2>\n")
      day = date
    }
    let files = try message.attachments.map { try job.copy($0, of: message) }
    target.bytes.add(message, files, isStream: job.stream != nil, anchors(message))
    try target.drain()
  }

  /// The links of a message to others.
  private func anchors(_ message: Message) -> HTMLAnchors {
    var anchors = HTMLAnchors(id: prefix + (message.seq.map(String.init) ?? message.id.description))
    if let seq = message.replyTo?.seq, seq >= firstSeq { anchors.answered = address(of: seq) }
    anchors.answers = (message.seq.flatMap { answers[$0] } ?? []).map { ($0, address(of: $0)) }
    return anchors
  }

  private func address(of seq: Int) -> String {
    let other = job.stream == nil ? Self.page(of: seq) : page
    return (other == page ? "" : Self.name(of: other)) + "#\(prefix)\(seq)"
  }

  /// Completes the page, and begins another one.
  private func turn(to next: Int) throws {
    let last = target == nil ? nil : page
    try finishPage(next: next)
    page = next
    day = ""
    let target = try job.target(Self.name(of: next))
    self.target = target
    let title = Words.title(of: job.conversation)
    target.bytes.add(headOf: title)
    target.bytes.add("<nav><a href=\"../index.html\">all conversations</a>")
    if let last { target.bytes.add("<a href=\"\(Self.name(of: last))\" rel=\"prev\">older messages</a>") }
    target.bytes.add("</nav>\n")
    target.bytes.add(headingOf: job.conversation)
  }

  private func finishPage(next: Int?) throws {
    guard let target else { return }
    if let next {
      target.bytes.add("<nav><a href=\"\(Self.name(of: next))\" rel=\"next\">newer messages</a></nav>\n")
    }
    target.bytes.addFoot()
    try job.finish(target)
  }

  func end() throws {
    if let stream = job.stream { return try job.finish(stream) }
    if target == nil { try turn(to: page) }
    try finishPage(next: nil)
  }

  /// Writes the page that lists the conversations of a folder.
  static func writeIndex(of folder: ExportFolder) throws {
    let target = try Target(file: "\(folder.path)/index.html")
    target.bytes.add(headOf: "Conversations")
    target.bytes.add("<h1>Conversations</h1>\n<ul>\n")
    for entry in folder.entries where !entry.path.hasSuffix("/") {
      target.bytes.add("<li><a href=\"")
      target.bytes.add(path: entry.path)
      target.bytes.add("\">")
      target.bytes.add(html: (entry.isGroup ? "+" : "") + visible(entry.name))
      target.bytes.add("</a> <span class=\"dim\">\(counted(entry.messages, "message"))")
      if let first = entry.first, let last = entry.last {
        target.bytes.add(", \(TextFormat.day(first)) to \(TextFormat.day(last))")
      }
      if let path = entry.lastPath {
        target.bytes.add(", <a href=\"")
        target.bytes.add(path: path)
        target.bytes.add("\">the newest</a>")
      }
      target.bytes.add("</span></li>\n")
    }
    target.bytes.add("</ul>\n")
    target.bytes.addFoot()
    _ = try target.finish()
  }
}
