import Testing

@testable import DMKit

struct OrderTests {
  @Test func `numbers are 1, 2, 3 without holes, whatever fails between them`() throws {
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

  @Test func `times grow strictly even when the clock goes back`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let future = Timestamp(microseconds: Timestamp.now.microseconds + 3_600_000_000)
    let imported = try alice.importHistory([
      .message(ImportedMessage(group: .title("ops"), sender: Handle("alice"), text: "later", createdAt: future))
    ])
    #expect(try code { try imported[0].get() } == nil)
    let next = try alice.say("now", to: "+ops")
    #expect(next.createdAt.microseconds == future.microseconds + 1)
    #expect(try alice.say("again", to: "+ops").createdAt.microseconds == future.microseconds + 2)
    #expect(try alice.conversation(.title("ops")).lastActivityAt.microseconds == future.microseconds + 2)
  }

  @Test func `an id sorts with its message's time`() throws {
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
