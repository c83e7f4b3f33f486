import DMStore
import FoundationEssentials
import Glibc
import Testing

@testable import DMKit
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

/// Events as an asynchronous sequence.
struct EventsTests {
  private func query(_ start: EventQuery.Start = .start, follows: Bool = true) -> EventQuery {
    var query = EventQuery(from: start)
    query.kinds = [.message]
    (query.follows, query.marksDelivered, query.signalsPresence) = (follows, false, false)
    return query
  }

  /// A store with `count` messages from Alice to Bob.
  private func store(_ count: Int) throws -> TemporaryStore {
    let store = try TemporaryStore()
    guard count > 0 else { return store }
    _ = try store.messenger("alice").send((1...count).map { try Outgoing(to: .direct("bob"), text: "\($0)") })
    return store
  }

  @Test func `a loop over events without following delivers all past events and ends`() async throws {
    let store = try store(1200)
    var seqs: [Int] = []
    var last: MessagingEvent?
    for try await event in try store.messenger("bob").events(query(follows: false)) {
      if case .message(let message, _) = event { seqs.append(message.number) }
      last = event
    }
    #expect(seqs == Array(1...1200))
    #expect(last?.summary == "caught up")
  }

  @Test func `a loop over events with following delivers new events as they happen`() async throws {
    let store = try store(1)
    let alice = try store.messenger("alice")
    var received: [String] = []
    for try await event in try store.messenger("bob").events(query()) {
      received.append(event.summary)
      if received.count >= 2, received.count < 6 { try alice.say("\(received.count)", to: "bob") }
      if received.count == 6 { break }
    }
    #expect(received == ["1 alice: 1", "caught up", "2 alice: 2", "3 alice: 3", "4 alice: 4", "5 alice: 5"])
  }

