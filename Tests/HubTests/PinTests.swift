import Testing

@testable import DMKit
@testable import DMModel
@testable import DMPostgres
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

/// Pinned messages of several stores on a model of the hub.
struct PinTests {
  private let hub = SharedHub()
  private let alice: Machine
  private let bob: Machine

  init() throws {
    (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try alice.sync()
    for text in ["one", "two", "three"] { try alice.say(text, to: "bob") }
    try settle([alice, bob])
  }

  private func pin(_ message: String, _ isPinned: Bool = true, on machine: Machine) throws {
    _ = try machine.messenger.edit([Edit(MessageReference(message), .pin(isPinned))])[0].get()
  }

  private func pins(_ machine: Machine) throws -> [String] {
    try machine.messenger.pins().map { "\($0.number) by \($0.pin?.user.description ?? "-")" }
  }

  @Test func `a pin is shown once the hub has ordered it, and reaches the other stores`() throws {
    try pin("bob:2", on: alice)
    #expect(try pins(alice) == [] && alice.messenger.awaitsHub)
    try settle([alice, bob])
    for machine in [alice, bob] { #expect(try pins(machine) == ["2 by alice"]) }
    let times = try [alice, bob].map { try $0.messenger.pins().first?.pin?.at }
    #expect(times[0] == times[1])
    let second = try hub.joined("bob")
    #expect(try pins(second) == ["2 by alice"])
    for machine in [alice, bob, second] { try machine.check() }
  }

  @Test func `concurrent pins and unpins lead to the same pins in all stores, in the order of the hub`() throws {
    try pin("bob:1", on: alice)
    try settle([alice, bob])
    // Both act before either has synchronized; the hub gets the operations of Bob first.
    try pin("alice:1", false, on: bob)
    try pin("alice:2", on: bob)
    try pin("bob:2", on: alice)
    try pin("bob:1", false, on: alice)
    try pin("bob:1", on: alice)
    try settle([bob, alice])
    try settle([bob, alice])
    for machine in [alice, bob] { #expect(try pins(machine) == ["1 by alice", "2 by bob"]) }
    for machine in [alice, bob] {
      #expect(try #require(try machine.messenger.existingStore()).outbox.pending().isEmpty)
      try machine.check()
    }
  }

  @Test func `deleting a message unpins it in all stores`() throws {
    try pin("alice:3", on: bob)
    try settle([alice, bob])
    _ = try alice.messenger.edit([Edit(MessageReference("bob:3"), .delete(forEveryone: true))])[0].get()
    try settle([alice, bob])
    for machine in [alice, bob] {
      #expect(try pins(machine) == [])
      #expect(try machine.store.integers("SELECT count(*) FROM message_pin") == [[0]])
      try machine.check()
    }
  }

  @Test func `a store that keeps only the last messages lists older pins, too`() throws {
    try pin("bob:1", on: alice)
    for number in 1...20 { try alice.say("message \(number)", to: "bob") }
    try settle([alice, bob])
    _ = try bob.messenger.markReadEverywhere(.all)
    try settle([alice, bob])
    try bob.messenger.keep(.last(5))
    _ = try bob.messenger.trimMessages(slack: 0)
    #expect(try bob.store.integers("SELECT count(*) FROM message_pin") == [[1]])
    try bob.check()
    // The message itself was removed, and the pin of a removed message changes, too.
    try pin("bob:2", on: alice)
    try pin("bob:1", false, on: alice)
    try settle([alice, bob])
    #expect(try bob.store.integers("SELECT seq FROM message_pin") == [[2]])
    try bob.check()
  }

  @Test func `a store that joins and keeps only the last messages gets the pins of older ones`() throws {
    for number in 1...20 { try alice.say("message \(number)", to: "bob") }
    try pin("bob:1", on: alice)
    try pin("bob:2", on: alice)
    try pin("bob:2", false, on: alice)
    try settle([alice, bob])
    _ = try bob.messenger.markReadEverywhere(.all)
    try alice.say("last", to: "bob")
    try settle([alice, bob])
    let second = try Machine(hub, "bob", fills: false)
    try second.messenger.keep(.last(5))
    try second.sync()
    #expect(try second.store.integers("SELECT count(*) < 10 FROM message") == [[1]])
    #expect(try second.store.integers("SELECT seq FROM message_pin") == [[1]])
    try second.check()
  }

  @Test func `a restored hub gets the pins again`() throws {
    let backup = hub.model
    try pin("bob:2", on: alice)
    try settle([alice, bob])
    hub.model.restore(backup)
    for _ in 1...3 { try settle([alice, bob]) }
    for machine in [alice, bob] {
      #expect(try pins(machine) == ["2 by alice"])
      try machine.check()
    }
  }

  @Test func `PostgreSQL refuses the 51st pin of a conversation, and lets members unpin`() throws {
    let postgres = try PostgresHub()
    let alice = try Attacker(postgres, "alice")
    let group = Identifier.random(.group(by: "alice"))
    #expect(try alice.push([HubOperation(.group, conversation: group)]).map(\.fault) == [nil])
    let says = (0..<51).map { _ in
      HubOperation(.say, nonce: .random, conversation: group, id: .random, payload: Array("{}".utf8))
    }
    #expect(try alice.push(says).allSatisfy { $0.fault == nil })
    let said = try alice.pull(group).filter { $0.kind == .message }
    func pin(_ entry: HubEntry, _ isPinned: Bool) -> HubOperation {
      var operation = HubOperation(.pin, nonce: .random, conversation: group, id: entry.id)
      operation.seq = entry.seq
      operation.arguments.isPinned = isPinned
      return operation
    }
    let answers = try alice.push(said.map { pin($0, true) })
    #expect(answers.prefix(50).allSatisfy { $0.fault == nil } && answers.last?.fault == "too_many_pins")
    let again = try alice.push([pin(said[0], false), pin(said[50], true), pin(said[50], true)])
    #expect(again.map(\.fault) == [nil, nil, nil] && again.map(\.isDuplicate) == [false, false, true])
    var delete = HubOperation(.delete, nonce: .random, conversation: group, id: said[1].id)
    delete.seq = said[1].seq
    #expect(try alice.push([delete, pin(said[0], true)]).map(\.fault) == [nil, nil])
    #expect(try postgres.query("SELECT count(*) FROM dm.pinned") == ["50"])
    #expect(try postgres.administrator.check().filter { !$0.isNote }.isEmpty)
  }
}
