import DMSync
import Testing

@testable import DMKit
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

/// Members who join, leave and return to a group on a hub, and members who stay.
struct ReturnTests {
  let hub = SharedHub()

  @Test func `a member who is removed and added again between two hints gets the later messages`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try settle([alice, bob])
    let ops = try ConversationReference("+ops")
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("bob")])
    try settle([alice, bob])
    _ = try alice.messenger.remove([Handle("bob")], from: ops)
    try alice.sync()
    try alice.say("without bob", to: "+ops")
    try alice.sync()
    _ = try alice.messenger.add([Handle("bob")], to: ops)
    try alice.sync()
    // A hint names the conversation, but does not say which entries Bob sees.
    let id = try bob.messenger.conversation(ops).id
    let comparisons = bob.link.comparisons
    bob.engine.enqueue(id)
    try bob.engine.drain()
    try alice.say("hello again", to: "+ops")
    try alice.sync()
    bob.engine.enqueue(id)
    try bob.engine.drain()
    #expect(
      try bob.texts("+ops") == [
        "1 alice: conversation_created", "2 alice: user_left", "4 alice: user_joined", "5 alice: hello again",
      ])
    #expect(bob.link.comparisons == comparisons)
    try bob.check()
  }

  @Test(arguments: [false, true])
  func `a member who returns without the history has the current members and owners of the group`(
    isSynced: Bool
  ) throws {
    let names = ["alice", "bob", "carol", "dave"]
    let machines = try names.map { try hub.joined($0) }
    let (alice, bob) = (machines[0], machines[1])
    try settle(machines)
    let ops = try ConversationReference("+ops")
    _ = try alice.messenger.createGroup(titled: "ops", with: ["bob", "carol"])
    try settle(machines)
    func step(_ body: () throws -> Void) throws {
      try body()
      try settle(isSynced ? machines : Array(machines.dropFirst()))
    }
    _ = try alice.messenger.leave(ops)
    try alice.sync()
    try step {}
    try step { try bob.say("without alice", to: "+ops") }
    try step { _ = try bob.messenger.add(["dave"], to: ops) }
    try step { _ = try bob.messenger.remove(["carol"], from: ops) }
    try step { _ = try bob.messenger.add(["alice"], to: ops) }
    try settle(machines)
    for machine in [alice, bob, machines[3]] {
      let group = try machine.messenger.conversation(ops)
      #expect(group.participants.map(\.description).sorted() == ["alice", "bob", "dave"])
      #expect(group.owners.map(\.description) == ["bob"])
      try machine.check()
    }
    try machines[3].say("hello alice", to: "+ops")
    try settle(machines)
    #expect(try alice.texts("+ops").last == "7 dave: hello alice")
    let dave = try alice.messenger.receipts(for: [.message(MessageReference("+ops:1"))]).map(\.user.description)
    #expect(!dave.contains("dave"))
  }

  @Test func `a returning member sees the receipts of a member who leaves right after the return`() throws {
    let machines = try ["alice", "bob", "carol"].map { try hub.joined($0) }
    let (alice, bob, carol) = (machines[0], machines[1], machines[2])
    try settle(machines)
    let ops = try ConversationReference("+ops")
    _ = try alice.messenger.createGroup(titled: "ops", with: ["bob", "carol"])
    try settle(machines)
    _ = try alice.messenger.leave(ops)
    try settle(machines)
    _ = try bob.messenger.add(["alice"], to: ops)
    try bob.say("welcome back", to: "+ops")
    try settle([bob, carol])
    var delivered = Messenger.MarkOptions()
    delivered.act = .delivered
    _ = try carol.messenger.markRead(.all, in: ops, delivered)
    _ = try carol.messenger.leave(ops)
    // Alice's machine learns of Alice's return and of Carol's leaving at the same time.
    try settle([carol, bob, alice])
    for machine in [alice, bob] {
      let group = try machine.messenger.conversation(ops)
      #expect(group.participants.map(\.description).sorted() == ["alice", "bob"])
      let receipts = try machine.messenger.receipts(for: [.message(MessageReference("+ops:4"))])
      #expect(receipts.filter { $0.user == "carol" }.map(\.kind) == [.delivery])
    }
    for machine in machines { try machine.check() }
  }

  @Test func `a former member's store is sound even if it does not know who owns the group`() throws {
    let (alice, bob, carol) = (try hub.joined("alice"), try hub.joined("bob"), try hub.joined("carol"))
    try settle([alice, bob, carol])
    let ops = try ConversationReference("+ops")
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("bob")])
    try settle([alice, bob])
    _ = try bob.messenger.add([Handle("carol")], to: ops)
    try settle([bob, alice])
    try alice.say("welcome", to: "+ops")
    try settle([alice])
    _ = try bob.messenger.leave(ops)
    try settle([bob, alice])
    _ = try alice.messenger.remove([Handle("carol")], from: ops)
    // Carol's machine learns of all this only after Carol was removed, and so cannot ask who owns the group.
    try settle([alice, carol])
    for machine in [alice, bob, carol] { try machine.check() }
  }
}
