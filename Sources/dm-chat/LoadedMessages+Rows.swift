internal import DMCLI
internal import DMKit

/// The rows of single messages.
extension LoadedMessages {
  /// The rows of a message, without the lines above it.
  func madeRows(of index: Int, _ layout: Layout) -> [[UInt8]] {
    layout.rows(of: TextFormat.line(entries[index].message, people, isIntroduced: isIntroduced(index)))
  }

  /// Whether a message is the first one in memory of its sender on its day.
  private func isIntroduced(_ index: Int) -> Bool {
    let entry = entries[index]
    let before = entries[..<index].reversed().prefix { $0.day == entry.day }
    return !before.contains { $0.message.sender == entry.message.sender }
  }
}

/// A row in reverse: SGR 7 (ECMA-48, section 8.3.117), repeated after each sequence that ends all attributes.
func reversed(_ row: [UInt8]) -> [UInt8] {
  let (start, end) = (Array("\u{1B}[7m".utf8), Array("\u{1B}[0m".utf8))
  var result = start
  for (index, byte) in row.enumerated() {
    result.append(byte)
    if byte == end[3], row[...index].suffix(4).elementsEqual(end) { result += start }
  }
  return result
}
