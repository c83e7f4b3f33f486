import Testing

@testable import DMKit
@testable import DMSystem
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

struct OrderTests {
  @Test func `message numbers have no gaps, even if some sends fail`() throws {
    let store = try TemporaryStore()
    let messengers = [try store.messenger("alice"), try store.messenger("bob")]
    for turn in 0..<30 {
      let other = turn % 2 == 0 ? "bob" : "alice"
      try messengers[turn % 2].say("\(turn)", to: other)
      #expect(try code { try messengers[turn % 2].say("?", to: other, replyTo: "999") } == .unknownMessage)
    }
    #expect(try messengers[0].everything(in: "bob").map(\.seq) == Array(1...30))
  }

  @Test func `times grow strictly in a conversation within a batch`() throws {
    let store = try TemporaryStore()
    let lines = try (0..<200).map { try Outgoing(to: .direct("bob"), text: "\($0)") }
    let times = try store.messenger("alice").send(lines).map { try $0.get().createdAt }
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
  }

  /// Makes a group whose last message has a time `seconds` later than the clock, and returns this time.
  private func ahead(_ seconds: Int64, _ alice: Messenger) throws -> Timestamp {
    let future = Timestamp(microseconds: Timestamp.now.microseconds + seconds * 1_000_000)
    let imported = try alice.importHistory([
      .message(ImportedMessage(group: .title("ops"), sender: Handle("alice"), text: "later", createdAt: future))
    ])
    _ = try imported[0].get()
    return future
  }

  @Test func `times grow strictly when the clock goes back by less than a minute`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let future = try ahead(50, alice)
    let next = try alice.say("now", to: "+ops")
    #expect(next.createdAt.microseconds == future.microseconds + 1)
    #expect(try alice.say("again", to: "+ops").createdAt.microseconds == future.microseconds + 2)
    #expect(try alice.conversation(.title("ops")).lastActivityAt.microseconds == future.microseconds + 2)
  }

  @Test
  func `a message gets the time of the clock if the last message has a time more than a minute later than the clock`()
    throws
  {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let future = try ahead(3600, alice)
    try alice.say("elsewhere", to: "bob")
    let before = Timestamp.now
    let next = try alice.say("now", to: "+ops")
    #expect((before ... .now).contains(next.createdAt))
    #expect(try alice.conversation(.title("ops")).lastActivityAt == next.createdAt)
    try alice.say("elsewhere", to: "bob")
    #expect(try alice.conversations().map(\.title) == [nil, "ops"], "the group is no longer first in the list")
    let imported = try alice.importHistory([
      .message(ImportedMessage(group: .title("ops"), sender: Handle("alice"), text: "x", createdAt: .now))
    ])
    #expect(try imported[0].get() != nil as Imported.Outcome?)
    #expect(future > next.createdAt)
    #expect(try Upkeep(store.location).check(deep: true).findings.isEmpty)
  }

  @Test func `a message expires by the clock, whatever the time of the message before it`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    _ = try ahead(50, alice)
    let before = Timestamp.now.microseconds
    let sent = try alice.send(Outgoing(to: .title("ops"), text: "x", lifetime: .seconds(10)))
    let lifetime = try #require(sent.expiresAt).microseconds - before
    #expect((10_000_000...12_000_000).contains(lifetime))
  }

  @Test func `a time bound is compared with each message's own time`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    try alice.say("elsewhere", to: "bob")
    _ = try ahead(7200, alice)
    for text in ["two", "three"] { try alice.say(text, to: "+ops") }
    let soon = Timestamp(microseconds: Timestamp.now.microseconds + 3_600_000_000)
    func seqs(_ conversation: String?, _ change: (inout HistoryQuery) -> Void) throws -> [Int] {
      var query = HistoryQuery()
      query.conversations = try conversation.map { [try ConversationReference($0)] } ?? []
      change(&query)
      return try alice.history(of: query).map(\.number)
    }
    #expect(try seqs("+ops") { $0.since = .time(soon) } == [1])
    #expect(try seqs("+ops") { $0.before = .time(soon) } == [2, 3])
    #expect(try seqs(nil) { $0.since = .time(soon) } == [1])
    #expect(try seqs(nil) { $0.before = .time(soon) } == [1, 2, 3], "message 1 is of the conversation with Bob")
    let bob = try store.messenger("bob")
    _ = try alice.add(["bob"], to: .title("ops"), withHistory: true)
    var unread = Messenger.MarkOptions()
    unread.act = .unread
    _ = try bob.markRead(.all, in: .title("ops"), unread)
    _ = try bob.markRead(.before(.time(soon)), in: .title("ops"))
    var query = HistoryQuery(.title("ops"))
    query.unreadOnly = true
    #expect(try bob.history(of: query).map(\.number) == [1])
  }

  @Test func `message ids sort in order of time`() throws {
    let store = try TemporaryStore()
    let lines = try (0..<100).map { try Outgoing(to: .direct("bob"), text: "\($0)") }
    let ids = try store.messenger("alice").send(lines).map { try $0.get().id.description }
    #expect(ids == ids.sorted())
  }

  @Test func `each mutation appends to the change log, and nothing else does`() throws {
    let store = try TemporaryStore(users: ["alice", "bob"])
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    func kinds(_ act: () throws -> Void) throws -> [Int64?] {
      let before = try store.integers("SELECT coalesce(max(rev), 0) FROM change")[0][0] ?? 0
      try act()
      return try store.integers("SELECT kind FROM change WHERE rev > \(before) ORDER BY rev").map { $0[0] }
    }
    let (message, readReceipt, delivery, conversation, user, readState, status) =
      (1, 2, 3, 4, 5, 6, 7) as (Int64, Int64, Int64, Int64, Int64, Int64, Int64)
    #expect(try kinds { _ = try alice.addUser(Handle("carol")) } == [user])
    #expect(try kinds { _ = try alice.setProfile(ProfileChange(bio: "x")) } == [user])
    #expect(try kinds { try alice.say("one", to: "bob", nonce: "n") } == [conversation, message])
    #expect(try kinds { try alice.say("two", to: "bob") } == [message])
    #expect(try kinds { try alice.say("one", to: "bob", nonce: "n") } == [])
    #expect(try kinds { _ = try alice.createGroup(titled: "ops", with: []) } == [conversation, message])
    #expect(try kinds { _ = try alice.directConversation(with: "bob") } == [])
    let id = try alice.conversation(.direct("bob")).id
    #expect(try kinds { try bob.markDelivered(upTo: [id: 1]) } == [delivery, status])
    #expect(try kinds { try bob.markDelivered(upTo: [id: 1]) } == [])
    let ranges = ReadTarget.ranges([RangeReference(from: 1, to: 1)])
    #expect(try kinds { _ = try bob.markRead(ranges, in: .direct("alice")) } == [readReceipt, status, readState])
    #expect(try kinds { _ = try bob.markRead(ranges, in: .direct("alice")) } == [])
    var options = Messenger.MarkOptions()
    options.act = .unread
    #expect(try kinds { _ = try bob.markRead(ranges, in: .direct("alice"), options) } == [readState])
    #expect(try kinds { _ = try bob.markRead(ranges, in: .direct("alice")) } == [readState])
    options.isDryRun = true
    #expect(try kinds { _ = try bob.markRead(.all, in: .direct("alice"), options) } == [])
    #expect(try kinds { _ = try bob.conversations() } == [])
  }
}
