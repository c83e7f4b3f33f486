import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

struct HistoryTests {
  private func query(_ reference: String?, _ change: (inout HistoryQuery) throws -> Void = { _ in }) throws
    -> HistoryQuery
  {
    var query = HistoryQuery()
    query.conversations = try reference.map { [try ConversationReference($0)] } ?? []
    try change(&query)
    return query
  }

  private struct Scene {
    let store: TemporaryStore
    let bob: Messenger
  }

  private func filled(_ count: Int) throws -> Scene {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    for result in try alice.send((1...count).map { try Outgoing(to: .direct("bob"), text: "\($0)") }) {
      _ = try result.get()
    }
    return Scene(store: store, bob: try store.messenger("bob"))
  }

  @Test func `a history has the newest 30 messages by default, oldest first`() throws {
    let scene = try filled(40)
    #expect(try scene.bob.history(of: query("alice")).map(\.seq) == Array(11...40))
  }

  @Test func `a history limit of nil returns all messages over several batches, and 0 returns no messages`() throws {
    let count = History.batch * 2 + 3
    let scene = try filled(count)
    #expect(try scene.bob.history(of: query("alice") { $0.limit = nil }).map(\.seq) == Array(1...count))
    #expect(try scene.bob.history(of: query(nil) { $0.limit = nil }).map(\.seq) == Array(1...count))
    #expect(
      try scene.bob.history(of: query(nil) { $0.limit = History.batch + 1 }).map(\.seq)
        == Array((History.batch + 3)...count))
    #expect(try scene.bob.history(of: query("alice") { $0.limit = 0 }).isEmpty)
    #expect(try scene.bob.history(of: query(nil) { $0.limit = 0 }).isEmpty)
  }

  @Test func `paging backward by number returns the whole conversation`() throws {
    let scene = try filled(47)
    var pages: [Message] = try scene.bob.messages(in: .direct("alice"), limit: 10)
    while let first = pages.first, first.number > 1 {
      pages = try scene.bob.messages(in: .direct("alice"), before: first.seq, limit: 10) + pages
    }
    #expect(pages.map(\.seq) == Array(1...47))
  }

  @Test func `a history of overlapping ranges is ascending, with each message once`() throws {
    let scene = try filled(20)
    let ranges = [
      RangeReference(from: 9, to: 12), RangeReference(from: 1, to: 2), RangeReference(from: 11, to: 13),
      RangeReference(from: -1, to: -1),
    ]
    let all = try query("alice") {
      $0.ranges = ranges
      $0.limit = nil
    }
    #expect(try scene.bob.history(of: all).map(\.seq) == [1, 2, 9, 10, 11, 12, 13, 20])
    var some = all
    some.limit = 3
    #expect(try scene.bob.history(of: some).map(\.seq) == [12, 13, 20])
    some.before = .message(.number(13, in: nil))
    #expect(try scene.bob.history(of: some).map(\.seq) == [10, 11, 12])
  }

  @Test func `the bounds of a history are messages or times, the first included and the last excluded`() throws {
    let scene = try filled(20)
    let all = try scene.bob.everything(in: "alice")
    for (since, before) in [(5, 9), (1, 20), (9, 9), (9, 5)] {
      let expected = since < before ? Array(since..<before) : []
      for conversation in ["alice", nil] {
        let byMessage = try query(conversation) {
          $0.since = .message(.id(all[since - 1].id))
          $0.before = .message(.number(before, in: .direct("alice")))
          $0.limit = nil
        }
        #expect(try scene.bob.history(of: byMessage).map(\.seq) == expected)
        let byTime = try query(conversation) {
          $0.since = .time(all[since - 1].createdAt)
          $0.before = .time(all[before - 1].createdAt)
          $0.limit = nil
        }
        #expect(try scene.bob.history(of: byTime).map(\.seq) == expected)
      }
    }
    let distant = try query("alice") { $0.since = .time(.now) }
    #expect(try scene.bob.history(of: distant).isEmpty)
  }

  @Test func `a history bound that is not a message of the conversation is an error`() throws {
    let scene = try filled(3)
    #expect(
      try code { try scene.bob.history(query("alice") { $0.since = .message(.number(4, in: nil)) }) } == .unknownMessage
    )
    #expect(
      try code { try scene.bob.history(query("alice") { $0.before = .message(.id(Identifier(at: .now))) }) }
        == .unknownMessage)
    #expect(
      try code { try scene.bob.history(query(nil) { $0.since = .message(.number(1, in: nil)) }) } == .badReference)
    let elsewhere = try scene.store.messenger("bob").say("x", to: "carol")
    #expect(
      try code { try scene.bob.history(query("alice") { $0.since = .message(.id(elsewhere.id)) }) } == .unknownMessage)
  }

  @Test func `a history without a conversation has all the user's messages in order of time`() throws {
    let store = try TemporaryStore()
    let (alice, bob, carol) = (try store.messenger("alice"), try store.messenger("bob"), try store.messenger("carol"))
    try alice.say("1", to: "bob")
    try carol.say("2", to: "bob")
    try alice.say("not bob's", to: "carol")
    try bob.say("3", to: "alice")
    try carol.say("4", to: "bob")
    #expect(try bob.history(of: query(nil)).map(\.text) == ["1", "2", "3", "4"])
    #expect(try bob.history(of: query(nil) { $0.limit = 2 }).map(\.text) == ["3", "4"])
    #expect(try bob.history(of: query(nil) { $0.unreadOnly = true }).map(\.text) == ["1", "2", "4"])
    _ = try bob.markRead(.all, in: .direct("carol"))
    #expect(try bob.history(of: query(nil) { $0.unreadOnly = true }).map(\.text) == ["1"])
  }

  @Test func `reading a history marks nothing as read or as delivered`() throws {
    let scene = try filled(3)
    _ = try scene.bob.everything(in: "alice")
    #expect(try scene.bob.unreadCount() == 3)
    #expect(try scene.store.messenger("alice").everything(in: "bob").map(\.status) == [.sent, .sent, .sent])
  }

  @Test func `a history marks the given messages as delivered, and none that came after them`() throws {
    let scene = try filled(2)
    let alice = try scene.store.messenger("alice")
    let limited = try query("alice") { $0.limit = 30 }
    for reference in ["alice", nil] {
      let history = try scene.bob.history(try query(reference) { $0.limit = 30 })
      let last = try #require(try history.next().last)
      try alice.say("more", to: "bob")
      try history.markDelivered(upTo: [last.conversationID: #require(last.seq)])
      let statuses = try alice.everything(in: "bob").map(\.status)
      #expect(statuses.dropLast().allSatisfy { $0 == .delivered } && statuses.last == .sent)
    }
    let changes = try scene.store.integers("SELECT count(*) FROM change")
    let again = try scene.bob.history(limited)
    let first = try #require(try again.next().first)
    try again.markDelivered(upTo: [first.conversationID: #require(first.seq)])
    #expect(try scene.store.integers("SELECT count(*) FROM change") == changes)
  }

  @Test func `a history with a limit shows the first batch as it was when the history was opened`() throws {
    let scene = try filled(3)
    let history = try scene.bob.history(try query("alice") { $0.limit = 2 })
    let change = try Edit(.number(3, in: .direct("bob")), .delete(forEveryone: true))
    _ = try scene.store.messenger("alice").edit([change])
    #expect(try history.next().map(\.text) == ["2", "3"])
    #expect(try history.next().isEmpty)
  }
}
