import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// `dm-user block`: the blocker gets nothing from a blocked user, and the blocked user does not learn of the block.
struct BlockTests {
  /// Everything that the user can read about the group and about the direct conversation with Alice.
  private func everything(_ user: Messenger) throws -> [String] {
    let messages = try user.history(of: HistoryQuery()).map(String.init(describing:))
    let conversations = try user.conversations().map(String.init(describing:))
    let receipts = try user.receipts(for: MessageReference("+ops:2")).map(String.init(describing:))
    return try messages + conversations + receipts + [String(describing: user.user("alice"))]
  }

  private func unread(_ user: Messenger, _ conversation: String = "+ops") throws -> Int {
    try user.seen(conversation).unreadCount
  }

  @Test func `unblocking returns a deleted conversation to the list if a message came during the block`() throws {
    let group = try OpsGroup()
    for isNew in [false, true] {
      _ = try group.alice.setBlocked(true, ["bob"])
      _ = try group.alice.change(.deleted, in: [ConversationReference("+ops")])
      if isNew { try group.bob.say("late", to: "+ops") }
      _ = try group.alice.setBlocked(false, ["bob"])
      #expect(try group.alice.conversations().contains { $0.title == "ops" } == isNew)
    }
    #expect(try unread(group.alice) == 1)
  }

  // MARK: Blocking and unblocking

  @Test func `blocking returns the newly blocked users, and blocked users are listed in the order of blocking`() throws
  {
    let group = try OpsGroup()
    #expect(try group.alice.setBlocked(true, ["carol"]).map(\.handle.description) == ["carol"])
    #expect(try group.alice.setBlocked(true, ["bob", "carol", "bob"]).map(\.handle.description) == ["bob"])
    #expect(try group.alice.blockedUsers().map(\.handle.description) == ["carol", "bob"])
    #expect(try group.bob.blockedUsers() == [])
    #expect(try group.alice.setBlocked(false, ["carol", "dave"]).map(\.handle.description) == ["carol"])
    #expect(try group.alice.blockedUsers().map(\.handle.description) == ["bob"])
  }

  @Test func `blocking a blocked user and unblocking a user who is not blocked change nothing`() throws {
    let group = try OpsGroup()
    _ = try group.alice.setBlocked(true, ["bob"])
    #expect(try group.changes { _ = try group.alice.setBlocked(true, ["bob"]) } == 0)
    #expect(try group.changes { _ = try group.alice.setBlocked(false, ["carol"]) } == 0)
  }

  @Test func `an attempt to block yourself or an unknown user fails, and blocks no other user of the call`() throws {
    let group = try OpsGroup()
    #expect(try code { try group.alice.setBlocked(true, ["bob", "alice"]) } == .notAllowed)
    #expect(try code { try group.alice.setBlocked(true, ["bob", "nobody"]) } == .unknownUser)
    #expect(try group.alice.blockedUsers() == [])
  }

  @Test func `a blocked user sees no change after the block, and gets no event`() throws {
    let group = try OpsGroup()
    try group.alice.say("one", to: "+ops")
    try group.bob.read(2...2, of: "+ops")
    try group.bob.say("two", to: "alice")
    try group.alice.read(1...1, of: "bob")
    try group.alice.react("👍", to: "bob:1")
    let (before, position) = try (everything(group.bob), group.bob.here())
    _ = try group.alice.setBlocked(true, ["bob"])
    #expect(try everything(group.bob) == before)
    #expect(try group.bob.received(Set(MessagingEvent.Kind.allCases), from: position) == [])
    #expect(try group.store.findings() == [])
  }

  // MARK: In a group

  @Test func `messages of a blocked user are not listed, counted or found, even those from before the block`() throws {
    let group = try OpsGroup()
    try group.bob.say("before", to: "+ops")
    _ = try group.alice.setBlocked(true, ["bob"])
    try group.carol.say("heard", to: "+ops")
    try group.bob.say("after", to: "+ops")
    let seen = try group.alice.seen("+ops")
    #expect(seen.lastMessage?.text == "heard" && seen.unreadCount == 1 && seen.firstUnreadSeq == 3)
    #expect(try group.alice.everything(in: "+ops").map(\.number) == [1, 3])
    #expect(try group.alice.found("before") == [] && group.alice.found("after") == [])
    #expect(try group.alice.message("+ops:-1").text == "heard")
    #expect(try group.carol.texts(in: "+ops") == ["before", "heard", "after"])
    #expect(try group.store.findings() == [])
  }

  @Test func `a message of a blocked user is unknown to every command`() throws {
    let group = try OpsGroup()
    try group.bob.say("unheard", to: "+ops")
    _ = try group.alice.setBlocked(true, ["bob"])
    let (alice, message) = (group.alice, MessageReference.number(2, in: .title("ops")))
    #expect(try code { try alice.say("x", to: "+ops", replyTo: "2") } == .unknownMessage)
    #expect(try code { try alice.react("👍", to: "+ops:2") } == .unknownMessage)
    #expect(try code { try alice.delete("+ops:2") } == .unknownMessage)
    #expect(try code { try alice.act(.report(reason: nil), on: "+ops:2") } == .unknownMessage)
    #expect(try code { try alice.messageToForward(message) } == .unknownMessage)
    #expect(try code { try alice.receipts(for: message) } == .unknownMessage)
    #expect(try alice.markRead(.all, in: .title("ops")) == nil)
    #expect(try group.carol.message("+ops:2").status == .sent, "Alice has given no receipt")
  }

