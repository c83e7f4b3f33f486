internal import DMCLI
internal import DMKit

/// What --lossy and --overflow make of texts.
struct TextOptions {
  enum Overflow: String, CaseIterable { case error, truncate, attach }

  let isLossy: Bool
  let overflow: Overflow

  /// The most bytes of a text that becomes an attachment, and of its beginning that the message has.
  private static let attachedLimit = 64 << 20
  private static let beginningLimit = 1024

  /// - Throws: `usage`.
  init(_ arguments: Arguments) throws {
    isLossy = arguments.has("lossy")
    let word = arguments.value("overflow") ?? Overflow.error.rawValue
    guard let overflow = Overflow(rawValue: word) else {
      throw usage("'\(word)' is not a way for --overflow; write attach, truncate or error")
    }
    self.overflow = overflow
    if overflow == .attach { try arguments.exclude("overflow", beside: "lines", "draft") }
    for option in ["lossy", "overflow"] { try arguments.exclude(option, beside: "edit", "from-draft", "forward") }
  }

  /// The text of a line.
  func text(_ line: ArraySlice<UInt8>) throws -> String { try fitted(plainText(line, isLossy: isLossy)).text }

  /// A text that fits into a message, and the whole where it is to be attached.
  func fitted(_ text: String) -> (text: String, whole: [UInt8]?) {
    guard text.utf8.count > Outgoing.textLimit else { return (text, nil) }
    switch overflow {
    case .error: return (text, nil)
    case .truncate: return (Outgoing.cut(text, to: Outgoing.textLimit), nil)
    case .attach: return (Outgoing.cut(text, to: Self.beginningLimit), Array(text.utf8))
    }
  }

  /// The text of standard input, which is attached as it came.
  func standardInput() throws -> (text: String, whole: [UInt8]?) {
    var input = LineInput()
    let limit = overflow == .attach ? Self.attachedLimit : Outgoing.textLimit
    let bytes = try input.bytes(limit: limit, cuts: overflow == .truncate)
    let (text, whole) = try fitted(plainText(bytes[...], isLossy: isLossy))
    return (text, whole == nil ? nil : bytes)
  }
}
