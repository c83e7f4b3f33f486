import Synchronization
import Testing

@testable import DMKit
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

@Suite struct AsyncMessengerTests {
  private func messenger(_ store: TemporaryStore, _ handle: String) throws -> AsyncMessenger {
    AsyncMessenger(store.location, as: Messenger.Identity(try Handle(handle), isLoginName: false))
  }

  @Test func `a task sends a message and another reads it`() async throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try messenger(store, "alice"), try messenger(store, "bob"))
    let sent = try await alice.perform { try $0.send(Outgoing(to: .direct("bob"), text: "hello")) }
    let seen = try await bob.perform { try $0.history(HistoryQuery(.direct("alice"))).next() }
    #expect(seen.map(\.id) == [sent.id])
  }

  @Test func `concurrent calls of many tasks all run, and each gets its own result`() async throws {
    let store = try TemporaryStore()
    let alice = try messenger(store, "alice")
    let texts = try await withThrowingTaskGroup(of: (Int, String?).self) { group in
      for number in 1...100 {
        group.addTask {
          (number, try await alice.perform { try $0.send(Outgoing(to: .direct("bob"), text: "\(number)")).text })
        }
      }
      return try await group.reduce(into: [:] as [Int: String]) { $0[$1.0] = $1.1 }
    }
    #expect(texts == Dictionary(uniqueKeysWithValues: (1...100).map { ($0, "\($0)") }))
    let all = try await alice.perform { messenger in
      var query = HistoryQuery(.direct("bob"))
      query.limit = nil
      return try messenger.history(query).next().compactMap(\.text)
    }
    #expect(Set(all) == Set(texts.values))
  }

  @Test func `an error of the messenger reaches the task`() async throws {
    let alice = try messenger(try TemporaryStore(), "alice")
    let error = await #expect(throws: DMError.self) {
      try await alice.perform { try $0.send(Outgoing(to: .direct("nobody-here"), text: "hello")) }
    }
    #expect(error?.code == .unknownUser)
  }

  @Test @MainActor func `a send that waits for another writer does not block the caller's executor`() async throws {
    let store = try TemporaryStore()
    let alice = try messenger(store, "alice")
    let other = try #require(try Store.open(store.location))
    let lock = try other.writeLock()
    let isSent = Mutex(false)
    let send = Task {
      let message = try await alice.perform { try $0.send(Outgoing(to: .direct("bob"), text: "hello")) }
      isSent.withLock { $0 = true }
      return message
    }
    // This task runs on the executor of the test, which the waiting send does not block.
    let free = await Task { @MainActor in isSent.withLock { !$0 } }.value
    #expect(free)
    _ = consume lock
    #expect(try await send.value.text == "hello")
  }

  @Test func `a task that is cancelled before its call does nothing`() async throws {
    let store = try TemporaryStore()
    let alice = try messenger(store, "alice")
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await alice.perform { try $0.send(Outgoing(to: .direct("bob"), text: "hello")) }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await alice.perform { try $0.conversations().isEmpty })
  }
}
