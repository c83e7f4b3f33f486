/// What a user looks for, as the search index understands it.
///
/// Words, `"phrases"`, `prefix*`, AND, OR, NOT and parentheses, as in FTS5 (sqlite.org/fts5.html, section 3). Every word is
/// handed on in quotes, so that FTS5 never meets a character that it refuses; and what makes no sense as a query is
/// looked for as it stands, as one phrase. So no query is an error.
package struct SearchQuery: Equatable {
  /// The expression for MATCH; nil when there is no word in it, so that nothing is found.
  let expression: String?

  package init(_ text: String) {
    let text = String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? " " : $0 }))
    var parser = SearchParser(text)
    do {
      let term = try parser.query()
      guard term.map({ $0.height <= SearchParser.maximalHeight }) ?? true else { throw SearchParser.Refusal() }
      expression = term?.expression
    } catch {
      expression = SearchTerm.phrase(text, isPrefix: false)?.expression
    }
  }
}

/// A query as it was understood.
indirect enum SearchTerm: Equatable {
  /// Words that follow each other; the last may be the beginning of one.
  case words(String, isPrefix: Bool)
  case all([SearchTerm])
  case any([SearchTerm])
  case but(SearchTerm, not: SearchTerm)

  /// Nil when no word is in it.
  static func phrase(_ text: String, isPrefix: Bool) -> SearchTerm? {
    guard text.unicodeScalars.contains(where: SearchText.isWord) else { return nil }
    return .words(SearchText.indexed(text), isPrefix: isPrefix)
  }

  var expression: String {
    switch self {
    case .words(let text, let isPrefix):
      // A quotation mark within is no part of a word, and needs no doubling as a space.
      "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: " ") + "\""
        + (isPrefix ? "*" : "")
    case .all(let terms): Self.join(terms, " AND ")
    case .any(let terms): Self.join(terms, " OR ")
    case .but(let term, let other): "\(term.operand) NOT \(other.operand)"
    }
  }

  /// How many operators stand one in the other.
  var height: Int {
    switch self {
    case .words: 0
    case .all(let terms), .any(let terms): 1 + (terms.map(\.height).max() ?? 0)
    case .but(let term, let other): 1 + max(term.height, other.height)
    }
  }

  private var operand: String {
    if case .words = self { expression } else { "(\(expression))" }
  }

  private static func join(_ terms: [SearchTerm], _ separator: String) -> String {
    terms.map(\.operand).joined(separator: separator)
  }
}
