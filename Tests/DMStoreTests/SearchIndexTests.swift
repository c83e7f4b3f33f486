import Testing

@testable import DMModel
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

/// A store whose messages are inserted without a `Messenger`.
final class SearchStore {
  let directory: TemporaryStore
  let store: Store
  private var seq = 0

  init() throws {
    directory = try TemporaryStore()
    store = try #require(try Store.open(directory.location))
    try store.connection.execute(
      """
      INSERT INTO conversation (id, uuid, direct_low, direct_high, created_at, last_activity)
      VALUES (1, randomblob(16), 1, 2, 0, 0)
      """)
  }

  /// Adds messages; the first is number 1.
  func add(_ texts: [String], at time: (Int) -> Int = { $0 }) throws {
    try store.write {
      for text in texts {
        seq += 1
        var insert = try store.connection.prepare(
          """
          INSERT INTO message (id, uuid, conversation, seq, sender, created_at, text)
          VALUES (?1, randomblob(16), 1, ?1, 1, ?2, ?3)
          """)
        insert.bind(seq)
        insert.bind(time(seq))
        insert.bind(text)
        try insert.run()
        try store.searchIndex.add(text, of: MessageKey(number: Int64(seq)))
      }
    }
  }

  func find(_ query: String, _ order: SearchOrder = .newest, limit: Int = .max) throws -> [MessageKey] {
    var found: [MessageKey] = []
    try store.searchIndex.search(SearchExpression(query), order) {
      found.append($0)
      return found.count < limit
    }
    return found
  }

  func snippet(_ text: String, _ query: String) throws -> String? {
    try store.searchIndex.snippets(of: [(7, text)], for: SearchExpression(query))[7]?.marked
  }

  /// All entries of the index: word, message, offset.
  func instances() throws -> [String] {
    try directory.texts(
      "SELECT term || ' ' || doc || ' ' || offset FROM temp.instances ORDER BY 1", after: Self.vocabulary)
  }

  static let vocabulary = "CREATE VIRTUAL TABLE temp.instances USING fts5vocab(main, search, instance)"
}

extension TemporaryStore {
  func texts(_ sql: String, after preparation: String) throws -> [String] {
    let connection = try Connection(path: location.database)
    try connection.execute(preparation)
    var statement = try connection.prepare(text: sql)
    var rows: [String] = []
    while try statement.step() { rows.append(statement.text(0)) }
    return rows
  }
}

