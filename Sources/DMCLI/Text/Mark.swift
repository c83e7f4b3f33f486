internal import DMModel

/// Control characters that mark parts of a text for `Screen`.
///
/// `Screen` replaces these marks with colors, or removes them. A text from a store has no marks, because `visible`
/// escapes its control characters.
package enum Mark {
  static let strong = "\u{E}"
  static let faint = "\u{F}"
  static let alert = "\u{10}"
  /// The mark of the first color for people.
  private static let firstPerson: UInt8 = 0x11
  static let colorCount: UInt8 = 6
  static let end = "\u{17}"
  /// Marks before and after a user's text that has right-to-left characters.
  static let bodyStart = "\u{2}"
  static let bodyEnd = "\u{3}"
  /// Marks before and after the text of a link; the address follows the first of the two marks.
  static let linkStart: UInt8 = 4
  static let linkEnd: UInt8 = 5
  /// Marks before and after a search hit; they are printed as asterisks if there are no colors.
  static let hitStart = "\u{18}"
  static let hitEnd = "\u{19}"
  /// The mark from which a line is filled up with a rule.
  static let fill = "\u{1A}"
  /// Marks before the parentheses of a message's line and before its text.
  ///
  /// The text begins on a line of its own if the part between the two marks takes more than a third of the width.
  static let notes = "\u{1C}"
  static let text = "\u{1D}"
  /// The mark before a mention of the reader.
  private static let mention = "\u{1E}"

  package static func strong(_ text: String) -> String { strong + text + end }
  package static func faint(_ text: String) -> String { faint + text + end }
  package static func alert(_ text: String) -> String { alert + text + end }
  static func mention(_ text: String) -> String { mention + text + end }
  /// A user's text, with marks around it if it has right-to-left characters.
  package static func body(_ text: String) -> String {
    isASCII(text) || !text.unicodeScalars.contains(where: isRightToLeft) ? text : bodyStart + text + bodyEnd
  }

  static func hasBody(_ text: String) -> Bool { text.utf8.contains(2) }

  /// A text with asterisks instead of the marks of search hits.
  ///
  /// Asterisks take columns, so they must be there before the text is wrapped.
  static func starred(_ text: String) -> String {
    let hasHit = text.utf8.withContiguousStorageIfAvailable { $0.contains { 0x18...0x19 ~= $0 } }
    guard hasHit ?? true else { return text }
    return text.replacing(text: hitStart, with: "**").replacing(text: hitEnd, with: "**")
  }

  private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFE, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
    default: false
    }
  }

  /// The looks of people: each color plain, and then each bold.
  package static let lookCount = 2 * Int(colorCount)

  /// A text in a look of people; a look past the last one begins again with the first.
  static func person(_ look: Int, _ text: String) -> String {
    let (isBold, color) = (look % lookCount).quotientAndRemainder(dividingBy: Int(colorCount))
    return "\(isBold == 1 ? strong : "")\(Unicode.Scalar(firstPerson + UInt8(color)))" + text + end
  }

  /// The look of a user who is no participant; it depends only on the handle.
  static func look(of handle: String) -> Int {
    // FNV-1a (isthe.com/chongo/tech/comp/fnv), because Swift's hashes differ between runs.
    let hash = handle.utf8.reduce(0x811C_9DC5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    return Int(hash >> 16) % lookCount
  }

  /// A text as a link to an address; the address must be ASCII.
  ///
  /// The address is encoded in Unicode tag characters, which have no width. A text from a store has none of them,
  /// because `visible` escapes them.
  static func link(_ text: String, to address: String) -> String {
    let tags = String.UnicodeScalarView(address.utf8.compactMap { Unicode.Scalar(firstTag + UInt32($0)) })
    return "\(Unicode.Scalar(linkStart))\(String(tags))\(text)\(Unicode.Scalar(linkEnd))"
  }

  private static let firstTag: UInt32 = 0xE0000

  /// The address that is encoded at the start of the bytes, and the number of bytes that encode it.
  static func address(in bytes: some Collection<UInt8>) -> (address: [UInt8], count: Int) {
    let text = String(decoding: bytes.prefix { $0 > 0x7F }, as: UTF8.self)
    let tags = text.unicodeScalars.prefix { firstTag..<(firstTag + 0x80) ~= $0.value }
    return (tags.map { UInt8($0.value - firstTag) }, 4 * tags.count)
  }

  /// A text without marks, for output that does not go through `Screen`.
  static func without(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value > 0x1F || !isMark(UInt8($0.value)) }))
  }

  static func isMark(_ byte: UInt8) -> Bool { 2...5 ~= byte || 0xE...0x1A ~= byte || 0x1C...0x1E ~= byte }
  static func isFill(_ byte: UInt8) -> Bool { byte == 0x1A }
  static func isNotes(_ byte: UInt8) -> Bool { byte == 0x1C }
  static func isText(_ byte: UInt8) -> Bool { byte == 0x1D }
  static func isMention(_ byte: UInt8) -> Bool { byte == 0x1E }
  /// The number of a color for people; nil if the byte is another mark.
  static func color(_ byte: UInt8) -> Int? {
    firstPerson..<(firstPerson + colorCount) ~= byte ? Int(byte - firstPerson) : nil
  }
}
