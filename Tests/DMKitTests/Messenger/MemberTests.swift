import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// Joining and leaving a group, its owners, and what members and owners may change for all members.
struct MemberTests {
  private func members(_ group: OpsGroup) throws -> [String] {
    try group.alice.seen("+ops").participants.map(\.description)
  }

  private func owners(_ user: Messenger) throws -> [String] { try user.seen("+ops").owners.map(\.description) }

  private func announcements(_ user: Messenger, _ title: String = "ops") throws -> [String] {
    try user.everything(in: "+\(title)").compactMap { message in
      message.systemKind.map { "\(message.sender) \($0.rawValue) \(message.subject ?? "")" }
    }
  }

  // MARK: Adding

  @Test func `any member adds users, and each added user is announced`() throws {
    let group = try OpsGroup()
    let seen = try #require(try group.bob.add(["dave"], to: .title("ops")))
    #expect(seen.participants.map(\.description) == ["alice", "bob", "carol", "dave"])
    #expect(try announcements(group.carol) == ["alice conversation_created ops", "bob user_joined dave"])
    #expect(try group.dave.seen("+ops").myRole == .member)
    #expect(try group.store.findings() == [])
  }

  @Test func `a user who is added sees only messages from then on, and has nothing unread`() throws {
    let group = try OpsGroup()
    try group.alice.say("before", to: "+ops")
    _ = try group.alice.add(["dave"], to: .title("ops"))
    #expect(try group.dave.everything(in: "+ops").map(\.number) == [3])
    #expect(try group.dave.seen("+ops").unreadCount == 0)
    #expect(try code { try group.dave.edit("+ops:2", to: "x") } == .unknownMessage)
    try group.alice.say("after", to: "+ops")
    #expect(try group.dave.texts(in: "+ops") == ["after"] && group.dave.unreadCount() == 1)
  }

  @Test func `a user who is added with history sees all earlier messages, as read`() throws {
    let group = try OpsGroup()
    try group.alice.say("before", to: "+ops")
    _ = try group.alice.add(["dave"], to: .title("ops"), withHistory: true)
    #expect(try group.dave.everything(in: "+ops").map(\.number) == [1, 2, 3])
    #expect(try group.dave.unreadCount() == 0 && group.dave.found("before") == ["before"])
    #expect(try group.alice.message("+ops:2").status == .sent, "adding a user gives no receipt")
  }

  @Test func `adding existing members changes nothing, and if one user is unknown, no user is added`() throws {
    let group = try OpsGroup()
    #expect(try group.changes { _ = try group.alice.add(["bob", "alice"], to: .title("ops")) } == 0)
    #expect(try code { try group.alice.add(["dave", "dvae"], to: .title("ops")) } == .unknownUser)
    #expect(try members(group) == ["alice", "bob", "carol"])
  }

  // MARK: Leaving

  @Test func `a former member still sees the messages from before they left, also unread ones`() throws {
    let group = try OpsGroup()
    try group.alice.say("before", to: "+ops")
    _ = try group.carol.leave(.title("ops"))
    try group.alice.say("after @carol", to: "+ops")
    #expect(try announcements(group.carol).last == "carol user_left carol")
    #expect(try group.carol.texts(in: "+ops") == ["before"] && group.carol.unreadCount() == 1)
    let seen = try group.carol.seen("+ops")
    #expect(seen.myRole == .former && seen.owners == [] && seen.unreadMentionsCount == 0)
    #expect(try members(group) == ["alice", "bob"])
    #expect(try group.store.findings() == [])
  }

  @Test func `a former member sends nothing and changes nothing for the others`() throws {
    let group = try OpsGroup()
    _ = try group.carol.leave(.title("ops"))
    let (carol, ops) = (group.carol, ConversationReference.title("ops"))
    #expect(try code { try carol.say("x", to: "+ops") } == .notAllowed)
    #expect(try code { try carol.add(["dave"], to: ops) } == .notAllowed)
    #expect(try code { try carol.add(["carol"], to: ops) } == .notAllowed)
    #expect(try code { try carol.leave(ops) } == .notAllowed)
    #expect(try code { try carol.setTitle("x", of: ops) } == .notAllowed)
    #expect(try code { try carol.setAvatar("https://example.org", of: ops) } == .notAllowed)
    #expect(try code { try carol.setExpiry(.seconds(60), of: ops) } == .notAllowed)
    #expect(try code { try carol.typing(in: ops) } == .notAllowed)
  }

  @Test func `a nonce that was used before returns its message, also after its sender has left`() throws {
    let group = try OpsGroup()
    let sent = try group.carol.say("one", to: "+ops", nonce: "n")
    _ = try group.carol.leave(.title("ops"))
    let again = try group.carol.say("one", to: "+ops", nonce: "n")
    #expect(again.id == sent.id && again.isDuplicate)
    #expect(try code { try group.carol.say("one", to: "+ops", nonce: "other") } == .notAllowed)
    #expect(try group.alice.texts(in: "+ops") == ["one"])
  }

