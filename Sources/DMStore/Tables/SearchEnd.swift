package import DMModel

// Reads: message, search_end.
// Writes: search_end.

/// The end of the search index: the last message whose words the index has, and the few messages after it.
///
/// Adding one message to the index changes six pages of the database, and adding 64 messages changes hardly more. So the
/// newest messages stay out of the index until there are more than 64 of them. All other messages are in the index, also
/// those that were edited later.
package struct SearchEnd {
  let store: Store

  /// The maximum number of messages with a text after the end.
  package static let most = 64

  package init(store: Store) { self.store = store }

  /// The key of the last message whose words the index has; 0 if there is none.
  package func key() throws -> MessageKey {
    var statement = try store.connection.prepare("SELECT message FROM search_end")
    return try statement.step() ? statement.messageKey(0) : MessageKey(number: 0)
  }

  /// The same key, which a write transaction reads once.
  func keptKey() throws -> MessageKey {
    if let end = store.searchEnd { return end }
    let end = try key()
    store.searchEnd = end
    return end
  }

  /// Whether a message that is written now stays out of the index.
  func leaves(_ message: MessageKey) throws -> Bool {
    let end = try keptKey()
    return end < message && message.number - end.number <= Int64(Self.most)
  }

  func move(to message: MessageKey) throws {
    store.searchEnd = nil
    var update = try store.connection.prepare("INSERT OR REPLACE INTO search_end (id, message) VALUES (1, ?)")
    update.bind(message)
    try update.run()
  }

  /// The number of messages with a text after the end.
  package func waitingCount() throws -> Int {
    var count = try store.connection.prepare("SELECT count(*) FROM message WHERE id > ? AND text IS NOT NULL")
    count.bind(try key())
    return try count.step() ? count.int(0) : 0
  }

  /// The texts of the messages after the end and before another message, with their keys in ascending order.
  func texts(before message: MessageKey) throws -> Statement {
    var texts = try store.connection.prepare(
      "SELECT id, text FROM message WHERE id > ? AND id < ? AND text IS NOT NULL ORDER BY id")
    texts.bind(try key())
    texts.bind(message)
    return texts
  }

  /// The messages after the end that match, the newest first.
  ///
  /// The texts of these messages are added to an index in memory with the same tokenizer, in which the query matches the
  /// same words. Call `SearchIndex.prepareSnippets` before, outside a transaction.
  func hits(_ query: SearchExpression) throws -> [SearchHits.Hit] {
    guard let expression = query.expression else { return [] }
    var candidates: [(key: MessageKey, text: String)] = []
    var texts = try texts(before: MessageKey(number: .max))
    while try texts.step() {
      let text = texts.text(1)
      if query.mayMatch(text) { candidates.append((texts.messageKey(0), text)) }
    }
    // Creating the index takes as long as all other searching for a rare word.
    if candidates.isEmpty { return [] }
    try store.connection.addRanking()
    try store.connection.execute(
      """
      CREATE VIRTUAL TABLE IF NOT EXISTS temp.newest USING fts5(text, content = '', \(SearchIndex.options));
      INSERT INTO temp.newest (newest) VALUES ('delete-all')
      """)
    for (key, text) in candidates {
      var insert = try store.connection.prepare("INSERT INTO temp.newest (rowid, text) VALUES (?, ?)")
      insert.bind(key)
      insert.bind(SearchText.indexed(text))
      try insert.run()
    }
    var found = try store.connection.prepare(
      "SELECT rowid, frequency(newest) FROM temp.newest WHERE newest MATCH ? ORDER BY rowid DESC")
    found.bind(expression)
    var hits: [SearchHits.Hit] = []
    while try found.step() { hits.append(SearchHits.Hit(rank: found.double(1), key: found.messageKey(0))) }
    return hits
  }
}
