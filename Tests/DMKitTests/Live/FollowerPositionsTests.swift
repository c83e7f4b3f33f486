import DMStore
import Testing

@testable import DMKit
@testable import DMModel
@testable import StoreSupport
@testable import TestSupport

/// Where a stream begins, which cursors it returns, and that a new stream continues exactly at each of these cursors.
struct FollowerPositionsTests {
  private func query(
    _ start: EventQuery.Start?, _ kinds: Set<MessagingEvent.Kind> = [.message, .messageStatus], follows: Bool = true
  ) -> EventQuery {
    var query = EventQuery(from: start)
    query.kinds = kinds
    query.marksDelivered = false
    query.follows = follows
    return query
  }

  @Test
  func `a stream from start has all events, one from now only new events, and one from a cursor only later events`()
    throws
  {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    for text in ["one", "two", "three"] { try alice.say(text, to: "bob") }
    let events = try alice.received(query(.start))
    try #require(events.map(\.summary) == ["1 alice: one", "2 alice: two", "3 alice: three"])
    #expect(try alice.received(query(.now)).isEmpty)
    #expect(try alice.received(query(nil)).isEmpty)
    for (index, event) in events.enumerated() {
      let cursor = try #require(event.cursor)
      #expect(try alice.received(query(.cursor(cursor))) == Array(events[(index + 1)...]))
    }
  }

