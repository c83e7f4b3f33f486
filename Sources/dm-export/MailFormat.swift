internal import DMCLI
internal import DMJSON
internal import DMKit
internal import DMModel

/// An mbox (RFC 4155) whose mails have the attachments as MIME parts (RFC 2045 to 2047).
///
/// No line of a text begins with `From ` or `--` in the file: such a text is written as quoted-printable, with the first
/// byte of the line as a code. So mail readers need no rule for `>From `, and a text can end neither its mail nor its part.
final class MailFormat: Format {
  private let job: Job
  private let target: Target
  private let to: String
  /// The ids from the first message of a thread to each message that is part of a thread.
  private var roots: [Identifier: Identifier] = [:]

  /// A domain that no machine has (RFC 2606, section 2).
  private static let domain = "dm.invalid"

  init(_ job: Job) throws {
    self.job = job
    target = try job.target("messages.mbox")
    let conversation = job.conversation
    if conversation.isGroup {
      to = Self.address(visible(conversation.name), conversation.id.description)
    } else {
      to = conversation.participants.map { Self.address(nil, $0.description) }.joined(separator: ", ")
    }
  }

  func begin() {}

  func add(_ message: Message) throws {
    let text =
      Words.announcement(message).map { "\(visible(message.sender.description)) \($0)" } ?? Words.text(of: message)
    addHeaders(message, text)
    if message.attachments.isEmpty {
      target.bytes.add(part: text)
    } else {
      let boundary = "dm-\(message.id)"
      target.bytes.add("Content-Type: multipart/mixed; boundary=\"\(boundary)\"\n\n--\(boundary)\n")
      target.bytes.add(part: text)
      for attachment in message.attachments {
        target.bytes.add("--\(boundary)\n")
        try add(attachment, of: message)
      }
      target.bytes.add("--\(boundary)--\n")
    }
    target.bytes.add("\n")
    try target.drain()
  }

  func end() throws { try job.finish(target) }

  // MARK: Headers

  private func addHeaders(_ message: Message, _ text: String) {
    let date = MailDate(message.createdAt)
    let sender = message.sender.description
    target.bytes.add("From ")
    target.bytes.add(mailbox: sender)
    target.bytes.add("@\(Self.domain) \(date.envelope)\nFrom: ")
    target.bytes.add(Self.address(visible(message.senderName ?? sender), sender))
    target.bytes.add("\nTo: \(to)\nDate: \(date.header)\nMessage-ID: \(Self.id(message.id))\n")
    if let reply = message.replyTo {
      let root = roots[reply.id] ?? reply.id
      roots[message.id] = root
      target.bytes.add("In-Reply-To: \(Self.id(reply.id))\nReferences: ")
      if root != reply.id { target.bytes.add("\(Self.id(root)) ") }
      target.bytes.add("\(Self.id(reply.id))\n")
    }
    add("Subject", Self.subject(text.isEmpty ? message.attachments.first.map { visible($0.name) } ?? "" : text))
    add("X-DM-Conversation", message.conversation.reference)
    add("X-DM-Number", message.seq.map(String.init))
    add("X-DM-Announcement", message.systemKind?.rawValue)
    add("X-DM-Reactions", Words.reactions(message))
    let notes = Words.notes(on: message)
    add("X-DM-Notes", notes.isEmpty ? nil : notes.joined(separator: ", "))
    target.bytes.add("MIME-Version: 1.0\n")
  }

  /// The beginning of the first line of a text that is not empty.
  private static func subject(_ text: String) -> String {
    let lineFeed = UInt8(ascii: "\n")
    let line = text.utf8.drop { $0 == lineFeed || $0 == UInt8(ascii: " ") }.prefix { $0 != lineFeed }
    let start = beginning(of: String(Substring(line)), bytes: 72)
    return start.utf8.count < line.count ? start + "…" : start
  }

  private func add(_ name: String, _ value: String?) {
    guard let value else { return }
    target.bytes.add("\(name): \(Self.encoded(visible(value)))\n")
  }

  private static func id(_ id: Identifier) -> String { "<\(id)@\(domain)>" }

  private static func address(_ name: String?, _ mailbox: String) -> String {
    var bytes: [UInt8] = []
    if let name { bytes.add("\(encoded(name, isPhrase: true)) ") }
    bytes.add("<")
    bytes.add(mailbox: mailbox)
    bytes.add("@\(domain)>")
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A header's value in ASCII, without line breaks: encoded words (RFC 2047) unless all characters are harmless.
  ///
  /// - Parameter isPhrase: whether the value is the name before an address, in which fewer characters are harmless.
  private static func encoded(_ text: String, isPhrase: Bool = false) -> String {
    let isPlain =
      text.utf8.count < 900
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x20, 0x2D, 0x5F: true
        case UInt8(ascii: "="): false
        default: !isPhrase && 0x21...0x7E ~= byte
        }
      }
    if isPlain { return text }
    // A line with an encoded word has at most 76 characters, with the longest name of a header.
    var words: [String] = []
    var rest = text
    while !rest.isEmpty {
      var part = beginning(of: rest, bytes: 30)
      words.append("=?UTF-8?B?\(part.withUTF8 { base64(UnsafeRawBufferPointer($0)) })?=")
      rest = String(Substring(rest.utf8.dropFirst(part.utf8.count)))
    }
    return words.joined(separator: "\n ")
  }

  // MARK: Attachments

  private func add(_ attachment: Attachment, of message: Message) throws {
    var encoder = Base64Lines()
    var hasHeader = false
    let isThere = try job.read(attachment, of: message) { chunk in
      if !hasHeader { target.bytes.add(headersOf: attachment) }
      hasHeader = true
      encoder.add(chunk, to: &target.bytes)
      try target.drain()
    }
    if isThere {
      encoder.finish(&target.bytes)
    } else {
      target.bytes.add(part: "\(visible(attachment.name)) (\(Words.kind(of: attachment))) is not in this export")
    }
  }
}

