import Foundation
import Testing

@testable import DMKit
@testable import DMStore
@testable import DMSync
@testable import DMSystem
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

/// Hubs that were restored from a backup, or that lag, and how linked stores handle this.
struct SetBackTests {
  let hub = SharedHub()

  /// The machines of Alice and Bob, who are in the group `ops`, in which Alice has sent these texts.
  private func members(_ texts: [String] = ["one", "two"]) throws -> (alice: Machine, bob: Machine) {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try alice.sync()
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("bob")])
    for text in texts { try alice.say(text, to: "+ops") }
    try connectAnewAndSettle([alice, bob])
    return (alice, bob)
  }

  @Test func `a log with a message that the user has reported can be pulled again`() throws {
    let (alice, bob) = try members()
    let backup = hub.model
    try bob.messenger.edit([Edit(MessageReference("+ops:2"), .report(reason: "spam"))]).forEach { _ = try $0.get() }
    try alice.say("three", to: "+ops")
    try connectAnewAndSettle([alice, bob])
    hub.model.restore(backup)
    try connectAnewAndSettle([alice, bob])
    #expect(try bob.texts("+ops") == alice.texts("+ops"))
    try bob.check()
  }

  @Test func `a person number that the hub reuses after a restore refers to the new person`() throws {
    let (alice, bob) = try members()
    let backup = hub.model
    let zoe = try hub.joined("zoe")
    try connectAnewAndSettle([alice, bob, zoe])
    try zoe.say("from zoe", to: "alice")
    try connectAnewAndSettle([zoe, alice])
    let number = try #require(hub.model.persons.values.first { $0.handle == "zoe" }?.id)
    hub.model.restore(backup)
    let machine = hub.model.invite("mallory")
    let mallory = try #require(hub.model.persons.values.first { $0.handle == "mallory" })
    hub.model.persons[mallory.id] = nil
    hub.model.persons[number] = ModelHub.Person(
      id: number, handle: "mallory", createdAt: mallory.createdAt, rev: mallory.rev)
    hub.model.machines[machine] = number
    try connectAnewAndSettle([alice, bob])
    let conversation = Identifier.random(.direct("mallory", "alice"))
    let operations = [
      HubOperation(.begin, conversation: conversation, handles: ["alice"]), .say("words", in: conversation),
    ]
    #expect(try hub.model.push(machine, operations).map(\.fault) == [nil, nil])
    try connectAnewAndSettle([alice])
    #expect(try alice.texts("mallory") == ["1 mallory: words"])
    try alice.check()
  }

  @Test func `a standby that lags is not taken for a restored hub`() throws {
    let (alice, bob) = try members()
    var standby = hub.model
    try alice.say("three", to: "+ops")
    try connectAnewAndSettle([alice, bob])
    let before = try bob.texts("+ops")
    let primary = hub.model
    (standby.isStandby, standby.startedAt) = (true, Timestamp(microseconds: 2))
    hub.model = standby
    bob.engine.close()
    try bob.sync()
    #expect(try bob.texts("+ops") == before)
    #expect(!fileExists("\(bob.store.location.directory)/forks"))
    hub.model = primary
    try alice.say("four", to: "+ops")
    try connectAnewAndSettle([alice, bob])
    #expect(try bob.texts("+ops") == before + ["5 alice: four"])
    try bob.check()
  }

  @Test func `a lost message that no machine pushes again is kept in a copy for 30 days`() throws {
    let (alice, bob) = try members(["one"])
    let backup = hub.model
    try alice.say("lost", to: "+ops")
    try connectAnewAndSettle([alice, bob])
    hub.model.restore(backup)
    // Alice's machine does not connect again.
    try connectAnewAndSettle([bob])
    #expect(try bob.texts("+ops") == ["1 alice: conversation_created", "2 alice: one"])
    let copy = try #require(bob.store.upkeep.statistics().copies.first)
    #expect(copy.missingCount == 1 && copy.senders == ["alice"])
    #expect(try String(contentsOfFile: copy.path, encoding: .utf8).contains("lost"))
    #expect(try bob.store.upkeep.purge().copiesCount == 0)
    let monthAgo = Date(timeIntervalSinceNow: -31 * 86_400)
    try FileManager.default.setAttributes([.modificationDate: monthAgo], ofItemAtPath: copy.path)
    #expect(try bob.store.upkeep.purge().copiesCount == 1)
    #expect(try bob.store.upkeep.statistics().copies == [])
    // Now Alice's machine connects again.
    try connectAnewAndSettle([alice, bob])
    #expect(try bob.texts("+ops").last == "3 alice: lost")
    try bob.check()
  }

  @Test func `messages in a conversation that the hub has lost wait for the user who started it`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try connectAnewAndSettle([alice, bob])
    let backup = hub.model
    try alice.say("hello", to: "bob")
    try connectAnewAndSettle([alice, bob])
    try bob.say("hi", to: "alice")
    try connectAnewAndSettle([bob, alice])
    hub.model.restore(backup)
    try connectAnewAndSettle([bob])
    #expect(try bob.messenger.hubStatus().failedCount == 0)
    try connectAnewAndSettle([alice, bob, alice])
    #expect(Set(try alice.texts("bob").map { $0.dropFirst(2) }) == ["alice: hello", "bob: hi"])
    #expect(try alice.texts("bob") == bob.texts("alice"))
    for machine in [alice, bob] { try machine.check() }
  }

  @Test func `if an entry is missing in a pull, the log is pulled again`() throws {
    let (alice, bob) = try members()
    _ = try alice.messenger.edit([Edit(MessageReference("+ops:2"), .text("uno"))])[0].get()
    try alice.say("three", to: "+ops")
    try connectAnewAndSettle([alice])
    bob.link.missing = .edited
    try connectAnewAndSettle([bob])
    #expect(bob.link.missing == nil)
    #expect(try bob.texts("+ops").suffix(3) == ["2 alice: uno", "3 alice: two", "4 alice: three"])
    try bob.check()
  }

  @Test func `after a restore, a bot gets the messages that it has not received yet, and no others`() throws {
    let (alice, bob) = try members(["old"])
    let backup = hub.model
    let start = try bob.messenger.here()
    try alice.say("heard", to: "+ops")
    try connectAnewAndSettle([alice, bob])
    var query = EventQuery(from: .now)
    (query.consumer, query.follows, query.signalsPresence) = ("bot", false, false)
    let bot = try #require(Follower(bob.messenger, query).rest().last?.cursor)
    try alice.say("not heard", to: "+ops")
    try connectAnewAndSettle([alice, bob])
    #expect(try bob.messenger.received([.message], from: start) == ["3 alice: heard", "4 alice: not heard"])
    hub.model.restore(backup)
    try connectAnewAndSettle([alice, bob, alice, bob])
    #expect(try bob.texts("+ops").suffix(2) == ["3 alice: heard", "4 alice: not heard"])
    #expect(try bob.messenger.received([.message], from: .cursor(bot)) == ["4 alice: not heard"])
  }

  @Test(arguments: [false, true])
  func `a bot whose user is added again with the history gets the messages that it lacks`(knowsOfRemoval: Bool) throws {
    let (alice, bob) = try members(["old"])
    let ops = try ConversationReference("+ops")
    var query = EventQuery(from: .now)
    (query.consumer, query.follows, query.signalsPresence) = ("bot", false, false)
    let bot = try #require(Follower(bob.messenger, query).rest().last?.cursor)
    try alice.say("question", to: "+ops")
    try connectAnewAndSettle([alice, bob])
    _ = try alice.messenger.remove([Handle("bob")], from: ops)
    try alice.say("while they were out", to: "+ops")
    try connectAnewAndSettle(knowsOfRemoval ? [alice, bob] : [alice])
    _ = try alice.messenger.add([Handle("bob")], to: ops, withHistory: true)
    try connectAnewAndSettle([alice, bob])
    #expect(try bob.texts("+ops").contains { $0.hasSuffix("alice: while they were out") })
    // The bot gets the same messages as in a store without a hub.
    let received = try bob.messenger.received([.message], from: .cursor(bot)).filter { !$0.contains("user_") }
    #expect(received == ["3 alice: question", "5 alice: while they were out"])
    try bob.check()
  }

  @Test func `stores notice a hub that resumes from a snapshot with the same epoch, and push everything again`() throws
  {
    let (alice, bob) = try members()
    let snapshot = hub.model
    try alice.say("three", to: "+ops")
    let carol = try hub.joined("carol")
    try connectAnewAndSettle([alice, bob, carol])
    try bob.say("hello", to: "carol")
    try carol.say("hello Alice", to: "alice")
    try connectAnewAndSettle([alice, bob, carol, alice, bob])
    // The hub has the same epoch and start time as before, but all its counters go back.
    hub.model = snapshot
    let dave = try hub.joined("dave")
    try dave.say("I am new", to: "alice")
    try connectAnewAndSettle([alice, bob, dave, alice, bob])
    #expect(try alice.texts("dave") == ["1 dave: I am new"])
    #expect(try alice.texts("+ops").last == "4 alice: three")
    #expect(try alice.texts("+ops") == bob.texts("+ops"))
    #expect(try alice.messenger.hubStatus().queuedCount == 0)
    for machine in [alice, bob] { try machine.check() }
  }

  @Test func `messages of a member whose return the hub has lost wait until the member is added again`() throws {
    let (alice, bob) = try members()
    let ops = try ConversationReference("+ops")
    _ = try alice.messenger.remove([Handle("bob")], from: ops)
    try connectAnewAndSettle([alice, bob])
    let backup = hub.model
    _ = try alice.messenger.add([Handle("bob")], to: ops)
    try connectAnewAndSettle([alice, bob])
    try bob.say("here again", to: "+ops")
    try connectAnewAndSettle([bob, alice])
    hub.model.restore(backup)
    try connectAnewAndSettle([bob, alice])
    #expect(try bob.messenger.hubStatus().failedCount == 0)
    _ = try alice.messenger.add([Handle("bob")], to: ops)
    try connectAnewAndSettle([alice, bob, alice])
    #expect(try alice.texts("+ops").last?.hasSuffix(" bob: here again") == true)
    #expect(try bob.texts("+ops").last?.hasSuffix(" bob: here again") == true)
    for machine in [alice, bob] { try machine.check() }
  }

  @Test func `messages that users deleted for themselves stay deleted when they are added again with the history`()
    throws
  {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    _ = try hub.joined("carol")
    try alice.sync()
    let ops = try ConversationReference("+ops")
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("carol")])
    try alice.say("early", to: "+ops")
    try alice.sync()
    _ = try alice.messenger.add([Handle("bob")], to: ops)
    try alice.sync()
    for text in ["one", "two"] { try alice.say(text, to: "+ops") }
    try connectAnewAndSettle([alice, bob])
    _ = try bob.messenger.edit([Edit(MessageReference("+ops:4"), .delete(forEveryone: false))])[0].get()
    #expect(try bob.texts("+ops") == ["3 alice: user_joined", "5 alice: two"])
    _ = try alice.messenger.remove([Handle("bob")], from: ops)
    try connectAnewAndSettle([alice, bob])
    _ = try alice.messenger.add([Handle("bob")], to: ops, withHistory: true)
    try connectAnewAndSettle([alice, bob])
    #expect(
      try bob.texts("+ops") == [
        "1 alice: conversation_created", "2 alice: early", "3 alice: user_joined", "5 alice: two",
        "6 alice: user_left", "7 alice: user_joined",
      ])
    try bob.check()
  }
}
