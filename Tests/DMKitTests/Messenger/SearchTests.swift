import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

@Suite struct SearchTests {
  private func find(_ user: String, _ store: TemporaryStore, _ change: (inout SearchRequest) throws -> Void) throws
    -> [String]
  {
    var request = SearchRequest()
    try change(&request)
    let results = try store.messenger(user).search(request)
    var found: [String] = []
    while case let batch = try results.next(), !batch.isEmpty {
      found += batch.map { $0.message.snippet ?? $0.message.text ?? "" }
    }
    return found
  }

  private func find(_ user: String, _ words: String, _ store: TemporaryStore) throws -> [String] {
    try find(user, store) { $0.words = words }
  }

  @Test func `a search covers the user's own conversations only`() throws {
    let store = try TemporaryStore()
    try store.messenger("alice").say("lunch with bob", to: "bob")
    try store.messenger("carol").say("lunch with alice", to: "alice")
    #expect(try find("alice", "lunch", store) == ["**lunch** with alice", "**lunch** with bob"])
    #expect(try find("bob", "lunch", store) == ["**lunch** with bob"])
    #expect(try find("carol", "lunch bob", store).isEmpty)
    #expect(try find("alice", "", store).isEmpty)
  }

  @Test func `a search can be limited by conversation, sender, time and contents, with or without words`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let bob = try store.messenger("bob")
    try alice.say("see https://a.example", to: "bob")
    try bob.say("see @alice", to: "alice")
    try alice.say("see you", to: "carol")
    #expect(
      try find("alice", store) { $0.conversations = [.direct("bob")] } == ["see @alice", "see https://a.example"])
    #expect(try find("alice", store) { ($0.words, $0.conversations) = ("see", [.direct("carol")]) } == ["**see** you"])
    #expect(try find("alice", store) { $0.sender = "bob" } == ["see @alice"])
    #expect(try find("alice", store) { ($0.words, $0.sender) = ("see", "bob") } == ["**see** @alice"])
    #expect(try find("alice", store) { $0.contents = [.link] } == ["see https://a.example"])
    #expect(try find("alice", store) { $0.contents = [.mention] } == ["see @alice"])
    #expect(try find("alice", store) { $0.contents = [.link, .mention] }.isEmpty)
    #expect(try find("alice", store) { $0.contents = [.image] }.isEmpty)
    #expect(try find("alice", store) { ($0.words, $0.contents) = ("see", [.link]) } == ["**see** https://a.example"])
    #expect(
      try find("alice", store) { $0.since = .message(try MessageReference("bob:2")) } == ["see you", "see @alice"])
    #expect(
      try find("alice", store) {
        $0.conversations = [.direct("bob")]
        $0.before = .message(try MessageReference("2"))
      } == ["see https://a.example"])
    #expect(try find("alice", store) { $0.before = .time(Timestamp(microseconds: 1)) }.isEmpty)
    #expect(try code { try find("alice", store) { $0.sender = "dave" } } == .unknownUser)
    #expect(try code { try find("bob", store) { $0.conversations = [.direct("carol")] } } == .unknownConversation)
  }

  @Test func `a search returns at most as many messages as its limit, also over several batches`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    for index in 1...250 { try alice.say("lunch \(index)", to: "bob") }
    #expect(try find("bob", "lunch", store).count == 20)
    for newest in [true, false] {
      let found = try find("bob", store) { ($0.words, $0.newestFirst, $0.limit) = ("lunch", newest, nil) }
      #expect(found == (1...250).reversed().map { "**lunch** \($0)" })
    }
    #expect(try find("bob", store) { ($0.words, $0.limit) = ("lunch", 3) }.count == 3)
    #expect(try find("bob", store) { ($0.conversations, $0.limit) = ([.direct("alice")], 0) }.isEmpty)
  }

  @Test func `a search in a store that does not exist yet finds nothing`() throws {
    let store = try TemporaryStore(users: [], isNamed: false)
    #expect(try find("alice", "lunch", store).isEmpty)
  }

  @Test func `a message bound of a search compares numbers, even if times go back`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let future = Timestamp(microseconds: Timestamp.now.microseconds + 7_200_000_000)
    _ = try alice.importHistory([
      .message(ImportedMessage(group: .title("ops"), sender: Handle("alice"), text: "word", createdAt: future))
    ])[0].get()
    for _ in 2...4 { try alice.say("word", to: "+ops") }
    func found(_ words: String?, _ change: (inout SearchRequest) -> Void) throws -> [Int] {
      var request = SearchRequest(words)
      request.conversations = [.title("ops")]
      change(&request)
      return try alice.search(request).next().map(\.message.number).sorted()
    }
    for words in ["word", nil] {
      #expect(try found(words) { $0.since = .message(.number(2, in: nil)) } == [2, 3, 4])
      #expect(try found(words) { $0.before = .message(.number(3, in: nil)) } == [1, 2])
      #expect(
        try found(words) {
          $0.since = .message(.number(3, in: nil))
          $0.before = .message(.number(2, in: nil))
        } == [])
    }
  }
}
