import Testing

@testable import DMKit
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

/// What can go wrong while several machines of a user exchange own states.
struct OwnStateTroubleTests: OwnStateScene {
  let hub = SharedHub()

  @Test func `a change to an own state that this version cannot read waits, and other own states are exchanged`() throws
  {
    let (_, first, second) = try machines()
    _ = try first.messenger.createGroup(titled: "ops", with: [Handle("alice")])
    try settle([first, second])
    let later = HubOwnState(conversation: try conversation(first).id, mark: nil, state: Array(#"{"v":2}"#.utf8))
    _ = try first.link.ownStates(after: 0, [later], limit: 10)
    try settle([second])
    try change(.pinned(true), on: second)
    try change(.pinned(true), of: "+ops", on: second)
    try settle([second, first])
    #expect(try conversation(first, "+ops").isPinned)
    #expect(try !conversation(first).isPinned && conversation(second).isPinned)
  }

  @Test func `an own state is not sent again and again while the hub's answer needs messages that the hub has lost`()
    throws
  {
    let (_, first, second) = try machines()
    let id = try conversation(first).id
    for lastSeq in [98, 99] {
      let newest = try second.link.ownStates(after: 0, [], limit: 10).first { $0.conversation == id }
      let bytes = Array(#"{"v":1,"last_seq":\#(lastSeq)}"#.utf8)
      _ = try second.link.ownStates(
        after: 0, [HubOwnState(conversation: id, mark: newest?.mark, state: bytes)], limit: 10)
      // There is no comparison between the exchanges.
      try change(.pinned(lastSeq == 98), on: first)
      var exchanges = 0
      while try exchanges < 50 && first.engine.hasWork() {
        try first.engine.exchange()
        exchanges += 1
      }
      #expect(exchanges < 50)
    }
    #expect(first.engine.ownStates.heldUntil > 0)
  }

  @Test func `a change that the user undoes before the hub answers stays undone`() throws {
    let (_, first, second) = try machines()
    try change(.draft("half a"), on: first)
    first.link.losesOwnStates = true
    #expect(throws: HubFault.self) { try first.sync() }
    try change(.draft(nil), on: first)
    first.link.losesOwnStates = false
    try settle([second])
    #expect(try conversation(second).draftText == "half a")
    // The state of the second machine now also has the draft whose answer was lost.
    try change(.pinned(true), on: second)
    try settle([second])
    first.engine.close()
    try settle([first, second])
    for machine in [first, second] {
      let seen = try conversation(machine)
      #expect(seen.draftText == nil && seen.isPinned)
    }
  }

  @Test func `a block is kept by a machine that does not have the blocked person yet`() throws {
    let (_, first, second) = try machines()
    _ = try hub.joined("mallory")
    try first.sync()
    _ = try first.messenger.setBlocked(true, [Handle("mallory")])
    try first.sync()
    // The second machine gets the block after a hint, without a comparison.
    second.engine.ownStates.hinted()
    try second.engine.drain()
    _ = try second.messenger.setBlocked(true, [Handle("alice")])
    try settle([second, first])
    for machine in [first, second] {
      #expect(try Set(machine.messenger.blockedUsers().map(\.handle)) == [Handle("alice"), Handle("mallory")])
    }
  }

  @Test(arguments: [false, true])
  func `a name that is moved from one conversation to another reaches the other machine`(reverses: Bool)
    throws
  {
    let (_, first, second) = try machines()
    _ = try first.messenger.createGroup(titled: "ops", with: [Handle("alice")])
    try settle([first, second])
    let (from, to) = reverses ? ("+ops", "alice") : ("alice", "+ops")
    try change(.named("work"), of: from, on: first)
    try settle([first, second])
    try change(.named("play"), of: from, on: first)
    try change(.named("work"), of: to, on: first)
    // Each exchange returns one state, so the second machine gets the two names one after the other.
    second.engine.pageSize = 1
    try settle([first, second])
    #expect(try conversation(second, "+play").id == conversation(first, "+play").id)
    #expect(try conversation(second, "+work").id == conversation(first, "+work").id)
    try change(.pinned(true), of: to, on: second)
    try settle([second, first])
    #expect(try conversation(first, "+work").isPinned && conversation(first, "+play").ownName == "play")
  }

  @Test func `a machine that was away sends no receipts to users that another machine has blocked`() throws {
    let (alice, first, second) = try machines()
    second.engine.close()
    _ = try first.messenger.setBlocked(true, [Handle("alice")])
    try settle([first])
    try alice.say("text 6", to: "bob")
    try settle([alice, first, second, alice])
    #expect(try alice.messages("bob").last?.status == .sent)
    let third = try hub.joined("bob")
    try settle([third, alice])
    #expect(try alice.messages("bob").last?.status == .sent)
    for machine in [first, second, third, alice] { try machine.check() }
  }

  @Test func `while a conversation is set aside, its own state waits, and those of other conversations do not`() throws
  {
    let (alice, first, second) = try machines()
    _ = try first.messenger.createGroup(titled: "ops", with: [Handle("alice")])
    try settle([first, second, alice])
    try change(.pinned(true), on: first)
    try change(.pinned(true), of: "+ops", on: first)
    try settle([first])
    let id = try conversation(first).id
    for text in ["text 6", "text 7"] { try alice.say(text, to: "bob") }
    try alice.sync()
    let whole = hub.model.conversations[id]?.lost ?? []
    let last = try #require(hub.model.conversations[id]?.rev)
    hub.model.conversations[id]?.lost = [last - 1]
    try settle([second])
    #expect(second.engine.setAside[id] != nil)
    #expect(try conversation(second, "+ops").isPinned && !conversation(second).isPinned)
    hub.model.conversations[id]?.lost = whole
    try connectAnewAndSettle([second])
    #expect(try conversation(second).isPinned)
  }

  @Test func `blocks that were made on any machine are kept when a hub is restored`() throws {
    let (_, first, second) = try machines()
    for handle in ["mallory", "carol"] { _ = try hub.joined(handle) }
    try settle([first, second])
    let backup = hub.model
    _ = try first.messenger.setBlocked(true, [Handle("mallory")])
    try settle([first])
    hub.model.restore(backup)
    second.engine.close()
    _ = try second.messenger.setBlocked(true, [Handle("carol")])
    for text in ["a", "b", "c"] {
      try change(.draft(text), on: second)
      try second.sync()
    }
    try connectAnewAndSettle([first, second])
    for machine in [first, second] {
      #expect(try Set(machine.messenger.blockedUsers().map(\.handle)) == [Handle("carol"), Handle("mallory")])
    }
  }

  @Test func `a standby that lags does not change own states`() throws {
    let (_, first, second) = try machines()
    let before = hub.model
    try change(.pinned(true), on: second)
    try settle([second, first])
    let now = hub.model
    hub.model = before
    (hub.model.isStandby, hub.model.startedAt) = (true, Timestamp(microseconds: 9))
    first.engine.close()
    try first.sync()
    #expect(try conversation(first).isPinned)
    hub.model = now
    try change(.pinned(false), on: second)
    try settle([second])
    first.engine.close()
    try settle([first, second])
    #expect(try !conversation(first).isPinned && !conversation(second).isPinned)
  }

  @Test func `an own state that the hub does not store is not sent again at once`() throws {
    let (_, first, _) = try machines()
    let store = try #require(try first.messenger.existingStore())
    try change(.pinned(true), on: first)
    // As if the hub had another state, and the user were over their quota.
    first.link.refusesOwnStates = true
    try first.sync()
    #expect(try !first.engine.hasWork())
    #expect(try store.hubOwnStates.changed(limit: 9, readable: OwnState.prefix).count == 1)
    first.link.refusesOwnStates = false
    first.engine.close()
    try first.sync()
    #expect(try store.hubOwnStates.changed(limit: 9, readable: OwnState.prefix).isEmpty)
  }

  @Test func `a machine that was away during a restore does not undo changes made after the restore`() throws {
    let (_, first, second) = try machines()
    try change(.draft("old"), on: first)
    _ = try first.messenger.setProfile(ProfileChange(sendsReadReceipts: true))
    try settle([first, second])
    hub.model.restore(hub.model)
    second.engine.close()
    try settle([second])
    try change(.draft("new"), on: second)
    try change(.pinned(true), on: second)
    _ = try second.messenger.setProfile(ProfileChange(sendsReadReceipts: false))
    try settle([second])
    try connectAnewAndSettle([first, second])
    for machine in [first, second] {
      let seen = try conversation(machine)
      #expect(seen.draftText == "new" && seen.isPinned)
      #expect(try machine.messenger.user(Handle("bob")).sendsReadReceipts == false)
    }
  }

  @Test func `a message that was read privately stays read when its conversation is deleted on another machine`() throws
  {
    let (_, first, second) = try machines()
    var options = Messenger.MarkOptions()
    options.isPrivate = true
    _ = try first.messenger.markRead(
      .ranges([RangeReference(from: 3, to: 3)]), in: ConversationReference("alice"), options)
    try settle([first, second])
    try change(.deleted, on: first)
    try settle([first, second])
    #expect(try second.messenger.conversations().isEmpty)
    #expect(try conversation(second).unreadCount == 0)
    for machine in [first, second] { try machine.check() }
  }
}
