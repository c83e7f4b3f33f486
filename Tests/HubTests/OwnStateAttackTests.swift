import Testing

@testable import DMKit
@testable import DMModel
@testable import DMPostgres
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

/// Own states on a real hub, and what other members can do to them.
struct OwnStateAttackTests {
  let hub: PostgresHub
  let alice: Attacker
  let mallory: Attacker
  let direct = Identifier.random(.direct("alice", "bob"))

  init() throws {
    hub = try PostgresHub()
    (alice, mallory) = (try Attacker(hub, "alice"), try Attacker(hub, "mallory"))
    _ = try Attacker(hub, "bob")
    #expect(try alice.push([HubOperation(.begin, conversation: direct, handles: ["bob"])]).map(\.fault) == [nil])
  }

  private func state(_ text: String, _ mark: Identifier? = nil, of conversation: Identifier? = nil) -> HubOwnState {
    HubOwnState(conversation: conversation ?? direct, mark: mark, state: Array(text.utf8))
  }

  /// The texts of the states that a member gets.
  private func texts(_ member: Attacker, after rev: Int64 = 0, _ given: [HubOwnState] = []) throws -> [String] {
    try member.link.ownStates(after: rev, given, limit: 100).map { String(decoding: $0.state, as: UTF8.self) }
  }

  @Test func `an own state is replaced only if the request has its current mark, and is always returned`() throws {
    let first = try #require(try alice.link.ownStates(after: 0, [state("one")], limit: 10).first)
    #expect(first.rev == 1)
    #expect(try texts(alice, after: 1, [state("without a mark")]) == ["one"])
    #expect(try texts(alice, after: 1, [state("two", first.mark)]) == ["two"])
    #expect(try texts(alice, after: 2, [state("with an old mark", first.mark)]) == ["two"])
    #expect(try alice.link.compare(since: nil).ownRev == 2)
    let second = try Attacker(hub, "alice")
    #expect(try texts(second) == ["two"])
  }

  @Test func `a person cannot see own states of others, or learn from own states which conversations exist`() throws {
    _ = try texts(alice, [state("secret"), state("general", of: HubOwnState.general)])
    #expect(try texts(mallory).isEmpty)
    let unknown = Identifier.random(.direct("alice", "carol"))
    #expect(try texts(mallory, [state("mine"), state("mine", of: unknown)]).isEmpty)
    #expect(try texts(mallory, [state("general", of: HubOwnState.general)]) == ["general"])
    #expect(try hub.query("SELECT count(*) FROM dm.own_state") == ["3"])
    #expect(try mallory.state(of: "SELECT * FROM dm.own_state") == "42501")
  }

  @Test func `own states count against the limits, and own states that are too large are not stored`() throws {
    #expect(try texts(alice, [state(String(repeating: "x", count: 524_289))]).isEmpty)
    #expect(try texts(alice, [state(String(repeating: "x", count: 524_288))]).first?.utf8.count == 524_288)
    _ = try hub.query(
      "UPDATE dm.hub SET hourly_bytes = 1048576; UPDATE dm.person SET spent = 1048000, spent_at = now()")
    #expect(try texts(alice, [state(String(repeating: "y", count: 2000), of: HubOwnState.general)]).count == 1)
    #expect(try hub.query("SELECT count(*) FROM dm.own_state WHERE conv <> '\(direct)'") == ["0"])
    #expect(try hub.query("SELECT dm.kept(id) FROM dm.person WHERE handle = 'alice'") == ["524288"])
    let many = "array(SELECT gen_random_uuid() FROM generate_series(1, 1001))"
    #expect(try alice.state(of: "SELECT dm1.own_states(0, \(many), '{}', '{}', 1)") == "54000")
  }

  @Test func `a new own state notifies the user's other machines, and no other person`() throws {
    let second = try hub.link("alice")
    let other = try hub.link("bob")
    for link in [second, other] {
      try link.listen(true)
      _ = try link.wait(for: .zero)
    }
    _ = try texts(alice, [state("one")])
    #expect(try second.wait(for: .seconds(10)).hasOwnStates)
    #expect(try !other.wait(for: .zero).hasOwnStates)
  }

  @Test func `the own states of an erased person are erased, and a revoked machine gets none`() throws {
    _ = try texts(alice, [state("one")])
    _ = try hub.administrator.forget("alice")
    #expect(try hub.query("SELECT count(*) FROM dm.own_state") == ["0"])
    #expect(throws: HubFault.self) { try texts(alice) }
  }

  @Test func `a person cannot revoke a machine of another person, or their own last machine`() throws {
    let machine = try alice.link.open().machine
    _ = try mallory.link.revoke(machine)
    _ = try alice.link.revoke(machine)
    #expect(try alice.link.machines().map(\.id) == [machine])
    #expect(try mallory.link.machines().count == 1)
  }
}
