package import DMModel

// Reads: message, search, search_data.
// Writes: search, search_data, search_idx.

/// The full-text index of messages.
///
/// The index has the messages up to `SearchEnd`. A search reads the texts of the few messages after it.
package struct SearchIndex {
  let store: Store
  private var end: SearchEnd { SearchEnd(store: store) }

  /// The options with which an index in memory has the same words.
  static let options = #"columnsize = 0, tokenize = "unicode61 remove_diacritics 2""#

  /// Adds the words of a message that has been inserted, or leaves the message for later if it is one of the newest.
  package func add(_ text: String, of message: MessageKey) throws {
    if try end.leaves(message) { return }
    if try end.keptKey() < message {
      try addMessages(before: message)
      try end.move(to: message)
    }
    try insert(text, of: message)
  }

  /// Adds the messages after the end of the index that come before `message`.
  private func addMessages(before message: MessageKey) throws {
    var texts = try end.texts(before: message)
    while try texts.step() { try insert(texts.text(1), of: texts.messageKey(0)) }
  }

  private func insert(_ text: String, of message: MessageKey) throws {
    var insert = try store.connection.prepare("INSERT INTO search (rowid, text) VALUES (?, ?)")
    insert.bind(message)
    insert.bind(SearchText.indexed(text))
    try insert.run()
  }

  /// Removes the words of a message from the search index, if the index has the message.
  ///
  /// `text` must be the text that was added (sqlite.org/fts5.html, section 6.3).
  func remove(_ text: String, of message: MessageKey) throws {
    if try end.keptKey() < message { return }
    var delete = try store.connection.prepare("INSERT INTO search (search, rowid, text) VALUES ('delete', ?, ?)")
    delete.bind(message)
    delete.bind(SearchText.indexed(text))
    try delete.run()
  }

  /// Builds the index again from the messages.
  package func rebuild() throws {
    do throws(DMError) {
      try store.connection.execute("INSERT INTO search (search) VALUES ('delete-all')")
    } catch {
      guard error.code == .storeDamaged else { throw error }
      try empty()
    }
    try end.move(to: MessageKey(number: 0))
    let last = try store.messages.lastMessageKey()
    try addMessages(before: MessageKey(number: last.number + 1))
    try end.move(to: last)
  }

  /// Empties the tables of an index that can no longer be opened, in the same way as 'delete-all'.
  private func empty() throws {
    try store.connection.withShadowTables {
      try store.connection.execute(
        """
        DELETE FROM search_data; DELETE FROM search_idx;
        INSERT INTO search_data (id, block) VALUES (1, x''), (10, x'00000000000000')
        """)
    }
  }

  /// Merges the index into one segment, so that it no longer contains the words of deleted messages
  /// (sqlite.org/fts5.html, 'optimize').
  ///
  /// In SQLite 3.40, each call adds a level, and an index with more than 2,000 levels cannot be opened. Before that
  /// number is reached, the index is rebuilt, which is linear in the number of messages.
  package func optimize() throws {
    // Each level takes two bytes of the structure record.
    if try structureBytes() < Self.longStructure {
      return try store.connection.execute("INSERT INTO search (search) VALUES ('optimize')")
    }
    let transaction = try store.connection.begin(.write)
    try rebuild()
    try transaction.commit()
  }

  private static let longStructure = 1000

  private func structureBytes() throws -> Int {
    var structure = try store.connection.prepare("SELECT length(block) FROM search_data WHERE id = 10")
    return try structure.step() ? structure.int(0) : 0
  }

  /// Passes the keys of the found messages to `body`, in order, until `body` returns false.
  ///
  /// The function does not check whether the user sees the messages.
  ///
  /// - Parameter keys: the keys of the messages to search; nil for all messages.
  package func search(
    _ query: SearchExpression, _ order: SearchOrder, among keys: KeySet? = nil, _ body: (MessageKey) throws -> Bool
  ) throws {
    switch order {
    case .rank: try searchByRank(query, among: keys, body)
    case .newest: try searchByTime(query, among: keys, body)
    }
  }

  /// Reads the index in descending order of keys, so that the message that arrived last comes first.
  ///
  /// Reads only as many hits as `body` needs.
  private func searchByTime(
    _ query: SearchExpression, among chosen: KeySet?, _ body: (MessageKey) throws -> Bool
  ) throws {
    guard let expression = query.expression else { return }
    var statement = try store.connection.prepare("SELECT rowid FROM search WHERE search MATCH ? ORDER BY rowid DESC")
    statement.bind(expression)
    var newest = try end.hits(query)[...]
    func next() throws -> MessageKey? {
      while let key = try newest.popFirst()?.key ?? (statement.step() ? statement.messageKey(0) : nil) {
        if chosen?.contains(key) ?? true { return key }
      }
      return nil
    }
    var keys: [MessageKey] = []
    while keys.count <= Self.few {
      guard let key = try next() else {
        _ = try handOnByTime(keys, body)
        return
      }
      keys.append(key)
    }
    _ = try handOnFromTimeline(keys, more: next, body)
  }

  /// Ranks all hits with `Ranking`, but sorts only as many of the best hits as are needed.
  private func searchByRank(
    _ query: SearchExpression, among chosen: KeySet?, _ body: (MessageKey) throws -> Bool
  ) throws {
    guard let expression = query.expression else { return }
    try store.connection.addRanking()
    var hits = SearchHits()
    for hit in try end.hits(query) where chosen?.contains(hit.key) ?? true { hits.append(hit) }
    do {
      var statement = try store.connection.prepare("SELECT rowid, frequency(search) FROM search WHERE search MATCH ?")
      statement.bind(expression)
      while try statement.step() {
        let key = statement.messageKey(0)
        if chosen?.contains(key) ?? true { hits.append(SearchHits.Hit(rank: statement.double(1), key: key)) }
      }
    }
    while case let equals = hits.popEquals(few: Self.few), !equals.isEmpty {
      guard try handOnByTime(equals, body) else { return }
    }
  }

  /// The maximum number of keys for which the time of each message is looked up.
  ///
  /// For more keys, it is cheaper to read all messages in the order of their times.
  private static let few = 1000

  /// Passes keys to `body` in the order of the times of the messages, newest first.
  ///
  /// Returns false if `body` returned false.
  ///
  /// The order of keys is not the order of times, because imported messages arrive later than they were sent, and
  /// clocks can be wrong.
  private func handOnByTime(_ keys: [MessageKey], _ body: (MessageKey) throws -> Bool) throws -> Bool {
    if keys.count == 1 { return try body(keys[0]) }
    if keys.count > Self.few { return try handOnFromTimeline(keys, more: nil, body) }
    var entries: [(time: Int64, key: MessageKey)] = []
    entries.reserveCapacity(keys.count)
    for key in keys {
      var statement = try store.connection.prepare("SELECT created_at FROM message WHERE id = ?")
      statement.bind(key)
      if try statement.step() { entries.append((statement.int64(0), key)) }
    }
    entries.sort { $0 > $1 }
    for entry in entries {
      guard try body(entry.key) else { return false }
    }
    return true
  }

  /// Does the same as `handOnByTime`, but reads all messages, newest first.
  ///
  /// Calls `more` to get further keys in descending order, when they are needed.
  private func handOnFromTimeline(
    _ first: [MessageKey], more: (() throws -> MessageKey?)?, _ body: (MessageKey) throws -> Bool
  ) throws -> Bool {
    var keys = KeySet(upTo: try store.messages.lastMessageKey())
    for key in first { keys.insert(key) }
    var lowest = more == nil ? nil : first.last
    var statement = try store.connection.prepare(
      "SELECT id FROM message INDEXED BY message_created ORDER BY created_at DESC, id DESC")
    while try statement.step() {
      let key = statement.messageKey(0)
      while let current = lowest, current > key {
        lowest = try more?()
        if let lowest { keys.insert(lowest) }
      }
      if keys.remove(key) {
        guard try body(key) else { return false }
      } else if keys.isEmpty, lowest == nil {
        break
      }
    }
    return true
  }
}

