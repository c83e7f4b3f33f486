import Testing

@testable import DMKit
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

/// Operations that wait on a machine, and several machines of one person.
struct MachinesTests {
  let hub = SharedHub()

  @Test func `a bot on two machines sends a message once, and afterwards it is queued on no machine`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    let second = try hub.joined("bob")
    try settle([alice, bob, second])
    try alice.say("question", to: "bob")
    try settle([alice, bob, second])
    for machine in [bob, second] {
      _ = try machine.messenger.send(Outgoing(to: ConversationReference("alice"), text: "answer", nonce: "r1"))
    }
    // The second machine learns that there is an answer before it has pushed its own.
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

  @Test func `a message that was deleted stays deleted when another machine sends a message with the same nonce`()
    throws
  {
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
    // The second machine pulls a message without a payload, and so without the bot's nonce.
    try second.sync()
    _ = try second.messenger.send(answer)
    try settle([second])
    #expect(try second.texts("alice") == ["1 alice: question"])
    #expect(try second.messenger.hubStatus().queuedCount == 0)
    try second.check()
  }

  @Test func `if the hub refuses a message, the edit of this message is refused too`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try settle([alice, bob])
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("bob")])
    try settle([alice, bob])
    _ = try alice.messenger.remove([Handle("bob")], from: ConversationReference("+ops"))
    try alice.sync()
    // Bob's machine does not know yet that Bob was removed.
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

  @Test func `a refused edit is shown again when it is retried, and undone when it is refused again`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try settle([alice, bob])
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("bob")])
    try settle([alice, bob])
    try bob.say("old", to: "+ops")
    try settle([bob, alice])
    _ = try alice.messenger.remove([Handle("bob")], from: ConversationReference("+ops"))
    try alice.sync()
    // Bob's machine does not know yet that Bob was removed.
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

  @Test func `an edit stays visible if the hub may already have the message but not the edit`() throws {
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
    // The message is pushed first, because the edit names its number.
    try alice.engine.exchange()
    #expect(try alice.texts("bob") == ["1 alice: hello", "2 alice: two"])
    try settle([alice, bob])
    #expect(try bob.texts("alice") == ["1 alice: hello", "2 alice: two"])
    try alice.check()
  }

  @Test func `messages over the quota wait instead of being refused, and later messages do not overtake them`() throws {
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
    // Ends the delay of the operations, as if the hour had passed.
    let store = try #require(try alice.messenger.existingStore())
    try store.write {
      for operation in try store.outbox.pending() { try store.outbox.postpone(operation.key, until: nil) }
    }
    try settle([alice, bob])
    #expect(try bob.texts("alice") == ["1 alice: hello", "2 alice: one", "3 alice: two"])
  }

  @Test func `a waiting message is at the end of the history and found by a search, and nowhere else`() throws {
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
    #expect(try bob.messages("alice").map(\.status) == [.read, .delivered])
    try bob.check()
  }

  @Test func `a search finds all messages that wait`() throws {
    let alice = try hub.joined("alice")
    try settle([alice, hub.joined("bob")])
    for number in 1...40 { try alice.say("word \(number)", to: "bob") }
    for words in ["word", nil] {
      var request = SearchRequest(words)
      request.limit = nil
      let found = try alice.messenger.search(request).next()
      #expect(found.count == 40, "\(found.count)")
    }
  }

  @Test(arguments: [1, 40, 400]) func `a pull that times out is repeated in smaller parts`(most: Int) throws {
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

  @Test func `messages sent while a new machine is filled give events, and earlier messages give none`() throws {
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
    #expect(try second.messenger.received([.message]) == ["2 alice: meanwhile"])
  }
}
