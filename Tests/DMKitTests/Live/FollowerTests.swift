import FoundationEssentials
import Glibc
import Testing

@testable import DMKit
@testable import DMStore
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

/// How a follower waits, wakes, sends heartbeats and ends.
struct FollowerTests {
  private func query(_ kinds: Set<MessagingEvent.Kind> = [.message]) -> EventQuery {
    var query = EventQuery(from: .now)
    query.kinds = kinds
    query.marksDelivered = false
    query.signalsPresence = false
    return query
  }

  @Test func `a follower is woken by each commit, also by a commit of its own messenger`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    let follower = try Follower(alice, query())
    _ = try follower.untilCaughtUp()
    for number in 1...20 {
      try (number % 2 == 0 ? alice : bob).say("\(number)", to: number % 2 == 0 ? "bob" : "alice")
      #expect(try follower.next(within: .microseconds(testTimeout))?.count == 1)
    }
  }

  @Test func `a follower notices a commit also when the writer does not touch the bell file`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    try bob.say("one", to: "alice")
    let follower = try Follower(alice, query())
    _ = try follower.untilCaughtUp()
    try store.execute(
      """
      INSERT INTO message (uuid, conversation, seq, sender, created_at, text)
      SELECT zeroblob(16), id, 2, 2, last_activity + 1, 'two' FROM conversation;
      INSERT INTO change (at, kind, conversation, user, from_seq, to_seq) SELECT 1, 1, 1, 2, 2, 2;
      """)
    #expect(try follower.until("2 bob: two") == ["2 bob: two"])
    #expect(follower.warning == nil)
  }

  @Test func `a follower loses no event when its bell file is deleted`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    let follower = try Follower(alice, query())
    _ = try follower.untilCaughtUp()
    for number in 1...3 {
      try FileManager.default.removeItem(atPath: store.location.bell)
      try bob.say("\(number)", to: "alice")
      #expect(try follower.until("\(number) bob: \(number)") == ["\(number) bob: \(number)"])
    }
  }

  @Test func `a follower creates a missing bell file`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    try bob.say("one", to: "alice")
    try FileManager.default.removeItem(atPath: store.location.bell)
    let follower = try Follower(alice, query())
    _ = try follower.untilCaughtUp()
    #expect(FileManager.default.fileExists(atPath: store.location.bell))
    try bob.say("two", to: "alice")
    #expect(try follower.until("2 bob: two") == ["2 bob: two"])
    #expect(follower.warning == nil)
  }

  @Test func `following a store that does not exist yet creates it and waits`() throws {
    let store = try TemporaryStore(users: [], isNamed: false)
    let alice = try store.messenger("alice", isLoginName: true)
    let follower = try Follower(alice, query())
    #expect(try follower.untilCaughtUp().map(\.summary) == ["caught up"])
    let bob = try store.messenger("bob", isLoginName: true)
    _ = try alice.addUser(Handle("alice"))
    try bob.say("hi", to: "alice")
    #expect(try follower.until("1 bob: hi") == ["1 bob: hi"])
  }

  @Test func `a wait that times out returns no events`() throws {
    let store = try TemporaryStore()
    let follower = try Follower(try store.messenger("alice"), query())
    _ = try follower.untilCaughtUp()
    let before = monotonicMicroseconds()
    #expect(try follower.next(within: .microseconds(30_000)) == [])
    #expect(monotonicMicroseconds() - before >= 30_000)
    #expect(try follower.next(within: .microseconds(0)) == [])
  }

  @Test func `a wait of zero returns the events that are pending`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    let follower = try Follower(alice, query())
    _ = try follower.untilCaughtUp()
    try bob.say("hi", to: "alice")
    let received = try follower.next(within: .microseconds(0))?.map(\.summary)
    #expect(received == ["1 bob: hi"])
  }

  @Test func `a follower ends when the other end of the descriptor in endsWith is closed`() throws {
    let store = try TemporaryStore()
    let follower = try Follower(try store.messenger("alice"), query())
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { close(ends[1]) }
    follower.endsWith = ends[1]
    _ = try follower.untilCaughtUp()
    #expect(try follower.next(within: .microseconds(1000)) == [])
    close(ends[0])
    #expect(try follower.next(within: .microseconds(testTimeout)) == nil)
  }

  @Test func `input on a watched descriptor ends the wait, and pending events are returned first`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    let follower = try Follower(alice, query())
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { ends.forEach { close($0) } }
    follower.yieldsTo = [ends[0]]
    _ = try follower.untilCaughtUp()
    #expect(try follower.next(within: .microseconds(1000)) == [])
    #expect(write(ends[1], "x", 1) == 1)
    #expect(try follower.next(within: .microseconds(testTimeout)) == [])
    try bob.say("hi", to: "alice")
    #expect(try follower.next(within: .microseconds(testTimeout))?.map(\.summary) == ["1 bob: hi"])
  }

  @Test func `a heartbeat has the current cursor of the stream`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    var query = query()
    query.heartbeat = .milliseconds(20)
    let follower = try Follower(alice, query)
    _ = try follower.untilCaughtUp()
    // A change that does not concern Alice moves the cursor, but gives no other event.
    try bob.say("aside", to: "carol")
    let here = try alice.here()
    let events = try follower.until { event in event.cursor.map { here == .cursor($0) } ?? false }
    #expect(events.allSatisfy { $0.summary == "heartbeat" })
    try bob.say("hi", to: "alice")
    let received = try follower.until("1 bob: hi")
    #expect(received.dropLast().allSatisfy { $0 == "heartbeat" })
  }

  @Test func `heartbeats during a large backlog skip no messages`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    _ = try bob.send((1...3000).map { try Outgoing(to: .direct("alice"), text: "\($0)") })
    var query = query()
    query.start = .start
    query.heartbeat = .milliseconds(1)
    let follower = try Follower(alice, query)
    let seqs = try follower.until { if case .message(let message, _) = $0 { message.seq == 3000 } else { false } }
      .compactMap { if case .message(let message, _) = $0 { message.seq } else { nil } }
    #expect(seqs == Array(1...3000))
  }

  @Test func `only a stream that follows has heartbeats`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    try alice.say("hi", to: "bob")
    var query = query()
    query.start = .start
    query.heartbeat = .microseconds(1)
    query.follows = false
    #expect(try Follower(alice, query).rest().map(\.summary) == ["1 alice: hi", "caught up"])
  }

  @Test func `removing the store ends the stream with an error`() throws {
    let store = try TemporaryStore()
    let follower = try Follower(try store.messenger("alice"), query())
    _ = try follower.untilCaughtUp()
    try FileManager.default.removeItem(atPath: store.location.directory)
    #expect(try code { while try follower.next(within: .microseconds(testTimeout)) == [] {} } == .noStore)
  }

  @Test func `replacing the store by another one ends the stream with an error`() throws {
    let (store, other) = (try TemporaryStore(), try TemporaryStore())
    let follower = try Follower(try store.messenger("alice"), query())
    _ = try follower.untilCaughtUp()
    try FileManager.default.removeItem(atPath: store.location.directory)
    try FileManager.default.copyItem(atPath: other.location.directory, toPath: store.location.directory)
    #expect(try code { while try follower.next(within: .microseconds(testTimeout)) == [] {} } == .storeReplaced)
  }

  @Test func `a stream that does not follow creates no bell file`() throws {
    let store = try TemporaryStore()
    try store.messenger("bob").say("there", to: "alice")
    try FileManager.default.removeItem(atPath: store.location.bell)
    var query = query()
    (query.start, query.follows) = (.start, false)
    let look = try Follower(try store.messenger("alice"), query)
    #expect(try look.next()?.count == 1)
    #expect(!FileManager.default.fileExists(atPath: store.location.bell) && look.warning == nil)
  }

  @Test func `a store that is upgraded to a newer version ends the stream with an error`() throws {
    let store = try TemporaryStore()
    let follower = try Follower(try store.messenger("alice"), query())
    _ = try follower.untilCaughtUp()
    try store.execute("PRAGMA user_version = \(Migration.steps.count + 1)")
    #expect(try code { while try follower.next(within: .microseconds(testTimeout)) == [] {} } == .storeTooNew)
  }
}
