internal import DMKit

/// The messages that tell best what a talk was about.
struct Summary {
  let exchange: Exchange

  private var turns: [Turn] { exchange.talk.turns }
  private var cues: Cues { exchange.cues }
  /// How much less the other messages of a person tell after one was chosen.
  private static let repetition = 0.5

  /// At most `count` messages, in the order of the talk.
  ///
  /// - Parameter count: the maximum number of points.
  func points(_ count: Int) -> [DigestPoint] {
    if count == 0 { return [] }
    let ranked = LexRank(exchange.content.map { $0.sorted() })
    let scores = turns.indices.map { score($0, ranked.scores[$0]) }
    let chosen = count == .max ? turns.indices.filter { scores[$0] > 0 } : best(count, scores, ranked).sorted()
    return chosen.map { place in
      DigestPoint(.summary, turns[place].message.text, who: turns[place].message.sender, on: [turns[place].message])
    }
  }

  /// The messages with the highest scores that do not repeat each other, as indices of the talk.
  private func best(_ count: Int, _ scores: [Double], _ ranked: LexRank) -> [Int] {
    var (scores, chosen): ([Double], [Int]) = (scores, [])
    while chosen.count < count, let place = turns.indices.max(by: { scores[$0] < scores[$1] }), scores[place] > 0 {
      chosen.append(place)
      // A second message of a person, or on the same subject, tells less.
      for other in turns.indices {
        if turns[other].sender == turns[place].sender { scores[other] -= Self.repetition }
        scores[other] -= ranked.similarity(place, other)
      }
      scores[place] = 0
    }
    return chosen
  }

  /// How much a message says by itself.
  private func score(_ place: Int, _ centrality: Double) -> Double {
    let turn = turns[place]
    let words = exchange.content[place].count
    if words < 3 || turn.sentences.allSatisfy({ cues.has(.filler, $0) }) { return 0 }
    var score = Double(min(words, 12)) / 12 + 0.3 * centrality
    let (asks, isTrouble) = (exchange.asks[place], turn.has(.trouble, cues))
    if turn.addressees.isEmpty {
      // A problem or a question for all opens a talk, and can be understood alone.
      if asks || isTrouble { score += 1 }
    } else if asks {
      score -= 0.3
    }
    if turn.has(.solve, cues) || turn.has(.decide, cues) { score += 0.5 }
    if !asks, turn.has(.order, cues) || turn.has(.request, cues) { score += 0.3 }
    return score + 0.1 * Double(min(turn.message.reactions, 3))
  }
}
