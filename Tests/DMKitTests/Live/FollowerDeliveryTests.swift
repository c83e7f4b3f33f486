import DMStore
import Testing

@testable import DMKit
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

/// Events count as delivered after the caller has reported that its reader has them.
struct FollowerDeliveryTests {
  private func query(follows: Bool = true, _ start: EventQuery.Start = .start) -> EventQuery {
    var query = EventQuery(from: start)
    query.kinds = [.message]
    query.follows = follows
    query.signalsPresence = false
    return query
  }

  private func delivered(_ store: TemporaryStore) throws -> [Int64?] {
    try store.integers(
      """
      SELECT p.delivered_seq FROM participant p JOIN user u ON u.id = p.user WHERE u.handle = 'bob'
      ORDER BY p.conversation
      """
    ).map { $0[0] }
  }

  @Test func `events count as delivered when the caller marks them, not when the caller asks for more events`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    for text in ["one", "two"] { try alice.say(text, to: "bob") }
    let follower = try Follower(bob, query())
    let events = try #require(try follower.next())
    #expect(events.count == 2)
    #expect(try follower.next()?.map(\.summary) == ["caught up"])
    #expect(try delivered(store) == [0])
    try follower.markDelivered(events)
    #expect(try delivered(store) == [2])
    #expect(try alice.everything(in: "bob").map(\.status) == [.delivered, .delivered])
    #expect(try alice.received([.deliveryReceipt]) == ["bob got 1-2"])
  }

  @Test func `delivery marks are written at most once a second, and all are written in the end`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    let follower = try Follower(bob, query())
    _ = try follower.untilCaughtUp()
    let before = monotonicMicroseconds()
    for number in 1...30 {
      try alice.say("\(number)", to: "bob")
      _ = try follower.until("\(number) alice: \(number)")
    }
    let deadline = monotonicMicroseconds() + testTimeout
    while try delivered(store) != [30], monotonicMicroseconds() < deadline {
      #expect(try follower.next(within: .microseconds(50_000)) == [])
    }
    #expect(try delivered(store) == [30])
    let seconds = (monotonicMicroseconds() - before) / 1_000_000
    #expect(try alice.received([.deliveryReceipt]).count <= Int(seconds) + 1)
    #expect(try alice.received([.deliveryReceipt]).count >= 2)
  }

  @Test func `a stream with marksDelivered off marks nothing as delivered`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    try alice.say("one", to: "bob")
    var query = query(follows: false)
    query.marksDelivered = false
    #expect(try Follower(bob, query).rest().count == 2)
    #expect(try delivered(store) == [0])
  }

  @Test func `the user's own messages and those that the stream leaves out are not marked as delivered`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    try alice.say("one", to: "bob")
    try bob.say("two", to: "alice")
    try bob.say("three", to: "carol")
    var unasked = query(follows: false)
    unasked.kinds = Set(MessagingEvent.Kind.allCases).subtracting([.message])
    _ = try Follower(bob, unasked).rest()
    #expect(try delivered(store) == [0, 0])
    _ = try Follower(bob, query(follows: false)).rest()
    #expect(try delivered(store) == [1, 0])
  }

  @Test func `a stream marks messages as delivered up to the last one that it delivered in each conversation`() throws {
    let store = try TemporaryStore()
    let (alice, bob, carol) = (
      try store.messenger("alice"), try store.messenger("bob"), try store.messenger("carol")
    )
    for text in ["one", "two"] { try alice.say(text, to: "bob") }
    for text in ["one", "two", "three"] { try carol.say(text, to: "bob") }
    _ = try Follower(bob, query(follows: false)).rest()
    #expect(try delivered(store) == [2, 3])
    try alice.say("three", to: "bob")
    var one = query(follows: false)
    one.conversations = [.direct("carol")]
    _ = try Follower(bob, one).rest()
    #expect(try delivered(store) == [2, 3])
  }

  @Test func `a long stream that ends marks all its messages as delivered`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    _ = try alice.send((1...1200).map { try Outgoing(to: .direct("bob"), text: "\($0)") })
    let events = try Follower(bob, query(follows: false)).rest()
    #expect(events.count == 1201)
    #expect(try delivered(store) == [1200])
  }

  @Test func `delivery marks are written later if the store is busy, and the stream goes on`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    try alice.say("one", to: "bob")
    let follower = try Follower(bob, query())
    let events = try #require(try follower.next())
    do {
      let lock = try FileLock(path: store.location.lock, milliseconds: 5000, busy: DMError(.busy, ""))
      try follower.markDelivered(events)
      #expect(try follower.next()?.map(\.summary) == ["caught up"])
      _ = consume lock
    }
    #expect(try delivered(store) == [0])
    let deadline = monotonicMicroseconds() + testTimeout
    while try delivered(store) != [1], monotonicMicroseconds() < deadline {
      _ = try follower.next(within: .microseconds(50_000))
    }
    #expect(try delivered(store) == [1])
  }
}
