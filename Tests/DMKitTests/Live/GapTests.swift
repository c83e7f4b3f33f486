import DMStore
import Testing

@testable import DMKit
@testable import DMModel
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

/// Which changes are removed from the log, and the events and errors for followers that need removed changes.
struct GapTests {
  private static let day: Int64 = 86_400_000_000

  /// A store with `count` messages from Alice to Bob.
  private func store(_ count: Int) throws -> (TemporaryStore, alice: Messenger, bob: Messenger) {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    _ = try alice.send((1...count).map { try Outgoing(to: .direct("bob"), text: "\($0)") })
    return (store, alice, try store.messenger("bob"))
  }

  /// Makes the changes up to `rev` look as old as a number of days.
  private func age(_ store: TemporaryStore, upTo rev: Rev, days: Int64) throws {
    try store.execute("UPDATE change SET at = \(Timestamp.now.microseconds - days * Self.day) WHERE rev <= \(rev)")
  }

  private func prune(_ messenger: Messenger) throws {
    try messenger.writing { try $0.store.changes.prune(now: .now) }
  }

  private func first(_ store: TemporaryStore) throws -> Rev {
    Rev(number: try #require(try store.integers("SELECT min(rev) FROM change")[0][0]))
  }

  private func last(_ store: TemporaryStore) throws -> Rev {
    Rev(number: try #require(try store.integers("SELECT max(rev) FROM change")[0][0]))
  }

  private func query(_ start: EventQuery.Start) -> EventQuery {
    var query = EventQuery(from: start)
    query.kinds = [.message]
    query.marksDelivered = false
    return query
  }

  @Test func `pruning the change log keeps the changes of the last 30 days`() throws {
    let (store, alice, _) = try store(20)
    try age(store, upTo: last(store), days: 29)
    try prune(alice)
    #expect(try first(store) == 1)
  }

  @Test func `pruning stops at the first change that is newer than 30 days`() throws {
    let (store, alice, _) = try store(20)
    try age(store, upTo: 10, days: 31)
    try prune(alice)
    #expect(try first(store) == 11)
    // Old changes after a newer change are kept; the clock may have been set back.
    try age(store, upTo: 20, days: 31)
    try store.execute("UPDATE change SET at = \(Timestamp.now.microseconds) WHERE rev = 15")
    try prune(alice)
    #expect(try first(store) == 15)
  }

  @Test func `pruning keeps the newest change, however old it is`() throws {
    let (store, alice, _) = try store(20)
    let last = try last(store)
    try age(store, upTo: last, days: 400)
    try prune(alice)
    #expect(try first(store) == last)
    try prune(alice)
    #expect(try first(store) == last)
    #expect(try alice.received(query(.now)).isEmpty)
  }

  @Test func `pruning keeps changes needed by consumers of the last 90 days, and ignores older consumers`() throws {
    let (store, alice, bob) = try store(20)
    var consumer = query(.start)
    consumer.consumer = "bot"
    consumer.follows = false
    let events = try Follower(bob, consumer).rest()
    let third = try #require(events[2].cursor)
    _ = try bob.acknowledge(third, for: "bot")
    try age(store, upTo: last(store), days: 400)
    try prune(alice)
    #expect(try first(store) == third.position.rev + 1)
    #expect(try Follower(bob, consumer).rest().map(\.summary) == events.dropFirst(3).map(\.summary))
    for (days, expected) in [(89, third.position.rev + 1), (91, try last(store))] {
      try store.execute("UPDATE consumer SET used_at = \(Timestamp.now.microseconds - Int64(days) * Self.day)")
      try prune(alice)
      #expect(try first(store) == expected)
    }
  }

  @Test func `pruning keeps the changes that the consumer with the oldest cursor needs`() throws {
    let (store, alice, bob) = try store(20)
    for (name, rev) in [("a", 12), ("b", 7), ("c", 15)] {
      var query = query(.cursor(try cursor(Rev(number: Int64(rev)), store)))
      query.consumer = name
      query.follows = false
      _ = try Follower(bob, query)
    }
    try age(store, upTo: last(store), days: 400)
    try prune(alice)
    #expect(try first(store) == 8)
  }

  private func cursor(_ rev: Rev, _ store: TemporaryStore) throws -> Cursor {
    let opened = try #require(try store.messenger("bob").existingStore())
    return Cursor(store: try opened.uuid(), Cursor.Position(rev: rev))
  }

  @Test func `one pruning deletes at most 5,000 changes`() throws {
    let (store, alice, _) = try store(1)
    try store.execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
      INSERT INTO change (at, kind, conversation, user, from_seq, to_seq) SELECT 1, 1, 1, 1, 1, 1 FROM n;
      UPDATE change SET at = 1;
      """)
    for step in 1...2 {
      try prune(alice)
      #expect(try first(store) == 1 + 5000 * Int64(step))
    }
    try prune(alice)
    #expect(try first(store) == last(store))
  }

  @Test func `writers prune the change log once in a thousand changes`() throws {
    let (store, alice, _) = try store(10)
    try age(store, upTo: last(store), days: 31)
    let before = try last(store)
    try alice.say("x", to: "bob")
    #expect(try first(store) == 1)
    _ = try alice.send((1...1000).map { try Outgoing(to: .direct("bob"), text: "\($0)") })
    #expect(try first(store) == before + 1)
  }

  @Test func `a follower whose cursor is too old gets one gap event and then the rest`() throws {
    let (store, alice, bob) = try store(20)
    let all = try bob.received(query(.start))
    let position = try #require(all[4].cursor)
    try age(store, upTo: try #require(all[9].cursor).position.rev, days: 31)
    try prune(alice)
    let received = try bob.received(query(.cursor(position)))
    guard case .gap(let from, let to)? = received.first else {
      Issue.record("instead of a gap came \(received.map(\.summary))")
      return
    }
    #expect(from == position)
    #expect(to == all[9].cursor)
    #expect(received.dropFirst() == all.dropFirst(10))
    #expect(try bob.received(query(.cursor(to))) == Array(all.dropFirst(10)))
    // A follower that has received the last removed change misses nothing.
    #expect(try bob.received(query(.cursor(try #require(all[10].cursor)))) == Array(all.dropFirst(11)))
  }

  @Test func `a stream from the start begins at the oldest kept change, without a gap event`() throws {
    let (store, alice, bob) = try store(20)
    try age(store, upTo: 10, days: 31)
    try prune(alice)
    let received = try bob.received(query(.start)).map(\.summary)
    #expect(!received.contains("gap"))
    #expect(received.last == "20 alice: 20")
  }

  @Test func `a cursor in the middle of a pruned big change gives a gap event`() throws {
    let (store, alice, bob) = try store(2400)
    var updates = query(try alice.here())
    updates.kinds = [.messageStatus]
    try bob.read(1...2400, of: "alice")
    let half = try #require(try alice.received(updates)[1].cursor)
    try age(store, upTo: last(store), days: 31)
    try alice.say("x", to: "bob")
    try prune(alice)
    updates.start = .cursor(half)
    #expect(try alice.received(updates).map(\.summary) == ["gap"])
  }

  @Test func `a gap event is delivered whatever kinds and conversations the stream selects`() throws {
    let (store, alice, bob) = try store(20)
    let position = EventQuery.Start.cursor(try cursor(3, store))
    try age(store, upTo: 15, days: 31)
    try prune(alice)
    for kinds in [[], [.typing], [.readReceipt], [.message]] as [Set<MessagingEvent.Kind>] {
      #expect(try bob.received(kinds, from: position).first == "gap")
      #expect(try bob.received(kinds, in: ["carol"], from: position) == ["gap"])
    }
  }

  @Test func `one missing change gives a gap event, and a cursor just before a kept change does not`() throws {
    let (store, alice, bob) = try store(20)
    let (before, next) = (try cursor(3, store), try cursor(4, store))
    try age(store, upTo: 4, days: 31)
    try prune(alice)
    #expect(try first(store) == 5)
    let received = try bob.received(query(.cursor(before)))
    guard case .gap(let from, let to)? = received.first else {
      Issue.record("instead of a gap came \(received.map(\.summary))")
      return
    }
    #expect(from == before)
    #expect(to == next)
    #expect(try !bob.received(query(.cursor(next))).map(\.summary).contains("gap"))
  }

  /// A consumer whose next changes, those after the third message, were removed.
  private func lateConsumer() throws -> (TemporaryStore, EventQuery, bob: Messenger, position: Cursor, next: Cursor) {
    let (store, alice, bob) = try store(20)
    var consumer = query(.start)
    consumer.consumer = "bot"
    consumer.follows = false
    let cursors = try Follower(bob, consumer).rest().compactMap(\.cursor)
    _ = try bob.acknowledge(cursors[2], for: "bot")
    try age(store, upTo: cursors[9].position.rev, days: 100)
    try store.execute("UPDATE consumer SET used_at = \(Timestamp.now.microseconds - 91 * Self.day)")
    try prune(alice)
    return (store, consumer, bob, cursors[2], cursors[9])
  }

  @Test func `a consumer stops at a gap with an error that names both cursors, and keeps its cursor`() throws {
    let (store, consumer, bob, position, next) = try lateConsumer()
    defer { withExtendedLifetime(store) {} }
    for _ in 1...2 {
      let fault = try fault { try Follower(bob, consumer).rest() }
      #expect(fault?.code == .gap)
      #expect(fault?.subject == "bot" && fault?.remedy == .acceptGap)
      for word in ["'bot'", "'\(position)'", "'\(next)'"] {
        #expect(fault?.message.contains(word) == true)
      }
      #expect(try bob.consumers().map(\.cursor) == [position])
    }
  }

  @Test func `a consumer that accepts the gap gets it as an event, and acknowledging it ends the gap`()
    throws
  {
    var (store, consumer, bob, position, next) = try lateConsumer()
    defer { withExtendedLifetime(store) {} }
    consumer.acceptsGap = true
    let received = try Follower(bob, consumer).rest()
    #expect(received.first == .gap(from: position, to: next))
    #expect(received.map(\.summary) == ["gap"] + (11...20).map { "\($0) alice: \($0)" } + ["caught up"])
    _ = try bob.acknowledge(next, for: "bot")
    consumer.acceptsGap = false
    #expect(try Follower(bob, consumer).rest() == Array(received.dropFirst()))
  }

  @Test func `statistics warn of a consumer whose next change is older than 30 days or was removed`() throws {
    let (store, consumer, bob, _, next) = try lateConsumer()
    func warnings() throws -> [Consumer.Warning?] { try store.upkeep.statistics().consumers.map(\.warning) }
    #expect(try warnings() == [.gap])
    _ = try bob.acknowledge(next, for: "bot")
    #expect(try warnings() == [nil])
    try age(store, upTo: next.position.rev + 1, days: 29)
    #expect(try warnings() == [nil])
    try age(store, upTo: next.position.rev + 1, days: 31)
    #expect(try warnings() == [.late])
    _ = try bob.acknowledge(#require(Follower(bob, consumer).rest().last?.cursor), for: "bot")
    #expect(try warnings() == [nil])
  }
}
