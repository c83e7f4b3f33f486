/// What the parts of a text are, as control characters, which `visible` never lets through from a store.
///
/// `Screen` turns them into colours, or leaves them out.
package enum Mark {
  static let strong = "\u{E}"
  static let faint = "\u{F}"
  static let alert = "\u{10}"
  /// The first of the colours of people.
  private static let firstPerson: UInt8 = 0x11
  static let personCount: UInt8 = 6
  static let end = "\u{17}"
  /// Around what somebody wrote from right to left.
  static let bodyStart = "\u{2}"
  static let bodyEnd = "\u{3}"
  /// Around what leads to an address.
  static let linkStart: UInt8 = 4
  static let linkEnd: UInt8 = 5
  /// Around what was searched: asterisks if there are no colours.
  static let hitStart = "\u{18}"
  static let hitEnd = "\u{19}"

  package static func strong(_ text: String) -> String { strong + text + end }
  package static func faint(_ text: String) -> String { faint + text + end }
  package static func alert(_ text: String) -> String { alert + text + end }
  /// What somebody wrote, with marks around it if it has words from right to left.
  package static func body(_ text: String) -> String {
    isASCII(text) || !text.unicodeScalars.contains(where: isRightToLeft) ? text : bodyStart + text + bodyEnd
  }

  static func hasBody(_ text: String) -> Bool { text.utf8.contains(2) }

  /// A text with asterisks around its hits, which take columns, unlike marks.
  static func starred(_ text: String) -> String {
    guard text.utf8.contains(where: { 0x18...0x19 ~= $0 }) else { return text }
    return text.replacing(hitStart, with: "**").replacing(hitEnd, with: "**")
  }

  private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFE, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
    default: false
    }
  }

  /// A text in the colour of a person, which is the same wherever they appear.
  static func person(_ handle: String, _ text: String) -> String {
    // FNV-1a (isthe.com/chongo/tech/comp/fnv), because the hashes of Swift differ from run to run.
    let hash = handle.utf8.reduce(0x811C_9DC5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    return "\(Unicode.Scalar(firstPerson + UInt8(hash >> 16 % UInt32(personCount))))" + text + end
  }

  /// A text that leads to an address of ASCII.
  ///
  /// The address is written in the tag characters of Unicode, which have no width, and which `visible` never lets
  /// through from a store.
  static func link(_ text: String, to address: String) -> String {
    let tags = String.UnicodeScalarView(address.utf8.compactMap { Unicode.Scalar(firstTag + UInt32($0)) })
    return "\(Unicode.Scalar(linkStart))\(String(tags))\(text)\(Unicode.Scalar(linkEnd))"
  }

  private static let firstTag: UInt32 = 0xE0000

  /// The address at the start of bytes, and how many of them it takes.
  static func address(in bytes: some Collection<UInt8>) -> (address: [UInt8], count: Int) {
    let text = String(decoding: bytes.prefix { $0 > 0x7F }, as: UTF8.self)
    let tags = text.unicodeScalars.prefix { firstTag..<(firstTag + 0x80) ~= $0.value }
    return (tags.map { UInt8($0.value - firstTag) }, 4 * tags.count)
  }

  /// A text without marks, for what does not go through `Screen`.
  static func without(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value > 0x1F || !isMark(UInt8($0.value)) }))
  }

  static func isMark(_ byte: UInt8) -> Bool { 2...5 ~= byte || 0xE...0x19 ~= byte }
  /// The number of the colour of a person, or nil.
  static func person(_ byte: UInt8) -> Int? {
    firstPerson..<(firstPerson + personCount) ~= byte ? Int(byte - firstPerson) : nil
  }
}