  @Test func `a blocked user stays in the list of participants`() throws {
    let group = try OpsGroup()
    _ = try group.alice.setBlocked(true, ["bob"])
    #expect(try group.alice.seen("+ops").participants.map(\.description) == ["alice", "bob", "carol"])
  }

  @Test func `the blocked user still gets the messages of the blocker`() throws {
    let group = try OpsGroup()
    _ = try group.alice.setBlocked(true, ["bob"])
    try group.alice.say("hi @bob", to: "+ops")
    try group.bob.say("hello", to: "+ops", replyTo: "2")
    #expect(try unread(group.bob) == 1 && group.bob.texts(in: "+ops") == ["hi @bob", "hello"])
    #expect(try group.carol.message("+ops:3").replyTo?.seq == 2)
  }

  @Test func `the stream has no events of a blocked user for the blocker`() throws {
    let group = try OpsGroup()
    try group.alice.say("one", to: "+ops")
    _ = try group.alice.setBlocked(true, ["bob"])
    let position = try group.alice.here()
    try group.bob.say("two", to: "+ops")
    try group.bob.edit("+ops:3", to: "three")
    try group.bob.react("👍", to: "+ops:2")
    try group.bob.take(.delivered, upTo: 3, of: "+ops")
    try group.bob.read(2...2, of: "+ops")
    try group.bob.delete("+ops:3", forEveryone: true)
    let all = Set(MessagingEvent.Kind.allCases)
    #expect(try group.alice.received(all, from: position) == [])
    #expect(try group.carol.received(all, from: position).contains("3 deleted"))
  }