/// The order of the hits of a search.
package enum SearchOrder {
  /// The best match first. If matches are equally good, the newest first.
  case rank
  case newest
}

extension SearchIndex {
  /// Keeps the temporary tables of this connection in memory.
  ///
  /// Call this only outside a transaction (sqlite.org/pragma.html#pragma_temp_store).
  package func prepareSnippets() throws { try store.connection.execute("PRAGMA temp_store = MEMORY") }

  /// The snippets of a few texts for a query, by the keys of the messages.
  ///
  /// The search index does not contain texts. Therefore these texts are added to a small index in memory with the same
  /// tokenizer, in which the query matches the same words. This index needs neither the disk nor the write lock.
  package func snippets(of texts: [(key: MessageKey, text: String)], for query: SearchExpression) throws -> KeyTable<
    Snippet
  > {
    var snippets = KeyTable<Snippet>()
    var others: [(key: MessageKey, text: String)] = []
    for (key, text) in texts {
      let line = Self.onOneLine(text)
      if let marked = query.word?.marked(in: line) {
        if marked.isFound { snippets[key.number] = HighlightedText(line, highlighted: marked.text).snippet() }
      } else {
        others.append((key, line))
      }
    }
    try addSnippets(of: others, for: query, to: &snippets)
    return snippets
  }

  private func addSnippets(
    of lines: [(key: MessageKey, text: String)], for query: SearchExpression, to snippets: inout KeyTable<Snippet>
  ) throws {
    guard let expression = query.expression, !lines.isEmpty else { return }
    try store.connection.execute(
      """
      CREATE TABLE IF NOT EXISTS temp.snippet_text (id INTEGER PRIMARY KEY, text TEXT);
      CREATE VIRTUAL TABLE IF NOT EXISTS temp.snippet USING fts5(
        text, content = snippet_text, content_rowid = id, \(Self.options));
      INSERT INTO temp.snippet (snippet) VALUES ('delete-all');
      DELETE FROM temp.snippet_text
      """)
    var texts = KeyTable<String>()
    for (key, line) in lines {
      texts[key.number] = line
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
      snippets[key] = HighlightedText(texts[key] ?? "", highlighted: select.text(1)).snippet()
    }
  }

  /// Replaces with a space each character that moves the cursor, and each character that marks a hit in a highlighted
  /// text.
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
