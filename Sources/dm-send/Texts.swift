internal import DMCLI
internal import DMKit

/// How --lossy and --overflow change texts.
struct TextOptions {
  enum Overflow: String, CaseIterable { case attach, truncate, error }

  let isLossy: Bool
  let overflow: Overflow

  /// The most bytes of a text that becomes an attachment, and of its beginning in the message.
  private static let attachedLimit = 64 << 20
  private static let beginningLimit = 1024

  init(_ arguments: Arguments) throws {
    isLossy = arguments[lossy]
    overflow = try arguments[DMSend.overflow] ?? .error
  }

  /// The text of a line.
  func text(_ line: ArraySlice<UInt8>) throws -> String { try fitted(plainText(line, isLossy: isLossy)).text }

  /// A text that fits into a message, and the whole text when it must be attached.
  func fitted(_ text: String) -> (text: String, whole: [UInt8]?) {
    guard text.utf8.count > Outgoing.textLimit else { return (text, nil) }
    switch overflow {
    case .error: return (text, nil)
    case .truncate: return (Outgoing.cut(text, to: Outgoing.textLimit), nil)
    case .attach: return (Outgoing.cut(text, to: Self.beginningLimit), Array(text.utf8))
    }
  }

  /// The text of standard input; when it must be attached, its bytes are unchanged.
  func standardInput() throws -> (text: String, whole: [UInt8]?) {
    var input = LineInput()
    let limit = overflow == .attach ? Self.attachedLimit : Outgoing.textLimit
    let bytes = try input.bytes(limit: limit, cuts: overflow == .truncate)
    let (text, whole) = try fitted(plainText(bytes[...], isLossy: isLossy))
    return (text, whole == nil ? nil : bytes)
  }
}