  @Test func `a former member's read marks still send receipts`() throws {
    let group = try OpsGroup()
    try group.alice.say("one", to: "+ops")
    _ = try group.carol.leave(.title("ops"))
    let position = try group.alice.here()
    try group.carol.read(2...2, of: "+ops")
    #expect(try group.bob.received([.readReceipt], from: position) == ["carol read 2-2"])
    #expect(try group.alice.receipts(for: .number(2, in: .title("ops"))).map(\.user.description) == ["carol"])
  }

  @Test func `a user who is added again does not see the messages from the time of their absence`() throws {
    let group = try OpsGroup()
    try group.alice.say("before", to: "+ops")
    _ = try group.carol.leave(.title("ops"))
    try group.alice.say("meanwhile", to: "+ops")
    _ = try group.bob.add(["carol"], to: .title("ops"))
    try group.alice.say("after", to: "+ops")
    #expect(try group.carol.texts(in: "+ops") == ["before", "after"])
    #expect(try group.carol.seen("+ops").unreadCount == 2)
    #expect(try group.store.findings() == [])
  }

  @Test func `a user who is added again with history sees all messages except those that they deleted`() throws {
    let group = try OpsGroup()
    for text in ["one", "two"] { try group.alice.say(text, to: "+ops") }
    try group.carol.delete("+ops:2")
    _ = try group.carol.leave(.title("ops"))
    try group.alice.say("meanwhile", to: "+ops")
    _ = try group.alice.add(["carol"], to: .title("ops"), withHistory: true)
    #expect(try group.carol.texts(in: "+ops") == ["two", "meanwhile"])
  }

  @Test func `the last member can leave, and a former member of an empty group cannot add themselves`() throws {
    let group = try OpsGroup()
    for user in [group.bob, group.carol, group.alice] { _ = try user.leave(.title("ops")) }
    #expect(try members(group) == [])
    #expect(try code { try group.alice.add(["alice"], to: .title("ops")) } == .notAllowed)
  }

  // MARK: Owners

  @Test func `only an owner removes others, and each removal is announced`() throws {
    let group = try OpsGroup()
    #expect(try code { try group.bob.remove(["carol"], from: .title("ops")) } == .notAllowed)
    #expect(try members(group) == ["alice", "bob", "carol"])
    _ = try group.alice.remove(["bob", "carol"], from: .title("ops"))
    #expect(try announcements(group.alice).dropFirst() == ["alice user_left bob", "alice user_left carol"])
    #expect(try group.carol.seen("+ops").myRole == .former && members(group) == ["alice"])
  }

  @Test func `removing a non-member changes nothing, and an unknown user is an error`() throws {
    let group = try OpsGroup()
    #expect(try group.changes { _ = try group.alice.remove(["dave"], from: .title("ops")) } == 0)
    #expect(try code { try group.alice.remove(["bob", "nobody"], from: .title("ops")) } == .unknownUser)
    #expect(try members(group) == ["alice", "bob", "carol"])
  }

  @Test func `when the last owner leaves, the longest-standing member becomes owner`() throws {
    let group = try OpsGroup()
    #expect(try owners(group.bob) == ["alice"])
    _ = try group.bob.leave(.title("ops"))
    _ = try group.carol.add(["bob"], to: .title("ops"))
    _ = try group.alice.leave(.title("ops"))
    #expect(try owners(group.bob) == ["carol"], "Bob has returned, so Carol has been a member for longer")
    #expect(try code { try group.bob.remove(["carol"], from: .title("ops")) } == .notAllowed)
    _ = try group.carol.add(["alice"], to: .title("ops"))
    #expect(try group.alice.seen("+ops").myRole == .member, "a former owner who returns is not an owner")
  }

  @Test func `when the last owner removes themselves, another member becomes owner`() throws {
    let group = try OpsGroup()
    _ = try group.alice.remove(["alice"], from: .title("ops"))
    #expect(try owners(group.bob) == ["bob"])
  }

  // MARK: Settings that all members see

  @Test func `any member can change the title, which is announced and replaces the old one in references`() throws {
    let group = try OpsGroup()
    #expect(try group.bob.setTitle("dev", of: .title("ops"))?.title == "dev")
    #expect(try announcements(group.carol, "dev").last == "bob title_changed dev")
    #expect(try code { try group.carol.seen("+ops") } == .unknownConversation)
    #expect(try group.changes { _ = try group.alice.setTitle("dev", of: .title("dev")) } == 0)
    for title in ["", "a\nb", String(repeating: "x", count: 257)] {
      #expect(try code { try group.bob.setTitle(title, of: .title("dev")) } == .badField)
    }
  }

