internal import DMModel
internal import DMStore

/// Compares the search index with the messages: batches of messages are indexed again in memory, and their words are
/// subtracted from those of the stored index.
///
/// The newest messages, after `SearchEnd`, must not be in the index, and must be few.
final class SearchAudit {
  private let store: Store
  private let progress: (String) throws -> Void
  /// For each indexed message, the sum of the digests of its words; the order of the words does not change a sum.
  private var sums: [MessageKey: UInt64] = [:]

  private static let batchSize = 1000

  init(_ store: Store, _ progress: @escaping (String) throws -> Void) {
    self.store = store
    self.progress = progress
  }

  func run(_ findings: Findings) throws {
    let end = SearchEnd(store: store)
    let waitingCount = try end.waitingCount()
    if waitingCount > SearchEnd.most {
      findings.add(.search, nil, "\(waitingCount) messages are not in the search index", .repairSearchIndex)
    }
    let last = try end.key()
    try progress("reading the search index")
    try store.connection.execute(
      "CREATE VIRTUAL TABLE temp.stored_words USING fts5vocab('main', 'search', 'instance')")
    try add(words: "SELECT doc, term, offset FROM temp.stored_words", sign: 1)
    try makeIndex()
    var after = MessageKey(number: .min)
    var count = 0
    while let filled = try fill(after: after, upTo: last) {
      try add(words: "SELECT doc, term, offset FROM temp.fresh_words", sign: .max)
      try store.connection.execute("INSERT INTO temp.fresh (fresh) VALUES ('delete-all')")
      after = filled
      count += Self.batchSize
      try progress("\(count) messages held against the search index")
    }
    for key in sums.keys.sorted() {
      let subject = try store.messages.reference(to: key)
      findings.add(.search, subject, "the search index has other words of it than it has", .repairSearchIndex)
    }
    try lookUpWords(findings)
  }

  /// Looks up each word, because a search uses a table of the index that is not used for reading the whole index.
  private func lookUpWords(_ findings: Findings) throws {
    try store.connection.execute("CREATE VIRTUAL TABLE temp.stored_terms USING fts5vocab('main', 'search', 'row')")
    var words = try store.connection.prepare(text: "SELECT term, doc FROM temp.stored_terms")
    var (count, lostCount) = (0, 0)
    while try words.step() {
      count += 1
      if count % 4096 == 0 { try progress("\(count) words looked up in the search index") }
      var hits = try store.connection.prepare("SELECT count(*) FROM search WHERE search MATCH ?")
      hits.bind("\"\(words.text(0).replacing(text: "\"", with: "\"\""))\"")
      if try !hits.step() || hits.int(0) != words.int(1) { lostCount += 1 }
    }
    if lostCount > 0 {
      findings.add(.search, nil, "\(lostCount) words are in the search index and not found there", .repairSearchIndex)
    }
  }

  /// Creates an empty index in memory with the tokenizer of the stored one.
  private func makeIndex() throws {
    let sql: String
    do {
      var statement = try store.connection.prepare(
        "SELECT replace(sql, 'TABLE search ', 'TABLE temp.fresh ') FROM main.sqlite_schema WHERE name = 'search'")
      sql = try statement.step() ? statement.text(0) : ""
    }
    try store.connection.execute(sql)
    try store.connection.execute("CREATE VIRTUAL TABLE temp.fresh_words USING fts5vocab('temp', 'fresh', 'instance')")
  }

  /// Indexes the next batch of messages, up to the end of the stored index.
  ///
  /// - Returns: the last message of the batch; nil if there was none.
  private func fill(after key: MessageKey, upTo end: MessageKey) throws -> MessageKey? {
    var texts = try store.connection.prepare(
      "SELECT id, text FROM message WHERE id > ? AND id <= ? AND text IS NOT NULL ORDER BY id LIMIT ?")
    texts.bind(key)
    texts.bind(end)
    texts.bind(Self.batchSize)
    var last: MessageKey?
    while try texts.step() {
      // On a damaged page, keys may be in any order.
      guard texts.messageKey(0) > last ?? key else {
        throw DMError(.storeDamaged, "the messages of the store are not in the order of their keys; restore a backup")
      }
      last = texts.messageKey(0)
      var insert = try store.connection.prepare("INSERT INTO temp.fresh (rowid, text) VALUES (?, ?)")
      insert.bind(texts.messageKey(0))
      insert.bind(SearchText.indexed(texts.text(1)))
      try insert.run()
    }
    return last
  }

  private func add(words sql: String, sign: UInt64) throws {
    var words = try store.connection.prepare(text: sql)
    var count = 0
    while try words.step() {
      count += 1
      if count % 65536 == 0 { try progress("reading the search index") }
      var digest = Digest()
      words.withBytes(1) { digest.add($0 ?? UnsafeRawBufferPointer(start: nil, count: 0)) }
      digest.add(words.int64(2))
      add(digest.value &* sign, to: words.messageKey(0))
    }
  }

  private func add(_ value: UInt64, to message: MessageKey) {
    let sum = sums[message, default: 0] &+ value
    sums[message] = sum == 0 ? nil : sum
  }
}
