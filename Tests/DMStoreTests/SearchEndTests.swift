import Testing

@testable import DMKit
@testable import DMModel
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

/// The newest messages, which the search index does not have yet.
@Suite struct SearchEndTests {
  private func end(_ store: SearchStore) throws -> Int64 { try SearchEnd(store: store.store).key().number }

  @Test func `each message is found at once, in whichever order, although the index gets it later`() throws {
    let store = try SearchStore()
    var ends: Set<Int64> = []
    for number in 1...200 {
      try store.add(["word\(number) all" + (number % 50 == 0 ? " all" : "")])
      #expect(try store.find("word\(number)") == [MessageKey(number: Int64(number))])
      #expect(try store.find("word\(number)", .rank) == [MessageKey(number: Int64(number))])
      #expect(try store.find("all").count == number)
      ends.insert(try end(store))
    }
    #expect(ends == [0, 65, 130, 195])
    let (newest, best) = (try store.find("all"), try store.find("all", .rank))
    #expect(newest == (1...200).reversed().map { MessageKey(number: $0) })
    #expect(best.prefix(5) == [200, 150, 100, 50, 199])
    try store.store.write { try store.store.searchIndex.rebuild() }
    #expect(try end(store) == 200)
    #expect(try store.find("all") == newest && store.find("all", .rank) == best)
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `after any messages, edits and deletions, a search finds what a rebuilt index finds`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let store = try TemporaryStore(users: ["alice", "bob"])
    let alice = try store.messenger("alice")
    func find(_ query: String) throws -> [Int] {
      var found: [Int] = []
      let results = try alice.search(SearchRequest(query))
      while case let batch = try results.next(), !batch.isEmpty { found += batch.compactMap { $0.message.seq } }
      return found
    }
    var count = 0
    for _ in 0..<60 {
      if count > 0, random.chance(40) {
        let message = try MessageReference("bob:\(1 + random.below(count))")
        let act: Edit.Act =
          random.chance(50) ? .text(SearchModel.text(&random)) : .delete(forEveryone: random.chance(50))
        _ = try alice.edit([Edit(message, act)])
      } else {
        let texts = SearchModel.texts(random.chance(15) ? 100 : 1, &random).map(\.text)
        _ = try alice.send(texts.map { try Outgoing(to: ConversationReference("bob"), text: $0) })
        count += texts.count
      }
    }
    let queries = (0..<40).map { _ in SearchModel.random(&random).query }
    let before = try queries.map(find)
    #expect(try store.findings() == [])
    try store.index()
    #expect(try queries.map(find) == before)
    #expect(before.reduce(0) { $0 + $1.count } > 100)
    #expect(try store.findings() == [])
  }

  @Test func `a word that the index cuts is found at once by a longer word`() throws {
    let store = try SearchStore()
    try store.add(["short " + String(repeating: "y", count: 32768)])
    let longer = String(repeating: "y", count: 40000)
    #expect(try store.find(longer) == [1] && store.find("\(longer)*") == [1] && store.find("short \(longer)") == [1])
    try store.store.write { try store.store.searchIndex.rebuild() }
    #expect(try store.find(longer) == [1])
  }

  @Test func `messages that come back with the keys of deleted ones are found`() throws {
    let store = try SearchStore()
    try store.add((1...70).map { "first \($0)" })
    try store.directory.execute("DELETE FROM message WHERE id > 60")
    try store.store.write {
      for key in (61...70).map({ MessageKey(number: $0) }) where key.number <= 65 {
        try store.store.searchIndex.remove("first \(key)", of: key)
      }
      for number in 61...64 {
        try store.store.connection.execute(
          """
          INSERT INTO message (id, uuid, conversation, seq, sender, created_at, text)
          VALUES (\(number), randomblob(16), 1, \(number), 1, 1, 'second')
          """)
        try store.store.searchIndex.add("second", of: MessageKey(number: Int64(number)))
      }
    }
    #expect(try store.find("second") == [64, 63, 62, 61])
    #expect(try store.find("first").count == 60)
  }

  @Test func `what a transaction that fails has indexed is not in the index`() throws {
    let store = try SearchStore()
    try store.add((1...64).map { "word \($0)" })
    struct Failure: Error {}
    #expect(throws: Failure.self) {
      try store.store.write {
        try store.store.connection.execute(
          """
          INSERT INTO message (id, uuid, conversation, seq, sender, created_at, text)
          VALUES (65, randomblob(16), 1, 65, 1, 1, 'word')
          """)
        try store.store.searchIndex.add("word", of: 65)
        throw Failure()
      }
    }
    #expect(try end(store) == 0 && store.instances().isEmpty)
    #expect(try store.find("word").count == 64)
  }
}
