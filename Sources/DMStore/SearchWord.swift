/// A query of one word of ASCII letters and digits, which is found in a text in ASCII without an index.
///
/// Most queries are one word. Creating an index in memory for their snippets takes as long as a third of the search.
struct SearchWord: Equatable {
  /// The word in lower case.
  private let bytes: [UInt8]
  private let isPrefix: Bool

  /// The length of the longest word that is compared without the index, which cuts longer ones.
  static let longest = 1000

  /// - Returns: nil if the text is not one such word.
  init?(_ text: String, isPrefix: Bool) {
    bytes = Array(text.lowercased().utf8)
    self.isPrefix = isPrefix
    guard 1...Self.longest ~= bytes.count, SearchText.isASCII(text), bytes.allSatisfy(Self.isInWord) else { return nil }
  }

  /// The text with U+0002 before and U+0003 after each occurrence of the word, as `highlight` of FTS5 returns it.
  ///
  /// Nil if the text is not in ASCII, or if it has a word that is too long.
  func marked(in text: String) -> (text: String, isFound: Bool)? {
    guard SearchText.isASCII(text) else { return nil }
    let (whole, lower) = (Array(text.utf8), Array(text.lowercased().utf8))
    var (result, isFound): ([UInt8], Bool) = ([], false)
    var start = 0
    while start < whole.count {
      let word = lower[start...].prefix(while: Self.isInWord)
      guard word.count <= Self.longest else { return nil }
      let isHit = isPrefix ? word.starts(with: bytes) : word.elementsEqual(bytes)
      let end = max(word.endIndex, start + 1)
      result += isHit ? [2] + whole[start..<end] + [3] : whole[start..<end]
      isFound = isFound || isHit
      start = end
    }
    return (String(decoding: result, as: UTF8.self), isFound)
  }

  private static func isInWord(_ byte: UInt8) -> Bool { SearchText.isWord(Unicode.Scalar(byte)) }
}