  @Test func `a receipt of a blocked user does not count for the status of the blocker's messages`() throws {
    let group = try OpsGroup()
    try group.alice.say("one", to: "+ops")
    _ = try group.alice.setBlocked(true, ["bob"])
    try group.bob.read(2...2, of: "+ops")
    for user in [group.alice, group.carol] { #expect(try user.message("+ops:2").status == .sent) }
    #expect(try group.bob.message("+ops:2").status == .read, "the blocked user sees their own receipt")
    #expect(try group.alice.receipts(for: .number(2, in: .title("ops"))) == [])
  }

  @Test func `a message of a blocked user does not return an archived or deleted group to the list`() throws {
    let group = try OpsGroup()
    for user in [group.alice, group.carol] { _ = try user.setBlocked(true, ["bob"]) }
    _ = try group.alice.change(.archived(true), in: [.title("ops")])
    _ = try group.carol.change(.deleted, in: [.title("ops")])
    try group.bob.say("here I am", to: "+ops")
    #expect(try group.alice.conversations() == [] && group.carol.conversations() == [])
    try group.carol.say("me, too", to: "+ops")
    #expect(try group.alice.conversations().count == 1 && group.carol.conversations().count == 1)
  }

  @Test func `a message of a blocked user does not move the group up in the list`() throws {
    let group = try OpsGroup()
    try group.carol.say("hi", to: "alice")
    _ = try group.alice.setBlocked(true, ["bob"])
    try group.bob.say("unheard", to: "+ops")
    #expect(try group.alice.conversations().map(\.title) == [nil, "ops"])
    #expect(try group.dave.conversations() == [] && group.carol.conversations().first?.title == "ops")
  }

  @Test func `a group is archived and muted from the start if a blocked user added you`() throws {
    let group = try OpsGroup()
    _ = try group.dave.setBlocked(true, ["bob"])
    _ = try group.bob.createGroup(titled: "trap", with: ["dave"])
    _ = try group.bob.add(["dave"], to: .title("ops"))
    for title in ["trap", "ops"] {
      let seen = try group.dave.seen("+\(title)")
      #expect(seen.isArchived && seen.mutedUntil == .forever && seen.unreadCount == 0)
    }
    try group.alice.say("hi", to: "+ops")
    #expect(try group.dave.conversations() == [])
  }

  @Test func `a user who is blocked by a member may not import into the group, because an import may name any sender`()
    throws
  {
    let group = try OpsGroup()
    try group.alice.say("one", to: "+ops")
    _ = try group.alice.setBlocked(true, ["bob"])
    let soon = Timestamp(microseconds: Timestamp.now.microseconds + 1_000_000)
    let message = try ImportedMessage(
      group: .id(group.bob.seen("+ops").id), sender: Handle("carol"), text: "forged", createdAt: soon)
    #expect(try code { try group.bob.importHistory([.message(message)])[0].get() } == .notAllowed)
  }

  // MARK: In a direct conversation

  @Test func `the direct conversation with a blocked user is not listed, and the blocker cannot send there`() throws {
    let group = try OpsGroup()
    try group.bob.say("hi", to: "alice")
    _ = try group.alice.setBlocked(true, ["bob"])
    #expect(try group.alice.conversations().map(\.title) == ["ops"] && group.alice.unreadCount() == 0)
    #expect(try code { try group.alice.say("x", to: "bob") } == .notAllowed)
    #expect(try code { try group.alice.say("x", to: "bob", replyTo: "1") } == .notAllowed)
    #expect(try code { try group.alice.saveDraft("x", in: .direct("bob")) } == .notAllowed)
    let fault = try fault { try group.alice.checkMaySend(to: .direct("bob")) }
    #expect(fault?.code == .notAllowed && fault?.subject == "bob")
  }

  @Test func `the blocker marks nothing as read in the direct conversation, so no receipt is sent`() throws {
    let group = try OpsGroup()
    try group.bob.say("hi", to: "alice")
    _ = try group.alice.setBlocked(true, ["bob"])
    #expect(try group.changes { _ = try group.alice.markRead(.all, in: .direct("bob")) } == 0)
    #expect(try group.bob.message("alice:1").status == .sent)
  }

  @Test func `the blocker can still edit and delete their own messages in the direct conversation`() throws {
    let group = try OpsGroup()
    for text in ["one", "two"] { try group.alice.say(text, to: "bob") }
    _ = try group.alice.setBlocked(true, ["bob"])
    try group.alice.edit("bob:1", to: "eins")
    try group.alice.delete("bob:2", forEveryone: true)
    #expect(try group.bob.texts(in: "alice") == ["eins"])
  }

  @Test func `the blocked user can still send to the blocker, also a first message`() throws {
    let group = try OpsGroup()
    _ = try group.alice.setBlocked(true, ["bob"])
    #expect(try group.bob.say("hi", to: "alice").status == .sent)
    #expect(try group.bob.seen("alice").lastMessage?.text == "hi" && group.bob.conversations().count == 2)
    #expect(try group.alice.conversations().map(\.title) == ["ops"])
    #expect(try group.alice.everything(in: "bob") == [])
  }

  @Test func `a user cannot start a conversation with a user they block`() throws {
    let group = try OpsGroup()
    _ = try group.alice.setBlocked(true, ["dave"])
    #expect(try code { try group.alice.directConversation(with: "dave") } == .notAllowed)
    #expect(try code { try group.alice.say("hi", to: "dave") } == .notAllowed)
    #expect(try group.store.integers("SELECT count(*) FROM conversation") == [[1]])
  }

  // MARK: Typing

  @Test func `the blocker does not see the blocked user typing, but the blocked user sees the blocker typing`() throws {
    let group = try OpsGroup()
    let ops = try group.alice.seen("+ops").id
    _ = try group.alice.setBlocked(true, ["bob"])
    #expect(try !group.alice.sees(Handle("bob"), typingIn: ops, among: nil))
    #expect(try group.carol.sees(Handle("bob"), typingIn: ops, among: nil))
    #expect(try group.bob.sees(Handle("alice"), typingIn: ops, among: nil))
    _ = try group.alice.setBlocked(false, ["bob"])
    #expect(try group.alice.sees(Handle("bob"), typingIn: ops, among: nil))
  }

  // MARK: Presence

  @Test func `the blocker does not see the blocked user's presence, but the blocked user sees the blocker's`() throws {
    let group = try OpsGroup()
    _ = try group.alice.setBlocked(true, ["bob"])
    #expect(try group.alice.presence().map(\.user.description) == ["carol"])
    #expect(try code { try group.alice.presence(of: ["bob"]) } == .notAllowed)
    #expect(try group.bob.presence().map(\.user.description) == ["alice", "carol"])
  }

  // MARK: After unblocking

  @Test func `after unblocking, the messages sent during the block are visible and unread`() throws {
    let group = try OpsGroup()
    try group.bob.say("one", to: "alice")
    try group.alice.read(1...1, of: "bob")
    _ = try group.alice.setBlocked(true, ["bob"])
    try group.bob.say("two", to: "alice")
    try group.bob.say("three", to: "+ops")
    _ = try group.alice.setBlocked(false, ["bob"])
    #expect(try group.alice.texts(in: "bob") == ["one", "two"] && unread(group.alice, "bob") == 1)
    #expect(try group.alice.texts(in: "+ops") == ["three"] && unread(group.alice) == 1)
    #expect(try group.alice.conversations().map(\.title) == ["ops", nil])
    try group.alice.say("hello again", to: "bob")
    #expect(try group.store.findings() == [])
  }

  @Test func `after unblocking, the stream has one conversation event for the messages sent during the block`() throws {
    let group = try OpsGroup()
    _ = try group.alice.setBlocked(true, ["bob"])
    try group.bob.say("unheard", to: "+ops")
    let position = try group.alice.here()
    _ = try group.alice.setBlocked(false, ["bob"])
    #expect(try group.alice.received(Set(MessagingEvent.Kind.allCases), from: position) == ["ops changed"])
    try group.bob.say("heard", to: "+ops")
    #expect(try group.alice.received([.message], from: position) == ["3 bob: heard"])
  }
}
