import Testing

@testable import DMKit
@testable import DMModel
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

/// What a store pushes again, or does not push again, to a hub that was restored from a backup.
struct PushAgainTests {
  let hub = SharedHub()
  let ops = Result { try ConversationReference("+ops") }

  /// The machines of Alice and Bob, who are in the group `ops`; Carol is on the hub, but not in the group.
  private func group() throws -> (alice: Machine, bob: Machine) {
    let machines = try machines()
    try beginGroup(machines.alice, machines.bob)
    return machines
  }

  private func machines() throws -> (alice: Machine, bob: Machine) {
    _ = hub.model.invite("carol")
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try alice.sync()
    return (alice, bob)
  }

  private func beginGroup(_ alice: Machine, _ bob: Machine) throws {
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("bob")])
    try alice.say("one", to: "+ops")
    try connectAnewAndSettle([alice, bob])
  }

  /// The handles of the group's members on the hub.
  private func members() -> Set<String> {
    let group = hub.model.conversations.values.first { $0.isGroup }
    let persons = (group?.members ?? [:]).filter { $0.value.sees.isOpen }.keys
    return Set(persons.compactMap { hub.model.persons[$0]?.handle })
  }

  @Test(arguments: [false, true]) func `after a restore, a member who was removed is not added again`(
    wasThereBefore: Bool
  ) throws {
    let (alice, bob) = try group()
    var backup = hub.model
    _ = try alice.messenger.add([Handle("carol")], to: ops.get())
    try connectAnewAndSettle([alice])
    if wasThereBefore {
      // The hub answers that there is nothing to do for the second of these acts.
      _ = try alice.messenger.add([Handle("carol")], to: ops.get())
      try connectAnewAndSettle([alice])
      backup = hub.model
    }
    _ = try alice.messenger.remove([Handle("carol")], from: ops.get())
    try connectAnewAndSettle([alice])
    hub.model.restore(backup)
    try connectAnewAndSettle([alice, bob])
    #expect(members() == ["alice", "bob"])
    #expect(try alice.messenger.hubStatus().queuedCount == 0)
    for machine in [alice, bob] { try machine.check() }
  }

  /// The texts of the group in a machine's store, including those that were refused.
  private func texts(_ machine: Machine) throws -> [String] {
    try machine.messages("+ops").compactMap { message in message.text.map { "\(message.sender): \($0)" } }
  }

  @Test(arguments: [false, true])
  func `a member whose removal the hub has lost gets no message from after the removal`(isOwnersMachineBack: Bool)
    throws
  {
    let (alice, bob) = try group()
    let carol = try hub.joined("carol")
    _ = try alice.messenger.add([Handle("carol")], to: ops.get())
    try alice.say("for all", to: "+ops")
    try connectAnewAndSettle([alice, bob, carol])
    let backup = hub.model
    _ = try alice.messenger.remove([Handle("carol")], from: ops.get())
    try connectAnewAndSettle([alice, bob, carol])
    try alice.say("secret 42", to: "+ops")
    _ = try alice.messenger.edit([Edit(MessageReference("+ops:2"), .text("edited for bob"))])[0].get()
    try connectAnewAndSettle([alice, bob, carol])
    try bob.say("secret 43", to: "+ops")
    try connectAnewAndSettle([alice, bob, carol])
    let before = try texts(bob)
    hub.model.restore(backup)
    // Bob's machine connects first, and Bob may not remove members.
    try connectAnewAndSettle([bob, carol])
    #expect(try texts(carol) == ["alice: for all"])
    #expect(try bob.messenger.outbox().map(\.failure) == ["other_members"])
    if !isOwnersMachineBack { return try bob.check() }
    try connectAnewAndSettle([alice, bob, carol, alice, bob, carol])
    #expect(members() == ["alice", "bob"])
    #expect(try texts(carol) == ["alice: for all"])
    #expect(try Set(texts(bob)) == Set(before) && texts(alice) == texts(bob))
    #expect(try bob.messenger.outbox().isEmpty)
    for machine in [alice, bob, carol] { try machine.check() }
  }

  @Test func `after a restore, a member who left is a former member again, and lost settings are set again`() throws {
    let (alice, bob) = try group()
    let backup = hub.model
    _ = try alice.messenger.setTitle("new", of: ops.get())
    try connectAnewAndSettle([alice, bob])
    let new = try ConversationReference("+new")
    _ = try alice.messenger.setExpiry(.seconds(3600), of: new)
    _ = try alice.messenger.setAvatar("https://example.org/new", of: new)
    _ = try bob.messenger.leave(new)
    try connectAnewAndSettle([alice, bob])
    hub.model.restore(backup)
    try connectAnewAndSettle([alice, bob, alice])
    #expect(members() == ["alice"])
    let seen = try alice.messenger.conversation(new)
    #expect(seen.expireAfter == .seconds(3600) && seen.avatarURL == "https://example.org/new")
    for machine in [alice, bob] { try machine.check() }
  }

  @Test func `if the hub loses edits that a store has pulled with a part of a log, the store pulls that log again`()
    throws
  {
    let (alice, bob) = try group()
    for text in ["two", "three", "four"] { try alice.say(text, to: "+ops") }
    try connectAnewAndSettle([alice, bob])
    let fresh = try Machine(hub, "bob", fills: false)
    let backup = hub.model
    _ = try alice.messenger.edit([Edit(MessageReference("+ops:2"), .text("uno"))])[0].get()
    try alice.sync()
    // Pulls a part of the log, which already has the edit.
    try fresh.engine.connect()
    fresh.engine.pageSize = 4
    try fresh.engine.exchange()
    #expect(try fresh.texts("+ops").last == "3 alice: two")
    #expect(try fresh.texts("+ops").contains("2 alice: uno"))
    hub.model.restore(backup)
    // Alice's machine does not connect again.
    try connectAnewAndSettle([fresh])
    #expect(
      try fresh.texts("+ops").dropFirst() == ["2 alice: one", "3 alice: two", "4 alice: three", "5 alice: four"])
    try fresh.check()
  }

  @Test func `deleted and expired messages are not pushed again, and the others keep their expiry time`() throws {
    let (alice, bob) = try group()
    let backup = hub.model
    try alice.say("deleted", to: "+ops")
    for (text, seconds) in [("brief", 100), ("long", 3600)] {
      _ = try alice.messenger.send(Outgoing(to: ops.get(), text: text, lifetime: .seconds(seconds)))
    }
    try connectAnewAndSettle([alice, bob])
    _ = try alice.messenger.edit([Edit(MessageReference("+ops:3"), .delete(forEveryone: true))])[0].get()
    try connectAnewAndSettle([alice, bob])
    let end = try #require(alice.messages("+ops").last { $0.text == "long" }?.expiresAt)
    hub.model.restore(backup)
    hub.model.clock += 200_000_000
    try connectAnewAndSettle([alice, bob])
    let group = try #require(hub.model.conversations.values.first { $0.isGroup })
    let texts = group.entries.compactMap { HubPayload.text($0.payload)?.text }
    #expect(texts == ["one", "long"])
    let again = try #require(group.entries.first { HubPayload.text($0.payload)?.text == "long" }?.expiresAt)
    #expect(abs(again.microseconds - end.microseconds) < 5_000_000)
    #expect(try bob.texts("+ops").suffix(1).contains { $0.hasSuffix("alice: long") })
    for machine in [alice, bob] { try machine.check() }
  }

  @Test func `a message whose id was taken after a restore is pushed again with another id`() throws {
    let (alice, bob) = try group()
    let carol = try hub.joined("carol")
    let backup = hub.model
    let lost = try alice.say("two", to: "+ops")
    try connectAnewAndSettle([alice, bob])
    hub.model.restore(backup)
    let own = Identifier.random(.group(by: "carol"))
    carol.engine.close()
    let answers = try hub.model.push(
      carol.link.machine, [HubOperation(.group, conversation: own), .say("mine", in: own, id: lost.id)])
    #expect(answers.map(\.fault) == [nil, nil])
    try connectAnewAndSettle([alice, bob])
    #expect(try texts(alice) == ["alice: one", "alice: two"] && texts(bob) == texts(alice))
    #expect(try alice.messenger.hubStatus().failedCount == 0)
    for machine in [alice, bob] { try machine.check() }
  }

  @Test func `a reaction to a message that the hub has lost waits for the message, and does not count as queued`()
    throws
  {
    let (alice, bob) = try group()
    let backup = hub.model
    try alice.say("two", to: "+ops")
    try connectAnewAndSettle([alice, bob])
    _ = try bob.messenger.edit([Edit(MessageReference("+ops:3"), .react("👍"))])[0].get()
    #expect(try bob.messenger.hubStatus().queuedCount == 1)
    hub.model.restore(backup)
    try connectAnewAndSettle([bob])
    #expect(try bob.messenger.hubStatus().queuedCount == 0)
    #expect(try bob.messenger.outbox().isEmpty)
    try connectAnewAndSettle([alice, bob, alice])
    for machine in [alice, bob] {
      #expect(try machine.messages("+ops").last?.reactions.map(\.emoji) == ["👍"])
      try machine.check()
    }
  }

  @Test func `operations that are older than thirty days are not pushed again`() throws {
    let (alice, _) = try group()
    #expect(try alice.store.integers("SELECT count(*) FROM outbox") != [[0]])
    try alice.store.execute("UPDATE outbox SET created_at = created_at - 31 * 86400000000")
    try connectAnewAndSettle([alice])
    #expect(try alice.store.integers("SELECT count(*) FROM outbox") == [[0]])
    try alice.check()
  }

  @Test func `messages in a group that the hub has lost wait until its creator pushes the group again`() throws {
    let (alice, bob) = try machines()
    let backup = hub.model
    try beginGroup(alice, bob)
    try bob.say("words", to: "+ops")
    try connectAnewAndSettle([bob, alice])
    hub.model.restore(backup)
    try connectAnewAndSettle([bob])
    // Only the machine of the creator pushes the group again.
    try bob.say("more", to: "+ops")
    try connectAnewAndSettle([bob, alice, bob])
    #expect(try bob.messenger.hubStatus().failedCount == 0)
    #expect(
      Set(try alice.texts("+ops").map { $0.split(separator: ": ").last ?? "" }) == [
        "conversation_created", "one", "words", "more",
      ])
    #expect(try alice.texts("+ops") == bob.texts("+ops"))
    for machine in [alice, bob] { try machine.check() }
  }

  @Test func `the members of a group at the time of a message are computed from the group's announcements`() throws {
    let store = try TemporaryStore(users: ["alice", "bob", "carol"])
    let alice = try store.messenger("alice")
    _ = try alice.createGroup(titled: "ops", with: ["bob"])
    try alice.say("two", to: "+ops")
    _ = try alice.add(["carol"], to: ops.get())
    try alice.say("four", to: "+ops")
    _ = try alice.remove(["bob"], from: ops.get())
    try alice.say("six", to: "+ops")
    let opened = try #require(try alice.existingStore())
    let row = try #require(try opened.conversations.row(alice.conversation(ops.get()).id))
    let audience = try Audience(opened, row.key)
    let members = [2, 4, 6].map { audience.members(at: $0).map(\.description) }
    #expect(members == [["alice", "bob"], ["alice", "bob", "carol"], ["alice", "carol"]])
    #expect(Set(audience.now.map(\.description)) == ["alice", "carol"])
  }
}
