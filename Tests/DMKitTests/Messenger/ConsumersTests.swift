import DMStore
import Testing

@testable import DMKit
@testable import DMModel
@testable import StoreSupport
@testable import TestSupport

/// Consumers of a stream: where they begin, who may read them, and how events are acknowledged and consumers deleted.
struct ConsumersTests {
  private func query(_ name: String = "bot", from start: EventQuery.Start? = nil, follows: Bool = false) -> EventQuery {
    var query = EventQuery(from: start)
    query.consumer = name
    query.kinds = [.message]
    query.follows = follows
    query.signalsPresence = false
    return query
  }

  private func position(of name: String = "bot", _ messenger: Messenger) throws -> EventQuery.Start {
    .cursor(try #require(try messenger.consumers().first { $0.name == name }).cursor)
  }

  private func acknowledge(_ event: MessagingEvent?, _ messenger: Messenger) throws -> Acknowledgement {
    try messenger.acknowledge(#require(event?.cursor), for: "bot")
  }

  @Test func `a new consumer without a start is an error and is not created`() throws {
    let store = try TemporaryStore()
    let bob = try store.messenger("bob")
    let fault = try fault { try Follower(bob, query()) }
    #expect(fault?.code == .usage)
    #expect(fault?.remedy == .chooseStart)
    #expect(try bob.consumers().isEmpty)
  }

  @Test func `a cursor of another store creates no consumer`() throws {
    let store = try TemporaryStore()
    let bob = try store.messenger("bob")
    #expect(try code { try Follower(bob, query(from: .cursor(.ofAnotherStore))) } == .badCursor)
    #expect(try bob.consumers().isEmpty)
  }

  @Test(arguments: ["", "a\u{7}", "a\u{202E}b", "a\nb", String(repeating: "x", count: 129)])
  func `a consumer's name has 1 to 128 bytes and no control or direction characters`(_ name: String) throws {
    let store = try TemporaryStore()
    #expect(try code { try Follower(try store.messenger("bob"), query(name, from: .now)) } == .badField)
  }

  @Test func `the cursor of a new consumer is stored before the first event is delivered`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    try alice.say("one", to: "bob")
    let now = try bob.here()
    let opened = try #require(try bob.existingStore())
    let beginning = EventQuery.Start.cursor(Cursor(store: try opened.uuid(), .start))
    for (name, start, expected) in [("a", EventQuery.Start.start, beginning), ("b", .now, now), ("c", now, now)] {
      let follower = try Follower(bob, query(name, from: start))
      #expect(try position(of: name, bob) == expected)
      withExtendedLifetime(follower) {}
    }
    #expect(try bob.consumers().map(\.name) == ["a", "b", "c"])
    #expect(try alice.consumers().isEmpty)
  }

  @Test func `an existing consumer starts at its cursor, and delivery alone does not move it`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    for text in ["one", "two"] { try alice.say(text, to: "bob") }
    for start in [EventQuery.Start.start, nil, .now, .cursor(.ofAnotherStore)] {
      let events = try Follower(bob, query(from: start)).rest()
      #expect(events.map(\.summary) == ["1 alice: one", "2 alice: two", "caught up"])
    }
    #expect(try position(bob) == position(bob))
    #expect(try bob.consumers().map(\.behindCount) == [2])
  }

