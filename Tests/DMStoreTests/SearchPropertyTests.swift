import Testing

@testable import DMModel
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

/// A simple implementation of a search.
indirect enum SearchModel {
  case phrase([String], isPrefix: Bool)
  case and(SearchModel, SearchModel)
  case or(SearchModel, SearchModel)
  case not(SearchModel, SearchModel)

  /// Characters, and the indexed form of each; `isAlone` if it is a word of its own.
  ///
  /// The list is short, so that searches find something.
  private static let characters: [(text: String, word: String, isAlone: Bool)] = [
    ("a", "a", false), ("B", "b", false), ("é", "e", false), ("e\u{301}", "e", false), ("ж", "ж", false),
    ("北", "北", true), ("京", "京", true), ("バ", "バ", true), ("한", "한", true), ("ก", "ก", true),
  ]
  private static let spaces = [" ", "-", "🙂", "\n", "…", "\u{1F}", "*", "\u{3000}"]

  static func text(_ random: inout SplitMix64) -> String { words(&random, upTo: 8).text }

  /// A text and its words.
  private static func words(_ random: inout SplitMix64, upTo count: Int, spaces: [String] = Self.spaces) -> (
    text: String, words: [String]
  ) {
    var text = ""
    var words: [String] = []
    var goesOn = false
    for _ in 0...random.below(count) {
      if random.chance(40) {
        text += spaces[random.below(spaces.count)]
        goesOn = false
      }
      let character = characters[random.below(characters.count)]
      text += character.text
      if goesOn, !character.isAlone { words[words.count - 1] += character.word } else { words.append(character.word) }
      goesOn = !character.isAlone
    }
    return (text, words)
  }

  static func random(_ random: inout SplitMix64, depth: Int = 0) -> (query: String, model: SearchModel) {
    guard depth < 3, random.chance(60) else {
      let isPrefix = random.chance(25)
      let isPhrase = random.chance(50)
      let (text, words) = words(&random, upTo: 3, spaces: isPhrase ? [" ", "-", "🙂"] : ["-", "🙂", "…"])
      return ((isPhrase ? "\"\(text)\"" : text) + (isPrefix ? "*" : ""), .phrase(words, isPrefix: isPrefix))
    }
    let (left, one) = Self.random(&random, depth: depth + 1)
    let (right, other) = Self.random(&random, depth: depth + 1)
    switch random.below(4) {
    case 0: return ("(\(left)) AND (\(right))", .and(one, other))
    case 1: return ("(\(left)) OR (\(right))", .or(one, other))
    case 2: return ("(\(left)) NOT (\(right))", .not(one, other))
    default: return ("(\(left)) (\(right))", .and(one, other))
    }
  }

  func finds(_ words: [String]) -> Bool {
    switch self {
    case .and(let one, let other): one.finds(words) && other.finds(words)
    case .or(let one, let other): one.finds(words) || other.finds(words)
    case .not(let one, let other): one.finds(words) && !other.finds(words)
    case .phrase(let phrase, let isPrefix):
      words.indices.contains { start in
        start + phrase.count <= words.count
          && phrase.indices.allSatisfy { index in
            let word = words[start + index]
            return isPrefix && index == phrase.count - 1 ? word.hasPrefix(phrase[index]) : word == phrase[index]
          }
      }
    }
  }

  static func texts(_ count: Int, _ random: inout SplitMix64) -> [(text: String, words: [String])] {
    (0..<count).map { _ in words(&random, upTo: 8) }
  }
}

@Suite struct SearchPropertyTests {
  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `a search finds the same messages as a naive scan of all texts`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let store = try SearchStore()
    let texts = SearchModel.texts(200, &random)
    try store.add(texts.map(\.text))
    var found = 0
    for _ in 0..<200 {
      let (query, model) = SearchModel.random(&random)
      let expected = texts.indices.filter { model.finds(texts[$0].words) }.map { MessageKey(number: Int64($0 + 1)) }
      #expect(try store.find(query) == expected.reversed(), "seed \(seed): \(query)")
      #expect(try store.find(query, .rank).sorted() == expected, "seed \(seed): \(query)")
      let snippets = try store.store.searchIndex.snippets(
        of: expected.prefix(5).map { ($0, texts[Int($0.number) - 1].text) }, for: SearchExpression(query))
      #expect(expected.prefix(5).allSatisfy { snippets[$0.number] != nil }, "seed \(seed): \(query)")
      #expect(Array(snippets.all).count == min(5, expected.count), "seed \(seed): \(query)")
      found += expected.count
    }
    #expect(found > 500)
  }

  @Test func `no random query is refused`() throws {
    var random = SplitMix64(seed: 1)
    let store = try SearchStore()
    try store.add(["a b c", "北京"])
    let parts = [
      "a", "b", "北京", " ", " ", "\"", "(", ")", "*", "AND", "OR", "NOT", ":", "-", "+", "^", "{", "}", "\0", "'", "🙂",
    ]
    for _ in 0..<3000 {
      let query = (0...random.below(12)).map { _ in parts[random.below(parts.count)] }.joined()
      _ = try store.find(query)
      _ = try store.find(query, .rank)
    }
  }
}
