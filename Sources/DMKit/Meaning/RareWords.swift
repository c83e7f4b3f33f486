internal import DMModel
internal import DMStore
internal import DMSystem

/// Finds messages by the rarest words of a text, for a search by meaning without vectors.
///
/// A word counts the more, the fewer of the messages that the user sees have it, and the shorter the message is: BM25
/// (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009) in which a word counts once in each message.
struct RareWords {
  private struct Word {
    let text: String
    let messages: [MessageKey]
  }

  private let chosen: [Word]
  private let session: Session

  /// The maximum numbers of words of the text, of words that are used, and of messages with a word.
  private static let (mostRead, mostUsed, mostMessages) = (64, 8, 1000)

  /// - Parameter passes: whether a message may be found.
  init(in text: String, _ session: Session, _ passes: (MessageKey) throws -> Bool) throws {
    self.session = session
    var found: [Word] = []
    for word in Self.words(of: text) {
      var messages: [MessageKey] = []
      try session.store.searchIndex.search(SearchExpression("\"\(word)\""), .newest) { key in
        if try passes(key) { messages.append(key) }
        return messages.count < Self.mostMessages
      }
      if !messages.isEmpty { found.append(Word(text: word, messages: messages)) }
    }
    // The sort is stable, so words that are equally rare stay in their order.
    chosen = Array(found.sorted { $0.messages.count < $1.messages.count }.prefix(Self.mostUsed))
  }

  /// The different words of a text, as the search index has them.
  private static func words(of text: String) -> [String] {
    var (words, seen): ([String], Set<String>) = ([], [])
    let parts = SearchText.indexed(text).lowercased().unicodeScalars.split { !SearchText.isWord($0) }
    for word in parts.lazy.map({ String($0) }) where words.count < mostRead && seen.insert(word).inserted {
      words.append(word)
    }
    return words
  }

  /// The query that matches the words; nil if no message has one of them.
  var expression: SearchExpression? {
    chosen.isEmpty ? nil : SearchExpression(chosen.map { "\"\($0.text)\"" }.joined(separator: " OR "))
  }

  /// The best messages, at most `limit`.
  func best(_ limit: Int) throws -> [MessageKey] {
    var weights: [MessageKey: Double] = [:]
    for word in chosen {
      // A word of half of all counted messages, or more, has hardly any weight.
      let (all, count) = (Double(Self.mostMessages), Double(word.messages.count))
      let weight = max(0.01, naturalLogarithm((all - count + 0.5) / (count + 0.5) + 1))
      for key in word.messages { weights[key, default: 0] += weight }
    }
    // Lengths are read of the messages that can be among the best: short messages gain at most twice.
    let candidates = weights.sorted { $0.value != $1.value ? $0.value > $1.value : $0.key > $1.key }
      .prefix(max(Self.mostMessages, limit))
    let lengths = try candidates.map { key, _ in
      try session.store.messages.text(of: key, as: session.viewer)?.utf8.count ?? 0
    }
    let average = Double(max(1, lengths.reduce(0, +))) / Double(max(1, lengths.count))
    let ranked = zip(candidates, lengths).map { candidate, length in
      let norm = 1.2 * (0.25 + 0.75 * Double(length) / average)
      return (key: candidate.key, score: candidate.value * 2.2 / (1 + norm))
    }
    return ranked.sorted { $0.score != $1.score ? $0.score > $1.score : $0.key > $1.key }.prefix(limit).map(\.key)
  }
}