  @Test func `a consumer continues after the last acknowledged event`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    for text in ["one", "two", "three"] { try alice.say(text, to: "bob") }
    let events = try Follower(bob, query(from: .start)).rest()
    #expect(try acknowledge(events[1], bob).cursor == events[1].cursor)
    #expect(try Follower(bob, query()).rest().map(\.summary) == ["3 alice: three", "caught up"])
  }

  @Test func `a consumer moves forward only`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    for text in ["one", "two", "three"] { try alice.say(text, to: "bob") }
    let events = try Follower(bob, query(from: .start)).rest()
    for (number, expected) in [(1, 1), (0, 1), (1, 1), (2, 2), (0, 2)] {
      let answer = try acknowledge(events[number], bob)
      #expect(answer == Acknowledgement(consumer: "bot", cursor: try #require(events[expected].cursor)))
      #expect(try bob.consumers().map(\.cursor) == [answer.cursor])
    }
  }

  @Test func `acknowledging a cursor of the future or of another store is an error`() throws {
    let (store, other) = (try TemporaryStore(), try TemporaryStore())
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    try alice.say("one", to: "bob")
    try other.messenger("alice").say("one", to: "bob")
    _ = try Follower(bob, query(from: .start))
    let before = try position(bob)
    let last = try #require(try Follower(bob, query()).rest().last?.cursor)
    let foreign = try #require(try other.messenger("bob").received(EventQuery(from: .start)).last?.cursor)
    let future = Cursor(store: Identifier(high: 0, low: last.store), Cursor.Position(rev: last.position.rev + 1))
    let nearFuture = Cursor(
      store: Identifier(high: 0, low: last.store), Cursor.Position(rev: last.position.rev, seq: 1))
    for cursor in [foreign, future, nearFuture] {
      #expect(try code { try bob.acknowledge(cursor, for: "bot") } == .badCursor)
    }
    #expect(try position(bob) == before)
  }

  @Test func `acknowledging or deleting an unknown consumer, or another user's, is an error`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    try alice.say("one", to: "bob")
    let last = try #require(try Follower(bob, query(from: .start)).rest().last?.cursor)
    #expect(try code { try bob.acknowledge(last, for: "bto") } == .unknownConsumer)
    #expect(try code { try alice.acknowledge(last, for: "bot") } == .unknownConsumer)
    #expect(try code { try alice.forgetConsumer("bot") } == .unknownConsumer)
    #expect(try code { try alice.send([], as: "bot") } == .unknownConsumer)
    #expect(try bob.consumers().count == 1)
  }

  @Test func `a consumer has one stream at a time, and opening a second stream fails until the first ends`() throws {
    let store = try TemporaryStore()
    let (bob, again) = (try store.messenger("bob"), try store.messenger("bob"))
    do {
      let first = try Follower(bob, query(from: .now, follows: true))
      #expect(try code { try Follower(again, query(follows: true)) } == .busy)
      #expect(try code { try Follower(bob, query(from: .start)) } == .busy)
      #expect(try code { try Follower(again, query("other", from: .now)) } == nil)
      #expect(try code { try Follower(try store.messenger("alice"), query(from: .now)) } == nil)
      // A process can acknowledge events without the lease of the consumer.
      #expect(try code { try acknowledge(first.untilCaughtUp().last, again) } == nil)
      withExtendedLifetime(first) {}
    }
    #expect(try code { try Follower(again, query()) } == nil)
  }

  @Test func `a consumer cannot be deleted while it has a stream`() throws {
    let store = try TemporaryStore()
    let (bob, again) = (try store.messenger("bob"), try store.messenger("bob"))
    do {
      let follower = try Follower(bob, query(from: .now, follows: true))
      #expect(try code { try again.forgetConsumer("bot") } == .busy)
      #expect(try again.consumers().map(\.name) == ["bot"])
      withExtendedLifetime(follower) {}
    }
    let before = try again.consumers()
    #expect(try again.forgetConsumer("bot") == before[0])
    #expect(try again.consumers().isEmpty)
    #expect(try code { try again.forgetConsumer("bot") } == .unknownConsumer)
    #expect(try code { try Follower(bob, query()) } == .usage)
  }

  @Test func `an acknowledgement without delivery marks does not appear in the change log`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    try alice.say("one", to: "bob")
    var quiet = query(from: .start)
    quiet.marksDelivered = false
    let events = try Follower(bob, quiet).rest()
    let before = try alice.here()
    _ = try acknowledge(events.last, bob)
    #expect(try alice.here() == before)
  }

  @Test func `the backlog of a consumer counts the changes of its conversations only`() throws {
    let store = try TemporaryStore()
    let (alice, bob, carol) = (
      try store.messenger("alice"), try store.messenger("bob"), try store.messenger("carol")
    )
    try alice.say("zero", to: "bob")
    try carol.say("zero", to: "bob")
    var all = query("all", from: .now)
    // Delivery marks would be further changes in the log.
    all.marksDelivered = false
    _ = try Follower(bob, all)
    var one = query("one", from: .now)
    one.conversations = [.direct("alice")]
    _ = try Follower(bob, one)
    #expect(try bob.consumers().map(\.behindCount) == [0, 0])
    try alice.say("one", to: "bob")
    try carol.say("one", to: "bob")
    try carol.say("aside", to: "alice")
    try carol.say("two", to: "bob")
    #expect(try bob.consumers().map(\.behindCount) == [3, 1])
    let last = try #require(try Follower(bob, all).rest().last?.cursor)
    _ = try bob.acknowledge(last, for: "all")
    #expect(try bob.consumers().map(\.behindCount) == [0, 1])
  }

  @Test func `acknowledging an event marks its message as delivered, and passing the event to the consumer does not`()
    throws
  {
    let store = try TemporaryStore()
    let (alice, bob, carol) = (
      try store.messenger("alice"), try store.messenger("bob"), try store.messenger("carol")
    )
    for text in ["one", "two", "three"] { try alice.say(text, to: "bob") }
    try carol.say("one", to: "bob")
    var one = query(from: .start)
    one.conversations = [.direct("alice")]
    let events = try Follower(bob, one).rest()
    #expect(try alice.everything(in: "bob").map(\.status) == [.sent, .sent, .sent])
    _ = try acknowledge(events[1], bob)
    #expect(try alice.everything(in: "bob").map(\.status) == [.delivered, .delivered, .sent])
    _ = try acknowledge(events.last, bob)
    #expect(try alice.everything(in: "bob").map(\.status) == [.delivered, .delivered, .delivered])
    #expect(try carol.everything(in: "bob").map(\.status) == [.sent])
  }

  @Test func `acknowledging marks nothing as delivered if marksDelivered is off or the stream has no messages`() throws
  {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    try alice.say("one", to: "bob")
    for (name, change) in [
      ("peeks", { (query: inout EventQuery) in query.marksDelivered = false }),
      ("counts", { $0.kinds = [.readReceipt] }),
    ] as [(String, (inout EventQuery) -> Void)] {
      var query = query(name, from: .start)
      change(&query)
      let last = try #require(try Follower(bob, query).rest().last?.cursor)
      _ = try bob.acknowledge(last, for: name)
      #expect(try alice.everything(in: "bob").map(\.status) == [.sent], "\(name)")
    }
  }

  @Test func `a consumer counts and marks messages of a conversation that is created during its stream`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    var one = query(from: .now, follows: true)
    one.conversations = [.direct("alice")]
    let follower = try Follower(bob, one)
    _ = try follower.untilCaughtUp()
    try alice.say("hi", to: "bob")
    let received = try follower.until { $0.summary == "1 alice: hi" }
    let behind = try bob.consumers().map(\.behindCount)
    _ = try acknowledge(received.last, bob)
    let statuses = try alice.everything(in: "bob").map(\.status)
    #expect(behind == [1])
    #expect(statuses == [.delivered])
  }

  @Test func `a consumer's stream has heartbeats at the interval of its query`() throws {
    let store = try TemporaryStore()
    var query = query(from: .now, follows: true)
    query.heartbeat = .milliseconds(10)
    let follower = try Follower(try store.messenger("bob"), query)
    #expect(try follower.until("heartbeat").last == "heartbeat")
  }
}
