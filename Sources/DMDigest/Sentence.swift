internal import DMModel

/// A sentence of a message, as words in lower case.
struct Sentence: Sendable {
  /// The words, without the signs around them: `xorg.conf`, `i'll`, `bob2`.
  var words: [String] = []
  /// The indices of the words that begin a part of the sentence: the first one, and those after a comma or another sign.
  var starts: Set<Int> = [0]
  /// Whether the sentence ends with a question mark.
  var asks = false

  /// The sentences of a text, without the addresses of pages.
  ///
  /// A sentence ends at a line feed, and after a word with `.`, `!` or `?`. Linear in the length of the text.
  static func all(of text: Substring) -> [Sentence] {
    var sentences: [Sentence] = []
    for line in text.split(whereSeparator: \.isNewline) {
      var sentence = Sentence()
      for part in line.split(whereSeparator: \.isWhitespace) where !part.isAddress {
        let word = part.word
        if !word.isEmpty { sentence.words.append(word) }
        guard let end = part.end else { continue }
        if ",;:-".contains(end) {
          sentence.starts.insert(sentence.words.count)
          continue
        }
        sentence.asks = end == "?"
        sentences.append(sentence)
        sentence = Sentence()
      }
      if !sentence.words.isEmpty { sentences.append(sentence) }
    }
    return sentences
  }
}

extension Substring {
  /// Whether the part of a text is the address of a page or of a person.
  var isAddress: Bool {
    range(of: "://") != nil || utf8.starts(with: "www.".utf8)
  }

  /// The part of a text in lower case, without the signs before and after it, and with plain apostrophes.
  fileprivate var word: String {
    let isSign: (Character) -> Bool = { !$0.isLetter && !$0.isNumber }
    let inner = drop(while: isSign)
    guard let last = inner.lastIndex(where: { !isSign($0) }) else { return "" }
    let word = inner[...last].lowercased()
    return word.utf8.contains(0xE2) ? word.replacing(text: "\u{2019}", with: "'") : word
  }

  /// The sign after the part's last letter or number that ends a sentence or a part of one: `?` if there is one, else
  /// the first of these signs.
  fileprivate var end: Character? {
    var end: Character?
    for sign in reversed() {
      if sign == "?" { return "?" }
      if ".!,;:-".contains(sign) { end = sign } else if sign.isLetter || sign.isNumber { break }
    }
    return end
  }
}
