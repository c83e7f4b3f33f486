internal import DMModel
internal import DMSystem

/// Words and phrases by which a digest recognizes questions, promises and the like: `cues.txt`, and the lines that a
/// user adds.
package struct Cues: Sendable {
  /// What a phrase says about the sentence that has it; `cues.txt` explains each kind.
  enum Kind: String, CaseIterable, Sendable {
    case ask, idle, commit, request, order, decide, solve, thanks, urgent, trouble, day, until, lead, filler, common
  }

  private struct Phrase: Sendable {
    let words: [String]
    /// Whether the phrase must begin the sentence, or be all of it.
    let begins, ends: Bool
  }

  /// The phrases of each kind, by their first word.
  private var phrases: [Kind: [String: [Phrase]]] = [:]

  /// The phrases that are in the program.
  package init() throws { try add(String(decoding: PackageResources.cues_txt, as: UTF8.self), from: "cues.txt") }

  /// Adds phrases.
  ///
  /// - Throws: `bad_field` for a line that does not begin with a kind, or has no phrase.
  package mutating func add(_ text: String, from file: String) throws {
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let words = line.split(whereSeparator: \.isWhitespace)
      guard let first = words.first, first.utf8.first != UInt8(ascii: "#") else { continue }
      guard let kind = Kind(rawValue: String(first)), words.count > 1 else {
        throw DMError(
          .badField, "line \(index + 1) of '\(file)' cannot be read; write a kind and a phrase, such as 'ask how do'",
          subject: file)
      }
      add(words.dropFirst(), kind)
    }
  }

  private mutating func add(_ words: ArraySlice<Substring>, _ kind: Kind) {
    var words = words.map { $0.lowercased() }
    let begins = words[0].utf8.first == UInt8(ascii: "^")
    if begins { words[0] = words[0].without("^") }
    let ends = words[words.count - 1].utf8.last == UInt8(ascii: "$")
    if ends { words[words.count - 1] = String(words[words.count - 1].dropLast()) }
    phrases[kind, default: [:]][words[0], default: []].append(Phrase(words: words, begins: begins, ends: ends))
  }

  /// Where the first phrase of a kind is in a sentence, as indices of its words; nil if there is none.
  func place(of kind: Kind, in sentence: Sentence) -> Range<Int>? {
    guard let table = phrases[kind] else { return nil }
    let words = sentence.words
    // A phrase that must begin may follow words that say nothing, such as 'ok, then'.
    var begins = false
    for (start, word) in words.enumerated() {
      begins = sentence.starts.contains(start) || begins && has(.lead, word: words[start - 1])
      for phrase in table[word] ?? [] where !phrase.begins || (phrase.ends ? start == 0 : begins) {
        let end = start + phrase.words.count
        guard end <= words.count, !phrase.ends || end == words.count else { continue }
        if words[start..<end].elementsEqual(phrase.words) { return start..<end }
      }
    }
    return nil
  }

  func has(_ kind: Kind, _ sentence: Sentence) -> Bool { place(of: kind, in: sentence) != nil }

  /// Whether a word alone is a phrase of a kind.
  func has(_ kind: Kind, word: String) -> Bool {
    phrases[kind]?[word]?.contains { $0.words.count == 1 } ?? false
  }
}
