internal import DMKit

/// When typing shows, given the moments of keystrokes: 300 ms after the first, for as long as the next comes within
/// 4 s.
struct KeystrokeClock {
  private var first: Int64?
  private var last: Int64 = 0

  static let delay: Int64 = 300_000
  static let patience: Int64 = 4_000_000

  mutating func strike(at moment: Int64) {
    if first == nil { first = moment }
    last = moment
  }

  /// What was typed has been said.
  mutating func stop() { first = nil }

  mutating func isShowing(at moment: Int64) -> Bool {
    if moment - last >= Self.patience { first = nil }
    return first.map { moment - $0 >= Self.delay } ?? false
  }

  /// When that may change unless a key is struck; nil when only a key can change it.
  func due(after moment: Int64) -> Int64? {
    guard let first else { return nil }
    return moment < first + Self.delay ? first + Self.delay : last + Self.patience
  }
}

/// A line of text that grows key by key on a terminal that hands them on one by one.
///
/// It knows the keys that termios(3) knows: erase, word erase, kill and end of file.
struct KeyedLine {
  enum Outcome: Equatable {
    /// What to show on the terminal.
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
    // What the arrow keys send is no text.
    switch escape {
    case .begun:
      escape = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") ? .sequence : .none
      return .echo([])
    case .sequence:
      if (0x40...0x7E).contains(byte) { escape = .none }
      return .echo([])
    case .none: break
    }
    switch byte {
    case 0x0A, 0x0D:
      defer { bytes = [] }
      return .line(bytes)
    case 0x04:
      if bytes.isEmpty { return .end }
      return .echo([])
    case 0x08, 0x7F: return erase { $0.count - 1 }
    case 0x15: return erase { _ in 0 }
    case 0x17:
      return erase { text in
        let kept = text.reversed().drop { $0 == " " }.drop { $0 != " " }
        return kept.count
      }
    case 0x1B:
      escape = .begun
      return .echo([])
    case 0x00..<0x20 where byte != 0x09: return .echo([])
    default:
      bytes.append(byte)
      return .echo([byte])
    }
  }

  /// Keeps so many of its characters.
  private mutating func erase(_ kept: (String) -> Int) -> Outcome {
    let text = String(decoding: bytes, as: UTF8.self)
    let count = max(0, kept(text))
    bytes = Array(text.prefix(count).utf8)
    return .echo(Array(repeatElement(Self.rubout, count: text.count - count).joined()))
  }
}
