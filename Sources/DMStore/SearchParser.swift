/// Parses a query.
///
/// The operators, in ascending order of precedence, are OR, AND, NOT, and words side by side.
struct SearchParser {
  /// Thrown if the query is not well-formed.
  struct Refusal: Error {}

  private var words: SearchWords
  private var next: SearchWords.Word?
  private var depth = 0

  /// The maximum depth to which operators may be nested.
  ///
  /// FTS5 refuses an expression that needs more than 100 entries of its stack. Each nested operator uses up to three
  /// entries.
  static let maximalHeight = 30

  init(_ text: String) {
    words = SearchWords(text)
  }

  /// Parses the whole query.
  ///
  /// Returns nil if the query contains no word.
  mutating func query() throws(Refusal) -> SearchTerm? {
    try advance()
    if next == nil { return nil }
    let result = try any()
    guard next == nil else { throw Refusal() }
    return result
  }

  private mutating func advance() throws(Refusal) { next = try words.next() }

  private mutating func any() throws(Refusal) -> SearchTerm? {
    var terms = [try all()]
    while next == .or {
      try advance()
      terms.append(try all())
    }
    return Self.one(terms, SearchTerm.any)
  }

  private mutating func all() throws(Refusal) -> SearchTerm? {
    var terms = [try but()]
    while next == .and {
      try advance()
      terms.append(try but())
    }
    return Self.one(terms, SearchTerm.all)
  }

  /// Parses `a NOT b NOT c` as `a NOT (b OR c)`, so that the depth does not grow with the number of NOTs.
  private mutating func but() throws(Refusal) -> SearchTerm? {
    let term = try sideBySide()
    var others: [SearchTerm?] = []
    while next == .not {
      try advance()
      others.append(try sideBySide())
    }
    guard let term, let other = Self.one(others, SearchTerm.any) else { return term }
    return .but(term, not: other)
  }

  private mutating func sideBySide() throws(Refusal) -> SearchTerm? {
    var terms: [SearchTerm?] = []
    while true {
      switch next {
      case .term(let term): terms.append(term)
      case .open:
        depth += 1
        guard depth <= Self.maximalHeight else { throw Refusal() }
        try advance()
        terms.append(try any())
        guard next == .close else { throw Refusal() }
        depth -= 1
      case .and, .or, .not, .close, nil:
        // An operator needs an operand on both sides, and parentheses must contain something.
        guard !terms.isEmpty else { throw Refusal() }
        return Self.one(terms, SearchTerm.all)
      }
      try advance()
    }
  }

  /// Joins terms into one term.
  ///
  /// Leaves out terms that contain no word, as FTS5 does for words side by side.
  private static func one(_ terms: [SearchTerm?], _ join: ([SearchTerm]) -> SearchTerm) -> SearchTerm? {
    let terms = terms.compactMap { $0 }
    return terms.count < 2 ? terms.first : join(terms)
  }
}

/// The tokens of a query, in order.
struct SearchWords {
  enum Word: Equatable {
    /// A word or a phrase; nil if it contains no letter or digit, as in a smiley.
    case term(SearchTerm?)
    case and, or, not
    case open, close
  }

  private var rest: Substring.UnicodeScalarView

  init(_ text: String) { rest = text[...].unicodeScalars }

  mutating func next() throws(SearchParser.Refusal) -> Word? {
    rest = rest.drop(while: \.properties.isWhitespace)
    switch rest.first {
    case nil: return nil
    case "(":
      rest.removeFirst()
      return .open
    case ")":
      rest.removeFirst()
      return .close
    case "\"": return .term(try phrase())
    default: return word()
    }
  }

  private mutating func phrase() throws(SearchParser.Refusal) -> SearchTerm? {
    rest.removeFirst()
    var text = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      if scalar != "\"" {
        text.append(scalar)
      } else if rest.first == "\"" {
        rest.removeFirst()
        text.append(" ")
      } else {
        let isPrefix = rest.first == "*"
        if isPrefix { rest.removeFirst() }
        return SearchTerm.phrase(String(text), isPrefix: isPrefix)
      }
    }
    throw SearchParser.Refusal()
  }

  /// Reads up to a space, a quotation mark, or a closing parenthesis without an opening one in the word.
  ///
  /// So `main()` is one word.
  private mutating func word() -> Word {
    var open = 0
    var end = rest.startIndex
    while end != rest.endIndex, !rest[end].properties.isWhitespace, rest[end] != "\"" {
      if rest[end] == "(" { open += 1 }
      if rest[end] == ")" {
        if open == 0 { break }
        open -= 1
      }
      rest.formIndex(after: &end)
    }
    var text = rest[..<end]
    rest = rest[end...]
    switch String(text) {
    case "AND": return .and
    case "OR": return .or
    case "NOT": return .not
    default: break
    }
    let isPrefix = text.last == "*"
    while text.last == "*" { text.removeLast() }
    return .term(SearchTerm.phrase(String(text), isPrefix: isPrefix))
  }
}
