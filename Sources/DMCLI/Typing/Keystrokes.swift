internal import DMKit

/// Shows typing by the times of keystrokes: from 300 ms after the first until 4 s after the last.
package struct KeystrokeClock {
  private var first: Int64?
  private var last: Int64 = 0

  package init() {}

  static let delay: Int64 = 300_000
  static let idleTimeout: Int64 = 4_000_000

  package mutating func strike(at moment: Int64) {
    if first == nil || moment - last >= Self.idleTimeout { first = moment }
    last = moment
  }

  /// The line was sent.
  package mutating func stop() { first = nil }

  package mutating func isShowing(at moment: Int64) -> Bool {
    if moment - last >= Self.idleTimeout { first = nil }
    return first.map { moment - $0 >= Self.delay } ?? false
  }

  /// The time when `isShowing` may change without another key; nil if only a key can change it.
  package func due(after moment: Int64) -> Int64? {
    guard let first else { return nil }
    return moment < first + Self.delay ? first + Self.delay : last + Self.idleTimeout
  }
}

/// A line of text that is edited key by key on a terminal in non-canonical mode.
///
/// It handles the keys that termios(3) handles: erase, word erase, kill and end of file.
struct KeyedLine {
  enum Outcome: Equatable {
    /// Bytes to show on the terminal.
    case echo([UInt8])
    /// The line is complete, without its LF.
    case line([UInt8])
    case end
  }

  private var bytes: [UInt8] = []
  private var escape = Escape.none

  private enum Escape { case none, begun, sequence }

  private static let rubout: [UInt8] = [0x08, 0x20, 0x08]

  mutating func take(_ byte: UInt8) -> Outcome {
    if isInEscape(byte) { return .echo([]) }
    switch byte {
    case 0x0A, 0x0D:
      defer { bytes = [] }
      return .line(bytes)
    case 0x04:
      if bytes.isEmpty { return .end }
      return .echo([])
    case 0x08, 0x7F: return erase(1)
    case 0x15: return erase(bytes.count)
    case 0x17: return eraseWord()
    case 0x1B:
      escape = .begun
      return .echo([])
    case 0x00..<0x20 where byte != 0x09: return .echo([])
    default:
      bytes.append(byte)
      return .echo([byte])
    }
  }

  /// Whether a byte belongs to an escape sequence, as of an arrow key, which is not text; a control character ends the
  /// sequence and is not part of it.
  private mutating func isInEscape(_ byte: UInt8) -> Bool {
    guard escape != .none, byte >= 0x20, byte != 0x7F else {
      escape = .none
      return false
    }
    let isOpened = escape == .begun && (byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O"))
    escape = isOpened || (escape == .sequence && !(0x40...0x7E).contains(byte)) ? .sequence : .none
    return true
  }

  private mutating func eraseWord() -> Outcome {
    let blanks = bytes.reversed().prefix { $0 == 0x20 }.count
    let word = bytes.dropLast(blanks).reversed().prefix { $0 != 0x20 }
    return erase(blanks + word.filter(Self.begins).count)
  }

  /// Whether a byte begins a character, in UTF-8 and in 8-bit encodings.
  private static func begins(_ byte: UInt8) -> Bool { byte & 0xC0 != 0x80 }

  /// Erases at most that many characters.
  private mutating func erase(_ count: Int) -> Outcome {
    var erased = 0
    while erased < count, !bytes.isEmpty {
      while let byte = bytes.popLast(), !Self.begins(byte) {}
      erased += 1
    }
    return .echo(Array(repeatElement(Self.rubout, count: erased).joined()))
  }
}