  @Test func `any member can change the URL of the picture, which has at most 256 bytes; the change is not announced`()
    throws
  {
    let group = try OpsGroup()
    let url = "https://example.org/a.png"
    #expect(try group.bob.setAvatar(url, of: .title("ops"))?.avatarURL == url)
    #expect(try group.changes { _ = try group.alice.setAvatar(url, of: .title("ops")) } == 0)
    #expect(try group.carol.seen("+ops").avatarURL == url && announcements(group.carol).count == 1)
    #expect(try group.carol.setAvatar(nil, of: .title("ops"))?.avatarURL == nil)
    let long = String(repeating: "x", count: 257)
    #expect(try code { try group.bob.setAvatar(long, of: .title("ops")) } == .badField)
  }

  @Test func `only an owner can set expiry, which applies to later messages and not to announcements`() throws {
    let group = try OpsGroup()
    try group.alice.say("stays", to: "+ops")
    #expect(try code { try group.bob.setExpiry(.seconds(60), of: .title("ops")) } == .notAllowed)
    #expect(try code { try group.alice.setExpiry(.milliseconds(999), of: .title("ops")) } == .badField)
    #expect(try group.alice.setExpiry(.seconds(60), of: .title("ops"))?.expireAfter == .seconds(60))
    #expect(try group.changes { _ = try group.alice.setExpiry(.seconds(60), of: .title("ops")) } == 0)
    let lifetime =
      try #require(try group.bob.say("goes", to: "+ops").expiresAt).microseconds - Timestamp.now.microseconds
    #expect((1...60_000_000).contains(lifetime))
    _ = try group.bob.setTitle("dev", of: .title("ops"))
    #expect(try group.bob.everything(in: "+dev").map { $0.expiresAt != nil } == [false, false, true, false])
    _ = try group.alice.setExpiry(nil, of: .title("dev"))
    #expect(try group.bob.say("stays", to: "+dev").expiresAt == nil)
  }

  @Test func `announcements are never unread, and do not return archived or deleted groups to the list`() throws {
    let group = try OpsGroup()
    _ = try group.bob.change(.archived(true), in: [.title("ops")])
    _ = try group.carol.change(.deleted, in: [.title("ops")])
    _ = try group.alice.add(["dave"], to: .title("ops"))
    _ = try group.alice.remove(["dave"], from: .title("ops"))
    #expect(try group.bob.conversations() == [] && group.carol.conversations() == [])
    #expect(try group.bob.seen("+ops").unreadCount == 0 && group.dave.unreadCount() == 0)
  }

  @Test func `members get an event for each change, and a removed user gets no events after their removal`()
    throws
  {
    let group = try OpsGroup()
    let position = try group.alice.here()
    _ = try group.alice.remove(["carol"], from: .title("ops"))
    _ = try group.alice.setTitle("dev", of: .title("ops"))
    try group.alice.say("unheard", to: "+dev")
    let kinds: Set<MessagingEvent.Kind> = [.message, .conversationUpdated]
    #expect(try group.carol.received(kinds, from: position) == ["2 alice: user_left carol", "ops changed"])
    #expect(
      try group.bob.received(kinds, from: position) == [
        "2 alice: user_left carol", "dev changed", "3 alice: title_changed dev", "dev changed", "4 alice: unheard",
      ])
    #expect(try group.dave.received(kinds, from: position) == [])
  }

  // MARK: Strangers, and direct conversations

  @Test func `a user who is not in a group cannot change it by UUID`() throws {
    let group = try OpsGroup()
    let (dave, ops) = (group.dave, ConversationReference.id(try group.alice.seen("+ops").id))
    #expect(try code { try dave.add(["dave"], to: ops) } == .notAllowed)
    #expect(try code { try dave.remove(["bob"], from: ops) } == .notAllowed)
    #expect(try code { try dave.leave(ops) } == .notAllowed)
    #expect(try code { try dave.setTitle("x", of: ops) } == .notAllowed)
    #expect(try code { try dave.setAvatar(nil, of: ops) } == .notAllowed)
    #expect(try code { try dave.setExpiry(nil, of: ops) } == .notAllowed)
  }

  @Test func `a direct conversation has fixed participants, and either of them can set expiry`() throws {
    let group = try OpsGroup()
    try group.alice.say("hi", to: "bob")
    let (bob, alice) = (group.bob, ConversationReference.direct("alice"))
    #expect(try code { try bob.add(["carol"], to: alice) } == .notAllowed)
    #expect(try code { try bob.remove(["alice"], from: alice) } == .notAllowed)
    #expect(try code { try bob.leave(alice) } == .notAllowed)
    #expect(try code { try bob.setTitle("x", of: alice) } == .notAllowed)
    #expect(try code { try bob.setAvatar("https://example.org", of: alice) } == .notAllowed)
    #expect(try bob.setExpiry(.seconds(60), of: alice)?.expireAfter == .seconds(60))
    #expect(try group.alice.setExpiry(nil, of: .direct("bob"))?.expireAfter == nil)
    #expect(try bob.seen("alice").owners == [])
  }
}