  @Test func `cancelling a task that waits for events ends the task's loop`() async throws {
    let store = try store(1)
    let events = try store.messenger("bob").events(query())
    let (caughtUp, continuation) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      var received: [String] = []
      for try await event in events {
        received.append(event.summary)
        if received.last == "caught up" { continuation.finish() }
      }
      return received
    }
    for await _ in caughtUp {}
    task.cancel()
    let before = monotonicMicroseconds()
    #expect(try await task.value == ["1 alice: 1", "caught up"])
    #expect(monotonicMicroseconds() - before < testTimeout)
  }

  @Test func `a task that is already cancelled gets no events`() async throws {
    let store = try store(3)
    let events = try store.messenger("bob").events(query())
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      var count = 0
      for try await _ in events { count += 1 }
      return count
    }
    #expect(try await task.value == 0)
  }

  @Test func `two iterators of one sequence deliver the same events, each at its own pace`() async throws {
    let store = try store(700)
    let events = try store.messenger("bob").events(query(follows: false))
    var (one, other) = (events.makeAsyncIterator(), events.makeAsyncIterator())
    var (first, second): ([MessagingEvent], [MessagingEvent]) = ([], [])
    while let event = try await one.next() {
      first.append(event)
      if first.count % 3 == 0, let event = try await other.next() { second.append(event) }
    }
    while let event = try await other.next() { second.append(event) }
    #expect(first.count == 701)
    #expect(first == second)
  }

  @Test func `iterators in concurrent tasks each deliver all events`() async throws {
    let store = try store(600)
    let events = try store.messenger("bob").events(query(follows: false))
    let counts = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 1...8 {
        group.addTask {
          var count = 0
          for try await _ in events { count += 1 }
          return count
        }
      }
      var counts: [Int] = []
      for try await count in group { counts.append(count) }
      return counts
    }
    #expect(counts == Array(repeating: 601, count: 8))
  }

  @Test func `an iterator throws its error once and then ends`() async throws {
    let store = try store(1)
    let events = try store.messenger("bob").events(query(.cursor(.ofAnotherStore)))
    var iterator = events.makeAsyncIterator()
    do {
      _ = try await iterator.next()
      Issue.record("no error was thrown")
    } catch let error as DMError {
      #expect(error.code == .badCursor)
    }
    #expect(try await iterator.next() == nil)
    let unknown = try store.messenger("nobody").events(query())
    do {
      for try await _ in unknown { Issue.record("a user who does not exist got an event") }
      Issue.record("no error was thrown")
    } catch let error as DMError {
      #expect(error.code == .unknownUser)
    }
  }

  @Test func `removing the store throws an error in a loop over events`() async throws {
    let store = try store(1)
    do {
      for try await event in try store.messenger("bob").events(query()) where event.summary == "caught up" {
        try FileManager.default.removeItem(atPath: store.location.directory)
      }
      Issue.record("the loop ended without an error")
    } catch let error as DMError {
      #expect(error.code == .noStore)
    }
  }

  @Test func `a slow reader misses no event, and does not block writers or WAL checkpoints`() async throws {
    let store = try store(600)
    let alice = try store.messenger("alice")
    var iterator = try store.messenger("bob").events(query()).makeAsyncIterator()
    var seqs: [Int] = []
    while seqs.count < 900, let event = try await iterator.next() {
      if case .message(let message, _) = event { seqs.append(message.number) }
      // While the follower returns its first messages, another user writes, and the WAL is checkpointed.
      if seqs.count <= 300 { try alice.say("x", to: "bob") }
    }
    #expect(seqs == Array(1...900))
    let log = try FileManager.default.attributesOfItem(atPath: store.location.database + "-wal")[.size] as? Int
    #expect(try #require(log) < 8 * 1024 * 1024)
  }

  @Test func `an iterator whose next is never called creates no store`() async throws {
    let store = try TemporaryStore(users: [])
    let events = try store.messenger("bob").events(query())
    _ = events.makeAsyncIterator()
    #expect(!FileManager.default.fileExists(atPath: store.location.directory))
  }

  #if os(Linux)
    /// Runs in a separate process, because other tests open descriptors.
    @Test func `no way of ending a loop leaks descriptors or threads`() async {
      await #expect(processExitsWith: .success) {
        let tests = EventsTests()
        let store = try tests.store(3)
        let bob = try store.messenger("bob")
        func iterate() async throws {
          for try await _ in bob.events(tests.query(follows: false)) {}
          for try await event in bob.events(tests.query()) where event.summary == "caught up" { break }
          _ = bob.events(tests.query()).makeAsyncIterator()
          let events = bob.events(tests.query())
          let (caughtUp, continuation) = AsyncStream.makeStream(of: Void.self)
          let task = Task { for try await event in events where event.summary == "caught up" { continuation.finish() } }
          for await _ in caughtUp {}
          task.cancel()
          try await task.value
          var broken = bob.events(tests.query(.cursor(.ofAnotherStore))).makeAsyncIterator()
          await #expect(throws: DMError.self) { try await broken.next() }
        }
        let before = try EventsTests.descriptors()
        for _ in 1...10 { try await iterate() }
        // A thread that has returned its result may not have ended yet.
        let deadline = monotonicMicroseconds() + testTimeout
        while try EventsTests.descriptors() != before || EventsTests.threads() > 8, monotonicMicroseconds() < deadline {
          sched_yield()
        }
        #expect(try EventsTests.descriptors() == before)
        #expect(try EventsTests.threads() <= 8)
        withExtendedLifetime(store) {}
      }
    }

    /// The open descriptors of the kinds that an iteration opens; the Swift runtime opens others.
    private static func descriptors() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { name -> String? in
        // The descriptor that was used to list this folder is closed by now.
        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
        else { return nil }
        return ["pipe:", "anon_inode:inotify", "/dev/shm", "/tmp"].first { target.hasPrefix($0) }
      }.sorted()
    }

    private static func threads() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
    }
  #endif
}
