import Testing

@testable import DMKit
@testable import DMModel
@testable import DMPostgres
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

/// Which users get the typing and the presence of others from a hub, whatever their machines ask for.
///
/// Mallory now shares no conversation with Alice, because Mallory was removed from their group.
struct SignalAttackTests {
  let hub: PostgresHub
  let alice: Attacker
  let bob: Attacker
  let mallory: Attacker
  let direct = Identifier.random(.direct("alice", "bob"))
  let group = Identifier.random(.group(by: "alice"))

  init() throws {
    hub = try PostgresHub()
    (alice, bob) = (try Attacker(hub, "alice"), try Attacker(hub, "bob"))
    mallory = try Attacker(hub, "mallory")
    let operations = [
      HubOperation(.begin, conversation: direct, handles: ["bob"]),
      HubOperation(.group, conversation: group, handles: ["bob", "mallory"], payload: "{}"),
      HubOperation(.remove, conversation: group, handles: ["mallory"]),
    ]
    #expect(try alice.push(operations).map(\.fault) == [nil, nil, nil])
  }

  private func typing(in conversations: [Identifier], for milliseconds: Int = 5000) -> HubSignals {
    var signals = HubSignals()
    signals.typing = conversations.map { ($0, milliseconds) }
    return signals
  }

  /// Returns those of the two conversations in which other users type.
  private func watch(_ watcher: Attacker) throws -> [Identifier] {
    var signals = HubSignals()
    signals.watched = [direct, group]
    return try watcher.link.signals(signals).compactMap { signal in
      guard case .typing(let conversation, _, let rest) = signal else { return nil }
      #expect(0 < rest && rest <= 5000)
      return conversation
    }.sorted()
  }

  private func present(hiddenFrom handles: [Handle] = []) -> HubSignals {
    var signals = HubSignals()
    (signals.isPresent, signals.hiddenFrom) = (true, handles)
    return signals
  }

  private func seesAnybody(_ watcher: Attacker) throws -> Bool {
    var signals = HubSignals()
    signals.seenSeconds = 30
    return try !watcher.link.signals(signals).isEmpty
  }

  @Test func `only members see who is typing in a conversation`() throws {
    _ = try alice.link.signals(typing(in: [direct, group]))
    #expect(try watch(bob) == [direct, group].sorted() && watch(alice).isEmpty)
    #expect(try watch(mallory).isEmpty)
    // Signals of a person who is not in the conversation are ignored.
    _ = try mallory.link.signals(typing(in: [direct, group], for: 1_000_000_000))
    _ = try alice.link.signals(typing(in: [direct], for: 0))
    #expect(try watch(bob) == [group])
    var ended = HubSignals()
    ended.ended = [group]
    for attacker in [mallory, bob] {
      _ = try attacker.link.signals(ended)
      #expect(try watch(bob) == [group])
    }
    _ = try alice.link.signals(ended)
    #expect(try watch(bob).isEmpty)
  }

  @Test func `presence is seen by those who share a conversation, and not by blocked users`() throws {
    _ = try alice.link.signals(present())
    #expect(try seesAnybody(bob) && !seesAnybody(mallory) && !seesAnybody(alice))
    _ = try alice.link.signals(present(hiddenFrom: [Handle("bob"), Handle("nobody")]))
    #expect(try !seesAnybody(bob))
    _ = try alice.link.signals(present())
    #expect(try seesAnybody(bob))
    var profile = HubOperation(.profile, nonce: .random)
    profile.arguments.showsPresence = false
    #expect(try alice.push([profile]).map(\.fault) == [nil])
    #expect(try !seesAnybody(bob))
  }

  @Test func `signals add no entry to a log, and too many signals are refused`() throws {
    #expect(
      try hub.query(
        "SELECT relname FROM pg_class WHERE relpersistence = 'u' AND relkind = 'r' AND relnamespace = 'dm'::regnamespace"
      ).sorted() == ["done_act", "presence", "typing"])
    let many = "array_fill('\(direct)'::uuid, ARRAY[101])"
    #expect(try alice.state(of: "SELECT dm1.signals('{}', '{}', '{}', false, '{}', \(many), NULL)") == "54000")
    let entries = try hub.query("SELECT count(*) FROM dm.entry")
    _ = try alice.link.signals(typing(in: [direct, direct]))
    #expect(try hub.query("SELECT count(*) FROM dm.entry") == entries)
  }
}
