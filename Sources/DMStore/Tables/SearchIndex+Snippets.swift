package import DMModel

extension SearchIndex {
  /// Keeps temporary tables in memory from now on; only outside a transaction (sqlite.org/pragma.html#pragma_temp_store).
  package func prepareSnippets() throws { try store.connection.execute("PRAGMA temp_store = MEMORY") }

  /// The text around the words that a query found, for each of a few texts, by their keys.
  ///
  /// The index has words and no texts, so the texts are put into a small index in memory with the same tokenizer, in
  /// which the same query finds the same words. This uses neither the disk nor the write lock.
  package func snippets(of texts: [(key: MessageKey, text: String)], for query: SearchQuery) throws -> KeyTable<Snippet>
  {
    var snippets = KeyTable<Snippet>()
    guard let expression = query.expression, !texts.isEmpty else { return snippets }
    try store.connection.execute(
      """
      CREATE TABLE IF NOT EXISTS temp.snippet_text (id INTEGER PRIMARY KEY, text TEXT);
      CREATE VIRTUAL TABLE IF NOT EXISTS temp.snippet USING fts5(
        text, content = snippet_text, content_rowid = id, columnsize = 0, tokenize = "unicode61 remove_diacritics 2");
      INSERT INTO temp.snippet (snippet) VALUES ('delete-all');
      DELETE FROM temp.snippet_text
      """)
    var lines = KeyTable<String>()
    for (key, text) in texts {
      let line = Self.onOneLine(text)
      lines[key.number] = line
      var insert = try store.connection.prepare("INSERT INTO temp.snippet_text (id, text) VALUES (?, ?)")
      insert.bind(key)
      insert.bind(SearchText.indexed(line))
      try insert.run()
    }
    try store.connection.execute("INSERT INTO temp.snippet (rowid, text) SELECT id, text FROM temp.snippet_text")
    var select = try store.connection.prepare(
      "SELECT rowid, highlight(snippet, 0, char(2), char(3)) FROM temp.snippet WHERE snippet MATCH ?")
    select.bind(expression)
    while try select.step() {
      let key = select.int64(0)
      snippets[key] = HighlightedText(lines[key] ?? "", highlighted: select.text(1)).snippet()
    }
    return snippets
  }

  /// Replaces each character that moves the cursor, or that marks a hit here, with a space.
  private static func onOneLine(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? " " : $0 }))
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case ..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: true
    default: false
    }
  }
}
