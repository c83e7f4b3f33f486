/// Random changes of valid lines and files.
extension Dice {
  private static let words = [
    "\"\"", "\"bob\"", "\"+all\"", "\"+nobody\"", "\"alice\"", "\"mallory\"", "null", "true", "[]", "{}", "0", "-1",
    "1.5",
    "1e400", "9223372036854775808", "\"\\ud800\"", "\"\\u0000\"", "\"\\u202e\"", "\"2020-01-01T10:00:00Z\"",
    "\"9999-12-31T23:59:59Z\"", "\"message\"", "\"conversation\"", "\"title_changed\"", "\"user_joined\"",
    "\"conversation_created\"",
    "\"00000000-0000-0000-0000-000000000000\"", "[\"alice\",\"bob\"]", "[[[[[[[[]]]]]]]]", "\"@bob\"", "\"1h\"",
  ]

  /// A random variation of one of these lines, without a line feed.
  mutating func line(like lines: [[UInt8]]) -> [UInt8] {
    var line = pick(lines)
    for _ in 0..<number(0...3) where !line.isEmpty {
      switch number(0...5) {
      case 0: line = mutated(line)
      case 1, 2: replaceValue(in: &line)
      case 3:
        // Joins the members of two lines.
        guard let end = line.lastIndex(of: UInt8(ascii: "}")), let other = pick(lines).split(separator: 0x7B).first
        else { break }
        line = line[..<end] + [UInt8(ascii: ",")] + other
      case 4: line = Array(line.prefix(number(0...line.count)))
      default:
        let text = String(
          repeating: pick(["a", "é", "\\u0041", "[", "\u{202E}"]), count: pick([10, 70, 5000, 70_000]))
        replaceValue(in: &line, with: "\"\(text)\"")
      }
    }
    return line.map { $0 == 0x0A ? 0x20 : $0 }
  }

  /// Replaces the value after a random colon.
  private mutating func replaceValue(in line: inout [UInt8], with word: String? = nil) {
    let colons = line.indices.filter { line[$0] == UInt8(ascii: ":") && $0 > 0 && line[$0 - 1] == UInt8(ascii: "\"") }
    guard !colons.isEmpty else { return }
    let start = pick(colons) + 1
    let isText = start < line.count && line[start] == UInt8(ascii: "\"")
    let end =
      isText
      ? line[(start + 1)...].firstIndex(of: UInt8(ascii: "\"")).map { $0 + 1 } ?? line.count
      : line[start...].firstIndex { ",}".utf8.contains($0) } ?? line.count
    line.replaceSubrange(start..<end, with: Array((word ?? pick(Self.words)).utf8))
  }

  /// The bytes with some of them changed, removed, repeated, or set to extreme values.
  mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0...number(0...3) where !bytes.isEmpty {
      let start = number(0...(bytes.count - 1))
      let range = start..<min(bytes.count, start + number(1...8))
      switch number(0...4) {
      case 0: bytes[start] = UInt8(number(0...255))
      case 1: bytes[start] ^= 1 << UInt8(number(0...7))
      case 2: bytes.replaceSubrange(range, with: [UInt8](repeating: pick([0, 0x7F, 0x80, 0xFF]), count: range.count))
      case 3: bytes.removeSubrange(range)
      default: bytes.insert(contentsOf: Array(bytes[range]), at: number(0...(bytes.count - 1)))
      }
    }
    return bytes
  }
}
