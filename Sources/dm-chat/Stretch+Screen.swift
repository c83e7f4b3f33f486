internal import DMCLI
internal import DMKit

/// What of the conversation is on the screen.
extension Stretch {
  var isScrolled: Bool { bottom != nil || hasNewer }

  private var last: Bottom { bottom ?? Bottom(index: entries.count - 1, hidden: 0) }

  /// The rows of a message, with the lines that stand above it.
  ///
  /// The first message gets the line of its day, so older ones are read before.
  private mutating func block(_ index: Int, _ line: (Message) -> String) -> [[UInt8]] {
    let message = entries[index].message
    let rows = entries[index].rows ?? draw(line(message))
    entries[index].rows = rows
    var above: [String] = []
    if index == 0 || TextFormat.day(entries[index - 1].message.createdAt) != TextFormat.day(message.createdAt) {
      above.append(TextFormat.dayLine(message.createdAt))
    }
    if let seq = message.seq, seq == firstUnread { above.append(TextFormat.unreadLine) }
    return above.flatMap(draw) + rows
  }

  /// The rows that fit, and the messages that have any of them.
  ///
  /// - Parameter line: a message as text.
  /// - Throws: an error of the store.
  mutating func visible(
    _ height: Int, _ line: (Message) -> String
  ) throws -> (rows: [[UInt8]], messages: ArraySlice<Entry>) {
    var blocks: [[[UInt8]]] = []
    var (index, left) = (last.index, height)
    while left > 0 {
      if index <= 0 { index += try readOlder() }
      if index < 0 { break }
      var block = block(index, line)
      if index == last.index { block.removeLast(min(last.hidden, block.count)) }
      blocks.append(block.suffix(left))
      left -= block.count
      index -= 1
    }
    let messages = index < last.index ? entries[(index + 1)...last.index] : []
    return (blocks.reversed().flatMap(\.self), messages)
  }

  /// Goes back in the conversation by some rows, as far as there are messages for a whole screen.
  mutating func goBack(_ count: Int, height: Int, _ line: (Message) -> String) throws {
    guard !entries.isEmpty else { return }
    var place = last
    place.hidden += count
    while true {
      if place.index == 0 { place.index += try readOlder() }
      let size = block(place.index, line).count
      if place.hidden < size { break }
      if place.index == 0 {
        place.hidden = size - 1
        break
      }
      place.hidden -= size
      place.index -= 1
    }
    bottom = place
    let missing = try height - visible(height, line).rows.count
    if missing > 0 { try goOn(missing, line) }
  }

  /// Goes on in the conversation by some rows, or to its end.
  mutating func goOn(_ count: Int, _ line: (Message) -> String) throws {
    guard var place = bottom else { return }
    place.hidden -= count
    while place.hidden < 0 {
      if place.index + 1 == entries.count {
        bottom = place
        guard try readNewer(), let index = bottom?.index else { return bottom = nil }
        place.index = index
      }
      place.index += 1
      place.hidden += block(place.index, line).count
    }
    bottom = place.index + 1 == entries.count && place.hidden == 0 && !hasNewer ? nil : place
  }
}
