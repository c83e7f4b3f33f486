/// A query of one word of ASCII letters and digits, which is found in a text in ASCII without an index.
///
/// Most queries are one word. Creating an index in memory for their snippets takes as long as a third of the search.
struct SearchWord: Equatable {
  private let bytes: [UInt8]
  private let isPrefix: Bool

  /// Longer words are left to the index, which cuts them.
  private static let longest = 1000

  /// - Returns: nil if the text is not one such word.
  init?(_ text: String, isPrefix: Bool) {
    bytes = text.utf8.map(Self.lowercased)
    self.isPrefix = isPrefix
    guard 1...Self.longest ~= bytes.count, bytes.allSatisfy(Self.isInWord) else { return nil }
  }

  /// The text with U+0002 before and U+0003 after each occurrence of the word, as `highlight` of FTS5 returns it.
  ///
  /// Nil if the text is not in ASCII, or if it has a word that is too long.
  func marked(in text: String) -> (text: String, isFound: Bool)? {
    var (result, isFound): ([UInt8], Bool) = ([], false)
    var rest = Array(text.utf8)[...]
    guard rest.allSatisfy({ $0 < 0x80 }) else { return nil }
    while let first = rest.first {
      let word = rest.prefix(while: Self.isInWord)
      if word.isEmpty {
        result.append(first)
        rest = rest.dropFirst()
        continue
      }
      guard word.count <= Self.longest else { return nil }
      let isHit = matches(word)
      result += isHit ? [2] + word + [3] : word
      isFound = isFound || isHit
      rest = rest[word.endIndex...]
    }
    return (String(decoding: result, as: UTF8.self), isFound)
  }

  private func matches(_ word: ArraySlice<UInt8>) -> Bool {
    let start = isPrefix ? word.prefix(bytes.count) : word
    return start.count == bytes.count && zip(start, bytes).allSatisfy { Self.lowercased($0) == $1 }
  }

  private static func isInWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
  }
}
