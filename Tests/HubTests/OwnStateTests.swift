import Testing

@testable import DMKit
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

/// Own states of a user, such as pins and drafts, on several machines.
struct OwnStateTests: OwnStateScene {
  let hub = SharedHub()

  @Test func `pins, mutes, archives, drafts and names are the same on all machines of a user`() throws {
    let (_, first, second) = try machines()
    for one: OwnChange in [.pinned(true), .archived(true), .muted(for: nil), .draft("half a"), .named("work")] {
      try change(one, on: first)
    }
    try settle([first, second])
    let seen = try conversation(second)
    #expect(seen.isPinned && seen.isArchived && seen.mutedUntil == .forever)
    #expect((seen.draftText, seen.ownName) == ("half a", "work"))
    for one: OwnChange in [.pinned(false), .archived(false), .unmuted, .draft(nil), .named(nil)] {
      try change(one, on: second)
    }
    try settle([second, first])
    let again = try conversation(first)
    #expect(!again.isPinned && !again.isArchived && again.mutedUntil == nil && again.draftText == nil)
    #expect(again.ownName == nil)
    for machine in [first, second] { try machine.check() }
  }

  @Test func `private reads, unread marks and deletions for the user are the same on all machines`() throws {
    let (alice, first, second) = try machines()
    let bob = try ConversationReference("alice")
    var options = Messenger.MarkOptions()
    options.isPrivate = true
    _ = try first.messenger.markRead(.ranges([RangeReference(from: 1, to: 3)]), in: bob, options)
    try settle([first, second, alice])
    #expect(try conversation(second).unreadCount == 2)
    #expect(try alice.messages("bob").map(\.status) == Array(repeating: .delivered, count: 5))
    _ = try second.messenger.markRead(.all, in: bob)
    (options.isPrivate, options.act) = (false, .unread)
    _ = try second.messenger.markRead(
      .ranges([RangeReference(from: 2, to: 2), RangeReference(from: 5, to: 5)]), in: bob, options)
    try settle([second, first])
    #expect(try conversation(first).unreadCount == 2)
    _ = try first.messenger.markRead(.ranges([RangeReference(from: 5, to: 5)]), in: bob)
    _ = try first.messenger.edit([Edit(MessageReference("alice:4"), .delete(forEveryone: false))])[0].get()
    try settle([first, second])
    #expect(try conversation(second).unreadCount == 1)
    #expect(try second.messages("alice").map(\.seq) == [1, 2, 3, 5])
    for machine in [first, second, alice] { try machine.check() }
  }

