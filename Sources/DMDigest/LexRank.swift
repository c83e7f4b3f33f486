internal import DMSystem

/// How central each text is among others: LexRank (Erkan and Radev, "LexRank: Graph-based Lexical Centrality as
/// Salience in Text Summarization", JAIR 22, 2004).
struct LexRank {
  /// The words of each text with their weights, of length 1 in all.
  let vectors: [[(word: Int, weight: Double)]]
  /// The centrality of each text; the most central one has 1.
  let scores: [Double]

  /// Two texts count as similar from this cosine on, as in the paper.
  private static let threshold = 0.1

  /// A word that more texts have says little, and would make the time quadratic.
  private static let mostTexts = 200
  /// Of the texts that are similar to one, this number is kept.
  private static let mostNeighbors = 100

  /// Linear in the number of words.
  init(_ texts: [[String]]) {
    vectors = Self.vectors(texts)
    scores = Self.rank(Self.neighbors(vectors))
  }

  /// The cosine between two texts.
  func similarity(_ one: Int, _ other: Int) -> Double {
    var (sum, left, right) = (0.0, vectors[one][...], vectors[other][...])
    while let a = left.first, let b = right.first {
      if a.word == b.word { sum += a.weight * b.weight }
      if a.word <= b.word { left.removeFirst() }
      if b.word <= a.word { right.removeFirst() }
    }
    return sum
  }

  private static func vectors(_ texts: [[String]]) -> [[(word: Int, weight: Double)]] {
    var numbers: [String: Int] = [:]
    var frequencies: [Int] = []
    let counts = texts.map { words in
      var counts: [Int: Int] = [:]
      for word in words {
        let number = numbers[word] ?? frequencies.count
        if number == frequencies.count {
          numbers[word] = number
          frequencies.append(0)
        }
        counts[number, default: 0] += 1
      }
      for number in counts.keys { frequencies[number] += 1 }
      return counts
    }
    return counts.map { counts in
      let weights = counts.sorted { $0.key < $1.key }.map { number, count in
        (word: number, weight: Double(count) * naturalLogarithm(Double(texts.count + 1) / Double(frequencies[number])))
      }
      let length = weights.reduce(0) { $0 + $1.weight * $1.weight }.squareRoot()
      return length == 0 ? [] : weights.map { ($0.word, $0.weight / length) }
    }
  }

  /// For each text, those that are similar to it.
  private static func neighbors(_ vectors: [[(word: Int, weight: Double)]]) -> [[Int]] {
    var texts: [Int: [(text: Int, weight: Double)]] = [:]
    for (text, vector) in vectors.enumerated() {
      for entry in vector { texts[entry.word, default: []].append((text, entry.weight)) }
    }
    var cosines = [Double](repeating: 0, count: vectors.count)
    return vectors.map { vector in
      var touched: [Int] = []
      for entry in vector {
        guard let others = texts[entry.word], others.count <= mostTexts else { continue }
        for other in others {
          if cosines[other.text] == 0 { touched.append(other.text) }
          cosines[other.text] += entry.weight * other.weight
        }
      }
      defer { for text in touched { cosines[text] = 0 } }
      return Array(touched.lazy.filter { cosines[$0] >= threshold }.prefix(mostNeighbors))
    }
  }

  /// The stationary distribution of a walk over similar texts, which begins anew with probability 0.15.
  private static func rank(_ neighbors: [[Int]]) -> [Double] {
    var scores = [Double](repeating: 1, count: neighbors.count)
    for _ in 0..<30 {
      var next = [Double](repeating: 0.15, count: neighbors.count)
      for (text, others) in neighbors.enumerated() {
        let share = 0.85 * scores[text] / Double(max(1, others.count))
        for other in others { next[other] += share }
      }
      scores = next
    }
    let highest = scores.max() ?? 1
    return scores.map { $0 / highest }
  }
}
