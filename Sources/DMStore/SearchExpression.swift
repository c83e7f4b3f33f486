internal import DMModel

/// A user's query, translated to the syntax of the search index.
///
/// A query may have words, `"phrases"`, `prefix*`, AND, OR, NOT and parentheses, as in FTS5 (sqlite.org/fts5.html,
/// section 3). The translation puts every word in quotation marks, so that FTS5 never gets a character that it refuses.
/// A text that is not a well-formed query is searched for as one phrase, so no query is an error.
package struct SearchExpression: Equatable {
  /// The expression for MATCH.
  ///
  /// Nil if the query contains no word, and therefore matches nothing.
  let expression: String?
  /// Lower-case words: a text that matches has at least one of them; nil if no such words were found.
  private var necessary: [String]?
  /// The only word of the query; nil if the query has other parts.
  private(set) var word: SearchWord?

  package init(_ text: String) {
    let text = String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? " " : $0 }))
    var parser = SearchParser(text)
    do {
      let term = try parser.query()
      guard term.map({ $0.height <= SearchParser.maximalHeight }) ?? true else { throw SearchParser.Refusal() }
      expression = term?.expression
      necessary = term?.necessary
      if case .words(let text, let isPrefix)? = term { word = SearchWord(text, isPrefix: isPrefix) }
    } catch {
      expression = SearchTerm.phrase(text, isPrefix: false)?.expression
    }
  }

  /// Whether a text may match; false only if it certainly does not.
  ///
  /// Only texts in ASCII are compared, because the index folds other characters.
  func mayMatch(_ text: String) -> Bool {
    guard let necessary, SearchText.isASCII(text) else { return true }
    let text = text.lowercased()
    return necessary.contains { text.contains(text: $0) }
  }
}

/// A parsed query.
indirect enum SearchTerm: Equatable {
  /// Words that follow each other. With `isPrefix`, the last word is a prefix.
  case words(String, isPrefix: Bool)
  case all([SearchTerm])
  case any([SearchTerm])
  case but(SearchTerm, not: SearchTerm)

  /// A phrase; nil if the text contains no word.
  static func phrase(_ text: String, isPrefix: Bool) -> SearchTerm? {
    guard text.unicodeScalars.contains(where: SearchText.isWord) else { return nil }
    return .words(SearchText.indexed(text), isPrefix: isPrefix)
  }

  var expression: String {
    switch self {
    case .words(let text, let isPrefix):
      // A quotation mark is not part of a word, so a space can replace the mark, and no escape is needed.
      "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: " ") + "\""
        + (isPrefix ? "*" : "")
    case .all(let terms): Self.join(terms, " AND ")
    case .any(let terms): Self.join(terms, " OR ")
    case .but(let term, let other): "\(term.operand) NOT \(other.operand)"
    }
  }

  /// Lower-case words: a text that matches has at least one of them; nil if no such words were found.
  var necessary: [String]? {
    switch self {
    case .words(let text, _):
      let words = SearchText.isASCII(text) ? text.unicodeScalars.split { !SearchText.isWord($0) } : []
      // The index cuts very long words, and a text may have only the beginning of such a word.
      let longest = words.filter { $0.count <= SearchWord.longest }.max { $0.count < $1.count }
      return longest.map { [String($0).lowercased()] }
    case .all(let terms): return terms.lazy.compactMap { $0.necessary }.first
    case .any(let terms):
      let words = terms.compactMap { $0.necessary }
      return words.count == terms.count ? words.flatMap { $0 } : nil
    case .but(let term, _): return term.necessary
    }
  }

  /// The depth to which operators are nested.
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