  @Test func `messages of the history that a user marks as unread are unread on all of their machines`() throws {
    let (alice, first, second) = try machines()
    _ = try hub.joined("carol")
    try settle([alice])
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("carol")])
    for text in ["one", "two"] { try alice.say(text, to: "+ops") }
    try settle([alice])
    _ = try alice.messenger.add([Handle("bob")], to: .title("ops"), withHistory: true)
    try settle([alice, first, second])
    #expect(try conversation(second, "+ops").unreadCount == 0)
    var options = Messenger.MarkOptions()
    options.act = .unread
    _ = try first.messenger.markRead(.ranges([RangeReference(from: 2, to: 3)]), in: .title("ops"), options)
    try settle([first, second])
    #expect(try [first, second].map { try conversation($0, "+ops").unreadCount } == [2, 2])
    for machine in [first, second] { try machine.check() }
  }

  @Test func `a new machine keeps the history read if the hub's own state is from before it was given`() throws {
    let (alice, first, _) = try machines()
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("bob")])
    try alice.say("one", to: "+ops")
    try settle([alice, first])
    try change(.pinned(true), of: "+ops", on: first)
    _ = try first.messenger.markRead(.all, in: .title("ops"))
    try settle([first])
    _ = try alice.messenger.remove([Handle("bob")], from: .title("ops"))
    for text in ["two", "three"] { try alice.say(text, to: "+ops") }
    _ = try alice.messenger.add([Handle("bob")], to: .title("ops"), withHistory: true)
    try settle([alice])
    let new = try hub.joined("bob")
    try settle([new])
    #expect(try conversation(new, "+ops").isPinned && conversation(new, "+ops").unreadCount == 0)
    try settle([first, new])
    #expect(try conversation(first, "+ops").unreadCount == 0)
  }

  @Test func `a deleted conversation is gone on all machines, until a new message comes`() throws {
    let (alice, first, second) = try machines()
    try change(.deleted, on: first)
    try settle([first, second])
    #expect(try second.messenger.conversations().isEmpty)
    try alice.say("text 6", to: "bob")
    try settle([alice, second, first])
    for machine in [first, second] {
      #expect(try machine.texts("alice") == ["6 alice: text 6"])
      try machine.check()
    }
  }

  @Test func `blocks and the setting for receipts are the same on all machines of a user`() throws {
    let (alice, first, second) = try machines()
    _ = try first.messenger.setBlocked(true, [Handle("alice")])
    _ = try first.messenger.setProfile(ProfileChange(sendsReadReceipts: false))
    try settle([first, second])
    #expect(try second.messenger.blockedUsers().map(\.handle) == [Handle("alice")])
    _ = try second.messenger.setBlocked(false, [Handle("alice")])
    try settle([second, first])
    #expect(try first.messenger.blockedUsers().isEmpty)
    _ = try second.messenger.markRead(.all, in: ConversationReference("alice"))
    try settle([second, first, alice])
    #expect(try conversation(first).unreadCount == 0)
    #expect(try alice.messages("bob").map(\.status) == Array(repeating: .delivered, count: 5))
  }

  @Test func `a machine that joins later gets the own states of the user's other machines`() throws {
    let (_, first, second) = try machines()
    try change(.pinned(true), on: first)
    _ = try first.messenger.createGroup(titled: "ops", with: [Handle("alice")])
    try settle([first])
    try change(.named("night"), of: "+ops", on: first)
    try settle([first, second])
    let third = try hub.joined("bob")
    #expect(try conversation(third).isPinned)
    #expect(try conversation(third, "+night").title == "ops")
    try third.check()
  }

  @Test func `changes made on both machines at the same time are merged`() throws {
    let (_, first, second) = try machines()
    let alice = try ConversationReference("alice")
    var options = Messenger.MarkOptions()
    options.isPrivate = true
    try change(.pinned(true), on: first)
    try change(.draft("from the first"), on: first)
    _ = try first.messenger.markRead(.ranges([RangeReference(from: 1, to: 2)]), in: alice, options)
    try change(.muted(for: nil), on: second)
    try change(.draft("from the second"), on: second)
    _ = try second.messenger.markRead(.ranges([RangeReference(from: 4, to: 4)]), in: alice, options)
    try settle([first, second])
    for machine in [first, second] {
      let seen = try conversation(machine)
      #expect(seen.isPinned && seen.mutedUntil == .forever && seen.unreadCount == 2)
      // The draft that reaches the hub last wins.
      #expect(seen.draftText == "from the second")
    }
  }

  @Test func `if two machines give two conversations the same name, one conversation keeps it, on both machines`()
    throws
  {
    let (_, first, second) = try machines()
    _ = try first.messenger.createGroup(titled: "ops", with: [Handle("alice")])
    try settle([first, second])
    try change(.named("work"), on: first)
    try change(.named("work"), of: "+ops", on: second)
    try settle([first, second])
    let names = try [first, second].map { machine in
      try ["alice", "+ops"].map { try conversation(machine, $0).ownName }
    }
    #expect(names[0] == names[1])
    #expect(names[0].compactMap(\.self) == ["work"])
  }

  @Test func `a name that becomes free goes to the conversation that another machine gave it, on both machines`() throws
  {
    let (_, first, second) = try machines()
    _ = try first.messenger.createGroup(titled: "ops", with: [Handle("alice")])
    try settle([first, second])
    try change(.named("work"), of: "+ops", on: first)
    try change(.named("work"), on: second)
    try settle([first, second])
    let holder = try conversation(first).ownName == nil ? "+ops" : "alice"
    let other = holder == "alice" ? "+ops" : "alice"
    // What the second machine has changed comes between.
    try change(.pinned(true), of: other, on: second)
    try change(.named("play"), of: holder, on: first)
    try change(.pinned(true), of: other, on: first)
    try first.sync()
    try settle([second, first])
    for machine in [first, second] {
      #expect(try conversation(machine, holder).ownName == "play" && conversation(machine, other).ownName == "work")
    }
  }

  @Test(arguments: [false, true])
  func `a name that was removed and given to another conversation is moved on the other machine`(reverses: Bool) throws
  {
    let (_, first, second) = try machines()
    _ = try first.messenger.createGroup(titled: "ops", with: [Handle("alice")])
    let (from, to) = reverses ? ("+ops", "alice") : ("alice", "+ops")
    try change(.named("work"), of: from, on: first)
    try settle([first, second])
    try change(.named(nil), of: from, on: first)
    try change(.named("work"), of: to, on: first)
    try settle([first, second])
    for machine in [first, second] {
      #expect(try conversation(machine, from).ownName == nil && conversation(machine, to).ownName == "work")
    }
  }

  @Test func `own states that changed after a backup of the hub are kept when the backup is restored`() throws {
    let (alice, first, second) = try machines()
    try change(.pinned(true), on: first)
    try settle([first, second])
    let backup = hub.model
    try change(.pinned(false), on: first)
    try change(.draft("later"), on: second)
    _ = try second.messenger.createGroup(titled: "ops", with: [Handle("alice")])
    try settle([second, first])
    try change(.archived(true), of: "+ops", on: second)
    try settle([second, first, alice])
    hub.model.restore(backup)
    try connectAnewAndSettle([second, first, alice])
    for machine in [first, second, try hub.joined("bob")] {
      #expect(try conversation(machine).draftText == "later")
      #expect(try !conversation(machine).isPinned)
      #expect(try conversation(machine, "+ops").isArchived)
      try machine.check()
    }
  }

  @Test func `an own state about messages that have not arrived is applied when they arrive`() throws {
    let (alice, first, second) = try machines()
    try alice.say("text 6", to: "bob")
    try settle([alice, first])
    var options = Messenger.MarkOptions()
    options.isPrivate = true
    _ = try first.messenger.markRead(.all, in: ConversationReference("alice"), options)
    try settle([first])
    // As if the message had come after the comparison.
    try second.engine.exchangeOwnStates()
    second.engine.ownStates.hinted()
    try second.engine.exchangeOwnStates()
    #expect(try conversation(second).unreadCount == 5)
    try second.engine.drain()
    #expect(try second.texts("alice").last == "6 alice: text 6")
    #expect(try conversation(second).unreadCount == 0)
    try second.check()
  }

  @Test func `an own state that this version cannot read is not changed`() throws {
    let (_, first, second) = try machines()
    try change(.pinned(true), on: first)
    try settle([first, second])
    let store = try #require(try first.messenger.existingStore())
    let id = try conversation(first).id
    let mark = try #require(try store.hubOwnStates.all().first).mark
    let later = HubOwnState(conversation: id, mark: mark, state: Array(#"{"v":2,"pin":3}"#.utf8))
    _ = try first.link.ownStates(after: 0, [later], limit: 10)
    try settle([second, first])
    #expect(try conversation(second).isPinned)
    #expect(try !store.hubOwnStates.changed(limit: 9, readable: OwnState.prefix).contains { $0.mark == mark })
    try second.check()
  }

  @Test func `private reads, unread marks and the archive survive a log that is pulled again`() throws {
    let (alice, first, second) = try machines()
    let reference = try ConversationReference("alice")
    let backup = hub.model
    var options = Messenger.MarkOptions()
    options.isPrivate = true
    _ = try first.messenger.markRead(.ranges([RangeReference(from: 1, to: 2)]), in: reference, options)
    _ = try first.messenger.markRead(.all, in: reference)
    (options.isPrivate, options.act) = (false, .unread)
    _ = try first.messenger.markRead(.ranges([RangeReference(from: 4, to: 4)]), in: reference, options)
    try change(.archived(true), on: first)
    try settle([first, second, alice])
    hub.model.restore(backup)
    for _ in 1...2 { try connectAnewAndSettle([alice, first, second]) }
    let statuses = try alice.messages("bob").map(\.status)
    #expect(statuses == [.delivered, .delivered, .read, .read, .read], "\(statuses)")
    for machine in [first, second] {
      #expect(try conversation(machine).unreadCount == 1 && conversation(machine).isArchived)
      try machine.check()
    }
  }
}