  @Test func `cursors increase from event to event, and the last one is the cursor at the end of the log`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    for text in ["one", "two", "three"] { try alice.say(text, to: "bob") }
    try bob.read(1...3, of: "alice")
    try bob.say("aside", to: "carol")
    let follower = try Follower(alice, query(.start, Set(MessagingEvent.Kind.allCases), follows: false))
    let cursors = try follower.rest().compactMap(\.cursor)
    #expect(zip(cursors, cursors.dropFirst()).allSatisfy { $0 < $1 })
    #expect(cursors.last == follower.cursor)
    #expect(try alice.here() == .cursor(follower.cursor))
  }

  @Test(arguments: ["future", "other"])
  func `a cursor after the end of the change log, or of another store, is refused`(_ kind: String) throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    try alice.say("hi", to: "bob")
    let opened = try #require(try alice.existingStore())
    let now = try opened.position(of: .now)
    let cursor =
      switch kind {
      case "future": Cursor(store: try opened.uuid(), Cursor.Position(rev: now.rev, seq: 1))
      default: Cursor(store: Identifier(high: 1, low: 2), Cursor.Position(rev: 1))
      }
    #expect(try code { try Follower(alice, query(.cursor(cursor))) } == .badCursor)
  }

  @Test func `a stream delivers the past events, then 'caught up', then new events`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    try bob.say("one", to: "alice")
    let follower = try Follower(alice, query(.start))
    #expect(try follower.untilCaughtUp().map(\.summary) == ["1 bob: one", "caught up"])
    try bob.say("two", to: "alice")
    #expect(try follower.until("2 bob: two") == ["2 bob: two"])
  }

  @Test func `after a history, 'caught up' comes first, with the cursor of the history`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    try bob.say("one", to: "alice")
    let position = try alice.here()
    try bob.say("two", to: "alice")
    for follows in [true, false] {
      var query = query(position, follows: follows)
      query.beginsCaughtUp = true
      let follower = try Follower(alice, query)
      let first = try #require(try follower.next())
      #expect(first.map(\.summary) == ["caught up"])
      #expect(try position == .cursor(#require(first.first?.cursor)))
      #expect(try follower.next()?.map(\.summary) == ["2 bob: two"])
      if !follows { #expect(try follower.next() == nil) }
    }
  }

  @Test func `a stream that does not follow ends, and further reads return nothing`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    try alice.say("one", to: "bob")
    let follower = try Follower(alice, query(.start, follows: false))
    _ = try follower.rest()
    #expect(try follower.next() == nil)
  }

  @Test func `a history and the stream from its cursor together have each message exactly once`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    for number in 1...10 { try bob.say("\(number)", to: "alice") }
    let history = try alice.history(HistoryQuery(.direct("bob")))
    var received: [String] = []
    while case let batch = try history.next(), !batch.isEmpty {
      received += batch.compactMap(\.text)
      // A message that is sent while the history is read.
      try bob.say("meanwhile", to: "alice")
    }
    let cursor = try #require(history.cursor)
    let rest = try alice.received(query(.cursor(cursor), [.message]))
    let texts = received + rest.compactMap { if case .message(let message, _) = $0 { message.text } else { nil } }
    #expect(texts == (1...10).map(String.init) + Array(repeating: "meanwhile", count: texts.count - 10))
    #expect(try texts.count == alice.everything(in: "bob").count)
  }

  /// The numbers of the messages that the events of a stream report as read.
  private func read(_ events: [MessagingEvent]) -> [Int] {
    events.flatMap { event -> [Int] in
      guard case .messageStatus(let status, _) = event else { return [] }
      return status.ranges.flatMap(Array.init)
    }
  }

  @Test func `marking many messages as read is one event for each sender, not one for each message`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    _ = try alice.createGroup(titled: "ops", with: ["bob", "carol"])
    for user in ["alice", "carol", "bob", "alice"] {
      _ = try store.messenger(user).send((1...15).map { try Outgoing(to: .title("ops"), text: "\($0)") })
    }
    let position = try alice.here()
    _ = try bob.markRead(.all, in: .title("ops"))
    let all = try alice.received(query(position))
    #expect(all.map(\.summary) == ["bob read 2-16 47-61 of alice", "bob read 17-31 of carol"])
    guard case .messageStatus(let status, _) = all[0] else { return }
    #expect(status.status == .read && status.conversationTitle == "ops")
    #expect(try status.conversationID == alice.conversation(.title("ops")).id)
  }

  @Test func `a change of thousands of messages is delivered completely from any cursor within it`() throws {
    let store = try TemporaryStore()
    let (alice, bob, carol) = (try store.messenger("alice"), try store.messenger("bob"), try store.messenger("carol"))
    _ = try alice.createGroup(titled: "ops", with: ["bob", "carol"])
    for _ in 1...12 {
      for (user, count) in [(alice, 97), (carol, 1), (bob, 3), (carol, 140)] {
        _ = try user.send((1...count).map { try Outgoing(to: .title("ops"), text: "\($0)") })
      }
    }
    let position = try alice.here()
    _ = try bob.markRead(.all, in: .title("ops"))
    try bob.say("read", to: "+ops")
    let all = try alice.received(query(position))
    let others = try alice.everything(in: "+ops").filter { $0.sender.description != "bob" && $0.number > 1 }.map(
      \.number)
    #expect(read(all).sorted() == others && all.count == 7)
    #expect(all.last?.summary == "2894 bob: read")
    let cursors = all.compactMap(\.cursor)
    #expect(zip(cursors, cursors.dropFirst()).allSatisfy { $0 < $1 })
    for (index, cursor) in cursors.enumerated() {
      #expect(try alice.received(query(.cursor(cursor))) == Array(all[(index + 1)...]), "\(index)")
    }
  }

  @Test func `a message sent while a big change is delivered in parts comes after the last part`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    _ = try alice.send((1...2400).map { try Outgoing(to: .direct("bob"), text: "\($0)") })
    let position = try alice.here()
    try bob.read(1...2400, of: "alice")
    let follower = try Follower(alice, query(position, follows: false))
    var received: [String] = []
    while let events = try follower.next() {
      if received.isEmpty { try bob.say("x", to: "alice") }
      received += events.map(\.summary)
    }
    #expect(
      received == [
        "bob read 1-1000 of alice", "bob read 1001-2000 of alice", "bob read 2001-2400 of alice", "2401 bob: x",
        "caught up",
      ])
  }
}
