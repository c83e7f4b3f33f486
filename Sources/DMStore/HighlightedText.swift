internal import DMModel

/// A text with marked hits, divided into the pieces from which a snippet is made.
struct HighlightedText {
  /// The characters that mark the start and the end of each hit.
  static let hitStart: Unicode.Scalar = "\u{2}"
  static let hitEnd: Unicode.Scalar = "\u{3}"

  /// A piece of a text, which a snippet contains whole or not at all: a word with the spaces after it or, in scripts
  /// such as Chinese, a single character.
  private struct Piece {
    var end: Int
    var cost: Int
    var hits = 0
  }

  private var scalars: [Unicode.Scalar] = []
  private var isHit: [Bool] = []
  private var pieces: [Piece] = []

  /// The maximum sum of the costs of the pieces of a snippet.
  ///
  /// A word costs 3, and a single character that is a piece costs 1.
  private static let budget = 36
  private static let costOfWord = 3
  /// The maximum length of a word in characters.
  ///
  /// A longer word, such as a URL, is divided into several pieces.
  private static let longestPiece = 40

  /// Divides a text into pieces.
  ///
  /// - Parameters:
  ///   - text: the original text.
  ///   - highlighted: the text as it is indexed, with the marks of hits; separators that were added for the index are
  ///     removed.
  init(_ text: String, highlighted: String) {
    var originals = text.unicodeScalars.makeIterator()
    var original = originals.next()
    var isHit = false
    var isNewHit = false
    for scalar in highlighted.unicodeScalars {
      if scalar == Self.hitStart || scalar == Self.hitEnd {
        isHit = scalar == Self.hitStart
        isNewHit = isHit
      } else if let plain = original, scalar == plain || SearchText.kind(of: plain.value) == .space {
        append(plain, isHit: isHit, startsHit: isNewHit)
        isNewHit = false
        original = originals.next()
      }
    }
  }

  private mutating func append(_ scalar: Unicode.Scalar, isHit hit: Bool, startsHit: Bool) {
    let isAlone = SearchText.kind(of: scalar.value) == .alone
    let start = pieces.count < 2 ? 0 : pieces[pieces.count - 2].end
    if isAlone || pieces.isEmpty || pieces[pieces.count - 1].cost < Self.costOfWord
      || scalars.count - start >= Self.longestPiece || (scalars.last == " " && scalar != " ")
    {
      pieces.append(Piece(end: scalars.count, cost: isAlone ? 1 : Self.costOfWord))
    }
    scalars.append(scalar)
    isHit.append(hit)
    pieces[pieces.count - 1].end = scalars.count
    if startsHit { pieces[pieces.count - 1].hits += 1 }
  }

  /// Returns the part of the text with the most hits, and the text around it.
  ///
  /// If several parts have the most hits, returns the first of them.
  func snippet() -> Snippet {
    guard !pieces.isEmpty else { return Snippet(parts: []) }
    var (first, last) = (0, 0)
    var (start, cost, hits, most) = (0, 0, 0, 0)
    for (end, piece) in pieces.enumerated() {
      cost += piece.cost
      hits += piece.hits
      while cost > Self.budget, start < end {
        cost -= pieces[start].cost
        hits -= pieces[start].hits
        start += 1
      }
      if hits > most { (first, last, most) = (start, end, hits) }
    }
    while first < last, pieces[first].hits == 0 { first += 1 }
    cost = pieces[first...last].reduce(0) { $0 + $1.cost }
    var grows = true
    while grows {
      grows = false
      if first > 0, cost + pieces[first - 1].cost <= Self.budget {
        first -= 1
        cost += pieces[first].cost
        grows = true
      }
      if last < pieces.count - 1, cost + pieces[last + 1].cost <= Self.budget {
        last += 1
        cost += pieces[last].cost
        grows = true
      }
    }
    return cut(first == 0 ? 0 : pieces[first - 1].end, pieces[last].end)
  }

  private func cut(_ start: Int, _ end: Int) -> Snippet {
    var end = end
    if end < scalars.count {
      while end > start, scalars[end - 1] == " " { end -= 1 }
    }
    var parts: [Snippet.Part] = []
    var text = String.UnicodeScalarView(start > 0 ? ["…"] : [])
    var wasHit = false
    for index in start..<end {
      if isHit[index] != wasHit {
        if !text.isEmpty { parts.append(Snippet.Part(text: String(text), isHit: wasHit)) }
        text = String.UnicodeScalarView()
        wasHit = isHit[index]
      }
      text.append(scalars[index])
    }
    if wasHit || end == scalars.count {
      if !text.isEmpty { parts.append(Snippet.Part(text: String(text), isHit: wasHit)) }
      text = String.UnicodeScalarView()
    }
    if end < scalars.count {
      text.append("…")
      parts.append(Snippet.Part(text: String(text), isHit: false))
    }
    return Snippet(parts: parts)
  }
}
