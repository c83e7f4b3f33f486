import Testing

@testable import DMKit
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

/// What waits on a machine, and several machines of one person.
struct MachinesTests {
  let hub = SharedHub()

  private func settle(_ machines: [Machine]) throws {
    for _ in 1...3 { for machine in machines { try machine.sync() } }
  }

  @Test func `a bot on two machines says a message once, and neither keeps it waiting`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    let second = try hub.joined("bob")
    try settle([alice, bob, second])
    try alice.say("question", to: "bob")
    try settle([alice, bob, second])
    for machine in [bob, second] {
      _ = try machine.messenger.send(Outgoing(to: ConversationReference("alice"), text: "answer", nonce: "r1"))
    }
    // The second hears of the answer before it has told its own.
    try bob.sync()
    try second.engine.compare()
    second.link.isDeaf = true
    #expect(throws: HubFault.self) { try second.engine.drain() }
    second.link.isDeaf = false
    second.engine.close()
    try settle([second, bob, alice])
    for machine in [bob, second] {
      #expect(try machine.texts("alice") == ["1 alice: question", "2 bob: answer"])
      #expect(try machine.messenger.hubStatus().queuedCount == 0)
      try machine.check()
    }
    #expect(try alice.texts("bob") == ["1 alice: question", "2 bob: answer"])
  }

  @Test func `an answer that was deleted before the other machine gave it stays deleted`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    let second = try hub.joined("bob")
    try settle([alice, bob])
    try alice.say("question", to: "bob")
    try settle([alice, bob])
    let answer = try Outgoing(to: ConversationReference("alice"), text: "answer", nonce: "r1")
    let sent = try bob.messenger.send(answer)
    try settle([bob])
    _ = try bob.messenger.edit([Edit(.id(sent.id), .delete(forEveryone: true))])[0].get()
    try settle([bob])
    // What comes to the second is a message without words, and so without the bot's nonce.
    try second.sync()
    _ = try second.messenger.send(answer)
    try settle([second])
    #expect(try second.texts("alice") == ["1 alice: question"])
    #expect(try second.messenger.hubStatus().queuedCount == 0)
    try second.check()
  }

  @Test func `what was done to a message that is refused is refused with it`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try settle([alice, bob])
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("bob")])
    try settle([alice, bob])
    _ = try alice.messenger.remove([Handle("bob")], from: ConversationReference("+ops"))
    try alice.sync()
    // Bob does not know yet.
    let sent = try bob.say("too late", to: "+ops")
    bob.link.isDeaf = true
    #expect(throws: HubFault.self) { try bob.engine.drain() }
    bob.link.isDeaf = false
    bob.engine.close()
    _ = try bob.messenger.edit([Edit(.id(sent.id), .text("much too late"))])[0].get()
    try settle([bob])
    let store = try #require(try bob.messenger.existingStore())
    let faults = try store.outbox.pending().map(\.fault)
    #expect(faults == ["not_allowed", "unknown_message"])
    try bob.check()
  }

  @Test func `an edit that is tried again is shown, and taken back when it is refused again`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try settle([alice, bob])
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("bob")])
    try settle([alice, bob])
    try bob.say("old", to: "+ops")
    try settle([bob, alice])
    _ = try alice.messenger.remove([Handle("bob")], from: ConversationReference("+ops"))
    try alice.sync()
    // Bob does not know yet.
    _ = try bob.messenger.edit([Edit(MessageReference("+ops:2"), .text("new"))])[0].get()
    #expect(try bob.texts("+ops").last == "2 bob: new")
    for _ in 1...2 {
      try settle([bob])
      #expect(try bob.texts("+ops").contains("2 bob: old"))
      #expect(try bob.store.integers("SELECT count(*) FROM hub_base") == [[0]])
      #expect(try bob.messenger.retry([]).map(\.act) == ["edit"])
      #expect(try bob.texts("+ops").contains("2 bob: new"))
      #expect(try bob.store.integers("SELECT count(*) FROM hub_base") == [[1]])
    }
    _ = try alice.messenger.add([Handle("bob")], to: ConversationReference("+ops"), withHistory: true)
    try settle([alice, bob, alice])
    #expect(try alice.texts("+ops").contains("2 bob: new"))
    for machine in [alice, bob] { try machine.check() }
  }

  @Test func `an edit of a message that the hub may have is shown until the hub has it, too`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try settle([alice, bob])
    try alice.say("hello", to: "bob")
    try settle([alice, bob])
    let sent = try alice.say("one", to: "bob")
    alice.link.isDeaf = true
    #expect(throws: HubFault.self) { try alice.engine.drain() }
    alice.link.isDeaf = false
    _ = try alice.messenger.edit([Edit(.id(sent.id), .text("two"))])[0].get()
    alice.engine.close()
    try alice.engine.connect()
    // The message goes first, because the edit names its number.
    try alice.engine.exchange()
    #expect(try alice.texts("bob") == ["1 alice: hello", "2 alice: two"])
    try settle([alice, bob])
    #expect(try bob.texts("alice") == ["1 alice: hello", "2 alice: two"])
    try alice.check()
  }

  @Test func `who has sent too much waits, nothing is refused, and what comes later does not go before`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try settle([alice, bob])
    try alice.say("hello", to: "bob")
    try settle([alice, bob])
    try alice.say("one", to: "bob")
    hub.model.retryAt = Timestamp(microseconds: Timestamp.now.microseconds + 3_600_000_000)
    try alice.sync()
    let status = try alice.messenger.hubStatus()
    #expect(status.queuedCount > 0 && status.failedCount == 0)
    hub.model.retryAt = nil
    try alice.say("two", to: "bob")
    try settle([alice, bob])
    #expect(try bob.texts("alice") == ["1 alice: hello"])
    // As if the hour had passed.
    let store = try #require(try alice.messenger.existingStore())
    try store.write {
      for operation in try store.outbox.pending() { try store.outbox.postpone(operation.place, until: nil) }
    }
    try settle([alice, bob])
    #expect(try bob.texts("alice") == ["1 alice: hello", "2 alice: one", "3 alice: two"])
  }

  @Test func `a message that waits is at the end of a history and found by its words, and nowhere else`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try settle([alice, bob])
    try bob.say("one", to: "alice")
    try settle([bob, alice])
    let waiting = try alice.say("two", to: "bob")
    #expect(try alice.texts("bob") == ["1 bob: one", "- alice: two"])
    var query = try HistoryQuery(ConversationReference("bob"))
    query.unreadOnly = true
    #expect(try alice.messenger.history(query).rest().map(\.text) == ["one"])
    query.unreadOnly = false
    query.ranges = [RangeReference(from: 1, to: nil)]
    #expect(try alice.messenger.history(query).rest().map(\.text) == ["one"])
    var words = SearchRequest()
    for (text, expected) in [("two", ["two"]), ("one", ["one"]), ("three", [])] {
      words.words = text
      #expect(try alice.messenger.search(words).next().map(\.message.text) == expected)
    }
    #expect(try bob.messenger.search(words).next().isEmpty)
    (query.ranges, query.before) = (nil, .time(.forever))
    #expect(try alice.messenger.history(query).rest().map(\.text) == ["one"])
    _ = try alice.messenger.markRead(.all, in: ConversationReference("bob"))
    for act: Edit.Act in [.react("👍"), .report(reason: nil)] {
      let answer = try alice.messenger.edit([Edit(.id(waiting.id), act)])[0]
      #expect(throws: DMError.self) { _ = try answer.get() }
    }
    #expect(try alice.messenger.conversation(ConversationReference("bob")).unreadCount == 0)
    try alice.check()
    try settle([alice, bob])
    #expect(try bob.messages("alice").map(\.status) == [.read, .sent])
    try bob.check()
  }

  @Test(arguments: [1, 40, 400]) func `what the hub cannot give in time is asked for in smaller parts`(most: Int) throws
  {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try alice.sync()
    for number in 1...300 { try alice.say("text \(number)", to: "bob") }
    try alice.say("note", to: "alice")
    try alice.sync()
    bob.link.most = most
    try bob.sync()
    #expect(try bob.messages("alice").count == 30)
    #expect(try bob.texts("alice").last == "300 alice: text 300")
    #expect(bob.link.exchanges < (most == 1 ? 700 : 40))
    bob.link.most = 0
    try alice.say("more", to: "bob")
    try alice.sync()
    #expect(throws: HubFault.timedOut("57014")) { try bob.sync() }
    try bob.check()
  }

  @Test func `who is removed and added again between two hints goes on`() throws {
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
    // A hint names the conversation, and does not say what Bob sees of it.
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
  func `who comes back without the history sees who came and left meanwhile, and who owns the group`(
    isTold: Bool
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
      try settle(isTold ? machines : Array(machines.dropFirst()))
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

  @Test func `who leaves right after a person came back has received what was said between`() throws {
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
    // Alice learns of her return and of carol's leaving at once.
    try settle([carol, bob, alice])
    for machine in [alice, bob] {
      let group = try machine.messenger.conversation(ops)
      #expect(group.participants.map(\.description).sorted() == ["alice", "bob"])
      let receipts = try machine.messenger.receipts(for: [.message(MessageReference("+ops:4"))])
      #expect(receipts.filter { $0.user == "carol" }.map(\.kind) == [.delivery])
    }
    for machine in machines { try machine.check() }
  }

  @Test func `what is said while a machine is filled for the first time is news, what was said before is not`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try settle([alice, bob])
    try alice.say("before", to: "bob")
    try settle([alice, bob])
    hub.model.clock = Timestamp.now.microseconds
    let second = try Machine(hub, "bob", fills: false)
    hub.model.clock += 60_000_000
    try alice.say("meanwhile", to: "bob")
    try alice.sync()
    try second.sync()
    #expect(try second.texts("alice") == ["1 alice: before", "2 alice: meanwhile"])
    #expect(try second.messenger.told([.message]) == ["2 alice: meanwhile"])
  }

  @Test func `a group of which the owner was not seen keeps an owner when the one who added leaves`() throws {
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
    // Carol hears of it all when she is out again, and cannot ask who owns it.
    try settle([alice, carol])
    for machine in [alice, bob, carol] { try machine.check() }
  }
}
