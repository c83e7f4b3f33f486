import Testing

@testable import DMKit
@testable import DMStore
@testable import DMSync
@testable import DMSystem
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

/// Stores that are linked to a hub, and what they see of acts in other stores.
struct LinkedStoreTests {
  let hub = SharedHub()

  @Test func `a message waits without a number, gets one, and reaches the other machine`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try alice.sync()
    let sent = try alice.say("hello", to: "bob")
    #expect(sent.seq == nil && sent.status == .sending)
    #expect(try alice.texts("bob") == ["- alice: hello"])
    try alice.sync()
    #expect(try alice.texts("bob") == ["1 alice: hello"])
    try bob.sync()
    #expect(try bob.texts("alice") == ["1 alice: hello"])
    #expect(try bob.messenger.conversation(ConversationReference("alice")).unreadCount == 1)
    try bob.say("hi", to: "alice")
    try bob.sync()
    try alice.sync()
    #expect(try alice.texts("bob") == ["1 alice: hello", "2 bob: hi"])
    try alice.check()
    try bob.check()
  }

  @Test func `reactions have the order of the hub in all stores, whenever they were made`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try alice.sync()
    try alice.say("hello", to: "bob")
    for machine in [alice, bob, alice] { try machine.sync() }
    for (machine, other) in [(alice, "bob"), (bob, "alice")] {
      _ = try machine.messenger.edit([Edit(MessageReference("\(other):1"), .react("👍"))])[0].get()
    }
    for machine in [bob, alice, bob] { try machine.sync() }
    // A user who gives the same reaction again keeps their position in the list, even while the reaction is queued.
    _ = try alice.messenger.edit([Edit(MessageReference("bob:1"), .react("👍"))])[0].get()
    _ = try bob.messenger.edit([Edit(MessageReference("alice:1"), .react("👍"))])[0].get()
    try alice.sync()
    for (machine, other) in [(alice, "bob"), (bob, "alice")] {
      let users = try #require(machine.messages(other).last?.reactions.first?.users)
      #expect(users.map(\.description) == ["bob", "alice"])
    }
  }

  @Test func `edits, reactions and deletions are shown at once, and reach the other machine`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try alice.sync()
    for text in ["one", "two", "three"] { try alice.say(text, to: "bob") }
    try alice.sync()
    try bob.sync()
    _ = try alice.messenger.edit([
      Edit(MessageReference("bob:1"), .text("first")), Edit(MessageReference("bob:2"), .delete(forEveryone: true)),
    ]).map { try $0.get() }
    _ = try bob.messenger.edit([Edit(MessageReference("alice:3"), .react("👍"))]).map { try $0.get() }
    #expect(try alice.texts("bob") == ["1 alice: first", "3 alice: three"])
    for machine in [alice, bob, alice] { try machine.sync() }
    #expect(try alice.texts("bob") == ["1 alice: first", "3 alice: three"])
    #expect(try bob.texts("alice") == ["1 alice: first", "3 alice: three"])
    #expect(try alice.messages("bob").last?.reactions.map(\.emoji) == ["👍"])
    try alice.check()
    try bob.check()
  }

  @Test func `the announcements of a group appear once the hub has numbered them`() throws {
    let machines = try ["alice", "bob", "carol"].map(hub.joined)
    let (alice, bob, carol) = (machines[0], machines[1], machines[2])
    for machine in machines { try machine.sync() }
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("bob")])
    try alice.say("welcome", to: "+ops")
    #expect(try alice.texts("+ops") == ["- alice: welcome"])
    for machine in machines { try machine.sync() }
    #expect(try bob.texts("+ops") == ["1 alice: conversation_created", "2 alice: welcome"])
    _ = try alice.messenger.add([Handle("carol")], to: ConversationReference("+ops"))
    for machine in machines { try machine.sync() }
    #expect(try carol.texts("+ops") == ["3 alice: user_joined"])
    try carol.say("hi all", to: "+ops")
    _ = try alice.messenger.leave(ConversationReference("+ops"))
    for _ in 1...2 { for machine in machines { try machine.sync() } }
    #expect(
      try bob.texts("+ops").suffix(2) == ["4 alice: user_left", "5 carol: hi all"]
        || bob.texts("+ops").suffix(2) == ["4 carol: hi all", "5 alice: user_left"])
    #expect(try bob.messenger.conversation(ConversationReference("+ops")).owners == [Handle("bob")])
    for machine in machines { try machine.check() }
  }

  @Test func `messages sent while a machine was away give events, and those from before it joined give none`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try alice.sync()
    try alice.say("hello", to: "bob")
    try alice.sync()
    // Bob's machine learns of the conversation only after the message was sent.
    try bob.sync()
    #expect(try bob.messenger.received([.message]) == ["1 alice: hello"])
    let second = try hub.joined("bob")
    #expect(try second.texts("alice") == ["1 alice: hello"])
    #expect(try second.messenger.received([.message]) == [])
    try alice.say("again", to: "bob")
    for machine in [alice, bob, second] { try machine.sync() }
    #expect(try second.messenger.received([.message]) == ["2 alice: again"])
  }

  @Test func `a member who returns without the history sees the changes of the messages that they see`() throws {
    let machines = try ["alice", "bob"].map(hub.joined)
    let (alice, bob) = (machines[0], machines[1])
    for machine in machines { try machine.sync() }
    let ops = try ConversationReference("+ops")
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("bob")])
    for text in ["to be deleted", "old", "kept"] { try alice.say(text, to: "+ops") }
    for _ in 1...2 { for machine in machines { try machine.sync() } }
    _ = try alice.messenger.remove([Handle("bob")], from: ops)
    try alice.sync()
    try bob.sync()
    let acts = [(2, Edit.Act.delete(forEveryone: true)), (3, .text("new")), (4, .react("👍"))]
    for (number, act) in acts {
      _ = try alice.messenger.edit([Edit(MessageReference("+ops:\(number)"), act)])[0].get()
    }
    try alice.say("not for bob", to: "+ops")
    try alice.sync()
    _ = try alice.messenger.add([Handle("bob")], to: ops)
    for _ in 1...2 { for machine in machines { try machine.sync() } }
    #expect(
      try bob.texts("+ops") == [
        "1 alice: conversation_created", "3 alice: new", "4 alice: kept", "5 alice: user_left", "7 alice: user_joined",
      ])
    #expect(try bob.messages("+ops")[1].editedAt != nil)
    #expect(try bob.messages("+ops")[2].reactions.map(\.emoji) == ["👍"])
    let second = try hub.joined("bob")
    #expect(try second.texts("+ops") == bob.texts("+ops"))
    for machine in machines { try machine.check() }
  }

  @Test func `one delivery receipt of a group covers all messages that arrive within its delay`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    for machine in [alice, bob] { try machine.sync() }
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("bob")])
    bob.engine.receiptDelay = 3_600_000_000
    for text in ["one", "two", "three"] {
      try alice.say(text, to: "+ops")
      for machine in [alice, bob] { try machine.sync() }
    }
    try bob.say("four", to: "+ops")
    try bob.sync()
    // Only the receipt waits; the message was pushed without it.
    #expect(try bob.messenger.outbox().map(\.act) == ["delivered"])
    #expect(try bob.messenger.hubStatus().queuedCount == 0)
    try alice.sync()
    #expect(try alice.messages("+ops").filter(\.isMine).map(\.status).suffix(3) == [.sent, .sent, .sent])
    bob.engine.receiptDelay = 0
    for machine in [bob, alice] { try machine.sync() }
    #expect(try bob.messenger.outbox().isEmpty)
    #expect(
      try alice.messages("+ops").filter(\.isMine).map(\.status).suffix(3) == [.delivered, .delivered, .delivered])
    for machine in [alice, bob] { try machine.check() }
  }

  @Test func `messages become delivered when their recipient joins, and when the recipient unblocks the sender`() throws
  {
    let alice = try hub.joined("alice")
    _ = hub.model.invite("bob")
    try alice.sync()
    try alice.say("welcome", to: "bob")
    try alice.sync()
    let bob = try hub.joined("bob")
    for machine in [bob, alice] { try machine.sync() }
    #expect(try alice.messages("bob").map(\.status) == [.delivered])
    // Another machine of Bob has nothing to acknowledge.
    let second = try hub.joined("bob")
    #expect(try second.messenger.outbox().isEmpty)
    _ = try bob.messenger.setBlocked(true, [Handle("alice")])
    try alice.say("are you there?", to: "bob")
    for machine in [alice, bob, alice] { try machine.sync() }
    #expect(try alice.messages("bob").map(\.status) == [.delivered, .sent])
    _ = try bob.messenger.setBlocked(false, [Handle("alice")])
    for machine in [bob, alice] { try machine.sync() }
    #expect(try alice.messages("bob").map(\.status) == [.delivered, .delivered])
    for machine in [alice, bob, second] { try machine.check() }
  }

  @Test func `a report is refused for a message that was deleted before the report reached the hub`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    for machine in [alice, bob] { try machine.sync() }
    for text in ["one", "two"] { try bob.say(text, to: "alice") }
    for machine in [bob, alice] { try machine.sync() }
    for number in 1...2 {
      _ = try alice.messenger.edit([Edit(MessageReference("bob:\(number)"), .report(reason: "spam"))])[0].get()
    }
    _ = try bob.messenger.edit([Edit(MessageReference("alice:2"), .delete(forEveryone: true))])[0].get()
    for machine in [bob, alice] { try machine.sync() }
    #expect(try alice.messenger.outbox().map { "\($0.act) \($0.failure ?? "")" } == ["report unknown_message"])
    for machine in [alice, bob] { try machine.check() }
  }

  @Test func `a request for a comparison is answered even if other requests follow it without a pause`() throws {
    let alice = try hub.joined("alice")
    let location = alice.messenger.location
    _ = createFolder(location.live)
    let fault = try alice.messenger.compareWithHub(until: monotonicMicroseconds() + 10_000_000) {
      var state = RunningState()
      state.pulled = FileStatus(location.liveAsked)?.modified
      #expect(SignalFile.advance(location.liveAsked) != state.pulled)
      return switch Result(catching: { try state.write(to: location.liveHub) }) {
      case .success: nil
      case .failure(let error): "\(error)"
      }
    }
    #expect(fault == nil)
  }

  @Test func `read receipts reach the sender`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try alice.sync()
    for text in ["one", "two"] { try alice.say(text, to: "bob") }
    try alice.sync()
    try bob.sync()
    try bob.messenger.read(1...2, of: "alice")
    try bob.sync()
    try alice.sync()
    #expect(try alice.messages("bob").map(\.status) == [.read, .read])
    try alice.check()
    try bob.check()
  }

  @Test func `a linked store of an older version gets the tables of files and of own states`() throws {
    let hub = SharedHub()
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try alice.sync()
    try alice.say("hello", to: "bob")
    try alice.sync()
    _ = try alice.messenger.change(.pinned(true), in: [ConversationReference("bob")])
    try alice.store.index()
    try alice.store.execute(
      """
      DROP TABLE search_end; DROP INDEX participant_unread; ALTER TABLE participant DROP COLUMN is_unread;
      DROP TABLE message_pin; DROP INDEX outbox_pending;
      DROP TABLE link_preview; ALTER TABLE message DROP COLUMN link_preview_count;
      DROP TABLE picture; DROP TABLE hub_file; DROP TABLE hub_attachment; DROP TABLE hub_own_state;
      ALTER TABLE hub DROP COLUMN own_rev;
      ALTER TABLE hub DROP COLUMN contents_limit; ALTER TABLE hub DROP COLUMN stamp;
      ALTER TABLE hub DROP COLUMN next_stamp; ALTER TABLE hub DROP COLUMN copied_at;
      ALTER TABLE hub DROP COLUMN messages_limit; ALTER TABLE hub DROP COLUMN messages_age;
      DROP TABLE hub_floor; DROP TABLE hub_page;
      ALTER TABLE hub_known DROP COLUMN has_receipt; PRAGMA user_version = 10
      """)
    let messenger = try alice.store.messenger("alice")
    #expect(try messenger.transfers().isEmpty && alice.texts("bob") == ["1 alice: hello"])
    #expect(try alice.store.upkeep.check(deep: true).findings.isEmpty)
    try bob.sync()
    #expect(try bob.texts("alice") == ["1 alice: hello"])
    #expect(try alice.store.integers("SELECT count(*) FROM hub_own_state WHERE is_changed") == [[2]])
  }
}

extension Machine {
  /// Checks the whole store; conversations that are set aside do not count as faults.
  func check() throws {
    let findings = try store.upkeep.check(deep: true).findings.filter { $0.check != .hub }
    #expect(findings.isEmpty, "\(findings)")
  }
}