@Suite struct SearchIndexTests {
  @Test func `words are found whatever their case, accents and Unicode composition`() throws {
    let store = try SearchStore()
    try store.add(["Café au lait", "cafe noir", "un cafe\u{301}", "CAFÉ", "cafeteria"])
    for query in ["café", "cafe", "cafe\u{301}", "CAFE"] { #expect(try store.find(query) == [4, 3, 2, 1], "\(query)") }
    #expect(try store.find("caf*") == [5, 4, 3, 2, 1])
    #expect(try store.find("café noir") == [2])
    #expect(try store.find("\"noir cafe\"").isEmpty)
    #expect(try store.find("cafe NOT (noir OR lait)") == [4, 3])
  }

  @Test func `in scripts without spaces any sequence of characters is found`() throws {
    let store = try SearchStore()
    try store.add([
      "我昨天从北京回来了", "京北", "東京都に住んでいます", "買了iPhone手机壳", "カタカナ", "大韓民國 대한민국", "กินข้าวหรือยัง", "北 京",
    ])
    #expect(try store.find("北京") == [8, 1])
    #expect(try store.find("京") == [8, 3, 2, 1])
    #expect(try store.find("京北") == [2])
    #expect(try store.find("住ん") == [3])
    #expect(try store.find("東京*") == [3])
    #expect(try store.find("iPhone手机") == [4])
    #expect(try store.find("手机") == [4])
    #expect(try store.find("タカ") == [5])
    #expect(try store.find("한민") == [6])
    #expect(try store.find("ข้าว") == [7])
    #expect(try store.find("北京 回来") == [1])
    #expect(try store.find("北京 OR カタ") == [8, 5, 1])
    #expect(try store.find("手机 机壳 NOT 北京") == [4])
  }

  @Test func `an emoji is not part of a word, even if it is new in Unicode`() throws {
    let store = try SearchStore()
    try store.add(["haha🤣", "haha😀", "🙂haha🥳", "100₽", "haha 👍🏽"])
    #expect(try store.find("haha") == [5, 3, 2, 1])
    #expect(try store.find("haha🙂") == [5, 3, 2, 1])
    #expect(try store.find("100") == [4])
    for query in ["🤣", "😀", "🏽", "₽", "🤷‍♀️", "❤️"] { #expect(try store.find(query).isEmpty) }
  }

  @Test func `every query is accepted, and a query without words finds nothing`() throws {
    let store = try SearchStore()
    try store.add(["lunch at (one) \"sharp\"", "C++ and AND", "🙂", "a.b@c.de"])
    for query in ["", " ", "🙂", "\"", "()", "\"\" OR \"\"", "*", "\0", "\u{1F}", "-", ":)"] {
      #expect(try store.find(query).isEmpty, "\(query)")
      #expect(try store.find(query, .rank).isEmpty, "\(query)")
    }
    let found: [(String, [MessageKey])] = [
      ("(one", [1]), ("one) \"sharp", [1]), ("C++", [4, 2]), ("AND AND", [2]), ("and AND", [2]), ("NOT lunch", []),
      ("b@c", [4]), ("text:lunch", []), ("lunch\0sharp", [1]), ("{lunch sharp}", [1]), ("lunch\u{1}", [1]),
      ("lunch 🙂", [1]),
      ("NEAR(lunch at", []), ("^lunch", [1]), ("rank:lunch", []), ("'; DROP TABLE search; --", []),
    ]
    for (query, keys) in found { #expect(try store.find(query) == keys, "\(query)") }
    for scalar in 0...0x180 {
      guard let scalar = Unicode.Scalar(UInt32(scalar)) else { continue }
      _ = try store.find("\(scalar)")
      _ = try store.find("lunch\(scalar)sharp \(scalar)one\(scalar)")
    }
  }

  @Test func `a query of thousands of words is not an error`() throws {
    let store = try SearchStore()
    try store.add(["word", (0..<2000).map { "w\($0)" }.joined(separator: " ")])
    for separator in [" ", " AND ", " OR ", " NOT ", "-", "("] {
      let query = (0..<2000).map { "w\($0)" }.joined(separator: separator)
      _ = try store.find(query)
      _ = try store.find(query, .rank)
    }
    #expect(try store.find((0..<2000).map { "w\($0)" }.joined(separator: " ")) == [2])
    #expect(try store.find(String(repeating: "(", count: 40) + "word" + String(repeating: ")", count: 40)) == [1])
    var nested = "word"
    for index in 0..<40 {
      nested = "x OR y AND z NOT (\(nested))"
      _ = try store.find(nested)
      if index < 7 { #expect(SearchExpression(nested).expression?.contains(" OR ") == true) }
    }
  }

  @Test func `the best matches come first, and the newest of equal matches`() throws {
    let store = try SearchStore()
    try store.add(["lunch", "dinner and lunch and breakfast and tea", "lunch", "tea", "lunch lunch"], at: { 10 - $0 })
    let found = try store.find("lunch", .rank)
    // The length of a message does not change its rank.
    #expect(found == [5, 1, 2, 3])
    #expect(try store.find("lunch", .rank, limit: 2) == Array(found.prefix(2)))
  }

  @Test func `messages with more matches or more of the words come first, also among many messages`() throws {
    let store = try SearchStore()
    try store.add((1...700).map { $0 == 300 ? "tea for tea" : $0 == 200 ? "tea and rum" : "tea for two" })
    #expect(try store.find("tea", .rank, limit: 3) == [300, 700, 699])
    #expect(try store.find("tea OR rum", .rank, limit: 3) == [200, 300, 700])
    #expect(try store.find("tea", .rank).count == 700)
  }

  @Test func `the rank of a match does not depend on how often other messages have the word`() throws {
    let store = try SearchStore()
    try store.add(["foo one", "bar two"])
    let before = try store.find("foo OR bar", .rank)
    try store.add(Array(repeating: "bar secret", count: 9))
    #expect(try store.find("foo OR bar", .rank).filter { $0.number < 3 } == before)
  }

  @Test func `the newest match is the one with the latest time, whatever the order of arrival`() throws {
    let store = try SearchStore()
    // A few matches are sorted by time; for many matches, the messages are read in the order of time. Both ways are tested.
    let order = (0...6000).shuffled()
    try store.add((1...6000).map { "common \($0 % 50 == 0 ? "rare" : "") \($0 % 1500 == 0 ? "rarest" : "")" }) {
      order[$0]
    }
    for word in ["common", "rare", "rarest", "common NOT rare"] {
      let all = try store.find(word)
      #expect(all == all.sorted { order[Int($0.number)] > order[Int($1.number)] })
      #expect(all.count == ["common": 6000, "rare": 120, "rarest": 4, "common NOT rare": 5880][word])
      #expect(try store.find(word, limit: 3) == Array(all.prefix(3)))
      #expect(try Set(store.find(word, .rank)) == Set(all))
    }
    #expect(try store.find("common NOT rare", .rank) == store.find("common NOT rare"))
    var some = KeySet(upTo: 6000)
    for key: MessageKey in [50, 77, 78, 3000, 7000, -1] { some.insert(key) }
    for order in [SearchOrder.rank, .newest] {
      var found: Set<MessageKey> = []
      try store.store.searchIndex.search(SearchExpression("common"), order, among: some) { found.insert($0).inserted }
      #expect(found == [50, 77, 78, 3000])
    }
  }

  @Test func `a deleted text leaves no words in the index`() throws {
    let store = try SearchStore()
    try store.add(["secret 北京 café", "public 北京"])
    try store.store.write {
      try store.store.searchIndex.rebuild()
      try store.store.searchIndex.remove("secret 北京 café", of: 1)
    }
    #expect(try store.instances() == ["public 2 0", "京 2 2", "北 2 1"])
    #expect(try store.find("北京") == [2])
    #expect(try store.find("secret OR cafe").isEmpty)
    try store.store.write { try store.store.searchIndex.remove("public 北京", of: 2) }
    #expect(try store.instances().isEmpty)
  }

  @Test func `a rebuilt index equals the maintained index`() throws {
    var random = SplitMix64(seed: 7)
    let store = try SearchStore()
    try store.add((0..<300).map { _ in SearchModel.text(&random) })
    for key in stride(from: 3, to: 300, by: 7) {
      let text = try #require(try store.directory.texts("SELECT text FROM message WHERE id = \(key)").first)
      try store.store.write {
        try store.store.searchIndex.remove(text, of: MessageKey(number: Int64(key)))
        try store.store.connection.execute("UPDATE message SET text = NULL WHERE id = \(key)")
      }
    }
    let kept = try store.instances()
    #expect(!kept.isEmpty)
    // The newest messages were not in the index.
    try store.directory.execute("DELETE FROM message WHERE id > (SELECT message FROM search_end)")
    try store.store.write { try store.store.searchIndex.rebuild() }
    #expect(try store.instances() == kept)
    try store.store.write {
      try store.store.connection.execute("INSERT INTO search (search) VALUES ('integrity-check')")
    }
  }
}