extension [UInt8] {
  /// Adds a handle or an id as the part of an address before the `@` (RFC 5322, section 3.4.1).
  fileprivate mutating func add(mailbox name: String) { add(percent: name, sign: UInt8(ascii: "=")) }

  /// Adds a text with the headers that say how it is written.
  fileprivate mutating func add(part text: String) {
    add("Content-Type: text/plain; charset=utf-8\n")
    guard Self.needsCodes(text) else {
      add("Content-Transfer-Encoding: 8bit\n\n")
      add(text)
      return add("\n")
    }
    add("Content-Transfer-Encoding: quoted-printable\n\n")
    for line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      add(quotedPrintable: line)
    }
  }

  /// Whether a text has a line that is too long for a mail (RFC 5322, section 2.1.1), or that could begin a mail or a part:
  /// `From `, also after any number of `>`, or `--`.
  private static func needsCodes(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      var start = 0
      while start < bytes.count {
        let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        let line = bytes[start..<end]
        if line.count >= 998 || line.starts(with: "--".utf8) { return true }
        if line.drop(while: { $0 == UInt8(ascii: ">") }).starts(with: "From ".utf8) { return true }
        start = end + 1
      }
      return false
    }
  }

  /// Adds a line as RFC 2045, section 6.7, says: at most 76 characters, the last one an equals sign if the line goes on.
  private mutating func add(quotedPrintable line: Substring.UTF8View) {
    var column = 0
    for index in line.indices {
      let byte = line[index]
      let isLast = line.index(after: index) == line.endIndex
      var isPlain = 0x21...0x7E ~= byte && byte != UInt8(ascii: "=") || byte == 0x20 && !isLast
      if column + (isPlain ? 1 : 3) > 75 {
        add("=\n")
        column = 0
      }
      // A line of the file may also begin within a word, because of the limit.
      if column == 0, byte == UInt8(ascii: "F") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ">") {
        isPlain = false
      }
      if isPlain {
        append(byte)
      } else {
        append(UInt8(ascii: "="))
        add(hexadecimal: byte)
      }
      column += isPlain ? 1 : 3
    }
    add("\n")
  }

  fileprivate mutating func add(headersOf attachment: Attachment) {
    let parts = attachment.mimeType.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    let isType =
      parts.count == 2
      && parts.allSatisfy { part in
        !part.isEmpty && part.count < 64
          && part.allSatisfy {
            0x30...0x39 ~= $0 || 0x41...0x5A ~= $0 || 0x61...0x7A ~= $0 || [0x2B, 0x2D, 0x2E].contains($0)
          }
      }
    add("Content-Type: \(isType ? attachment.mimeType : "application/octet-stream")\n")
    add("Content-Transfer-Encoding: base64\nContent-Disposition: attachment; ")
    // RFC 2231, section 4.
    add("filename*=UTF-8''")
    add(percent: Attachment.safeName(attachment.name))
    add("\n\n")
  }
}

/// Encodes chunks of bytes as one base64 text in lines of 76 characters (RFC 2045, section 6.8).
struct Base64Lines {
  /// The bytes of the next line.
  private var rest: [UInt8] = []

  private static let bytesOfLine = 57

  mutating func add(_ chunk: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    rest += chunk
    var start = 0
    rest.withUnsafeBytes { rest in
      while rest.count - start > Self.bytesOfLine {
        bytes.add(base64(UnsafeRawBufferPointer(rebasing: rest[start..<start + Self.bytesOfLine])) + "\n")
        start += Self.bytesOfLine
      }
    }
    rest.removeFirst(start)
  }

  /// Writes the last line.
  func finish(_ bytes: inout [UInt8]) { bytes.add(rest.withUnsafeBytes { base64($0) } + "\n") }
}

/// A time in the two forms of a mail, in UTC.
struct MailDate {
  /// `Sat Nov 21 14:30:00 2026`.
  let envelope: String
  /// `Sat, 21 Nov 2026 14:30:00 +0000`.
  let header: String

  init(_ time: Timestamp) {
    // 2026-11-21T14:30:00.123456Z
    let text = time.description
    let digits = Array(text.utf8)
    let days = Int((Double(time.microseconds) / 86_400_000_000).rounded(.down))
    // 1970-01-01 was a Thursday.
    let weekday = Self.name((days % 7 + 7) % 7, in: "ThuFriSatSunMonTueWed")
    let month = Self.name(
      Int(digits[5] - 48) * 10 + Int(digits[6] - 48) - 1, in: "JanFebMarAprMayJunJulAugSepOctNovDec")
    let (year, day, clock) = (Self.part(0, 4, of: text), Self.part(8, 2, of: text), Self.part(11, 8, of: text))
    envelope = "\(weekday) \(month) \(day) \(clock) \(year)"
    header = "\(weekday), \(day) \(month) \(year) \(clock) +0000"
  }

  private static func name(_ index: Int, in names: String) -> Substring { part(3 * index, 3, of: names) }

  private static func part(_ start: Int, _ count: Int, of text: String) -> Substring {
    Substring(text.utf8.dropFirst(start).prefix(count))
  }
}
