import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// Mentions: a handle after an `@` in a text.
struct MentionTests {
  private func mentions(_ text: String, _ users: [String] = ["alice", "bob", "carol"]) throws -> [String] {
    let store = try TemporaryStore(users: users)
    let first = try store.messenger(users[0])
    _ = try first.createGroup(titled: "ops", with: users.dropFirst().map(Handle.init(typed:)))
    return try first.say(text, to: "+ops").mentions.map(\.description)
  }

  private func unreadMentions(_ user: Messenger) throws -> Int { try user.seen("+ops").unreadMentionsCount }

  // MARK: Finding mentions

  @Test(arguments: [
    ("@bob", ["bob"]), ("@bob hi", ["bob"]), ("hi @bob", ["bob"]), ("hi,@bob!", ["bob"]), ("(@bob)", ["bob"]),
    ("a\n@bob\nb", ["bob"]), ("@bob's turn", ["bob"]), ("@@bob", ["bob"]), ("**@bob**", ["bob"]),
    ("bob", []), ("@", []), ("@ bob", []), ("@Bob", []), ("@dave", []), ("", []),
  ])
  func `a handle after an @ mentions a participant`(_ text: String, _ expected: [String]) throws {
    #expect(try mentions("x " + text) == expected)
  }

  @Test(arguments: ["mail@bob", "7@bob", "é@bob", "@bobby", "@bob7", "@bobé", "alice@bob.example"])
  func `a handle is not mentioned if a letter or digit is before its @ or after the handle`(_ text: String) throws {
    #expect(try mentions(text) == [])
  }

  @Test(arguments: ["_@bob", "@bob_"])
  func `a handle is not mentioned if an underscore is before its @ or after the handle`(_ text: String) throws {
    #expect(try mentions(text) == [])
  }

  @Test(arguments: ["你好@bob你好", "カ@bobカ"])
  func `letters of scripts without spaces may touch a mention`(_ text: String) throws {
    #expect(try mentions(text) == ["bob"])
  }

  @Test func `if several handles match, the longest one is mentioned`() throws {
    let users = ["alice", "ann", "ann.lee", "ann.lee.jr"]
    #expect(try mentions("@ann.lee, here", users) == ["ann.lee"])
    #expect(try mentions("@ann.", users) == ["ann"])
    #expect(try mentions("@ann.lee.jr. and @ann.leeds", users) == ["ann.lee.jr", "ann"])
  }

  @Test func `each mentioned user is listed once, in the order of the text`() throws {
    #expect(try mentions("@carol and @bob, and again @carol and @alice") == ["carol", "bob", "alice"])
  }

  @Test func `a mention does not match a handle that only looks the same`() throws {
    #expect(
      try mentions("@ren\u{E9}", ["alice", "ren\u{E9}", "rene\u{301}"]).map { Array($0.utf8) } == [
        Array("ren\u{E9}".utf8)
      ])
  }

  @Test func `the handle of a former member, or of a user who was never in the conversation, is not a mention`() throws
  {
    let group = try OpsGroup()
    #expect(try group.alice.say("@dave", to: "+ops").mentions == [])
    _ = try group.carol.leave(.title("ops"))
    #expect(try group.alice.say("@carol", to: "+ops").mentions == [])
    #expect(try group.carol.seen("+ops").unreadMentionsCount == 0)
  }

  @Test func `a user who is added later is not mentioned by earlier messages`() throws {
    let group = try OpsGroup()
    try group.alice.say("where is @dave?", to: "+ops")
    _ = try group.alice.add(["dave"], to: .title("ops"), withHistory: true)
    #expect(try group.dave.message("+ops:2").mentions == [] && unreadMentions(group.dave) == 0)
    try group.alice.say("hi @dave", to: "+ops")
    #expect(try unreadMentions(group.dave) == 1)
  }

  @Test func `a direct conversation has mentions, too`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    #expect(try alice.say("@bob @alice @carol", to: "bob").mentions.map(\.description) == ["bob", "alice"])
    #expect(try bob.seen("alice").unreadMentionsCount == 1 && alice.seen("bob").unreadMentionsCount == 0)
  }

  // MARK: Counting mentions

  @Test func `unread mentions are counted separately, and a message that mentions a user twice counts once`() throws {
    let group = try OpsGroup()
    for text in ["hi", "@bob", "@bob and @bob"] { try group.alice.say(text, to: "+ops") }
    #expect(try group.bob.seen("+ops").unreadCount == 3 && unreadMentions(group.bob) == 2)
    #expect(try group.carol.seen("+ops").unreadCount == 3 && unreadMentions(group.carol) == 0)
    #expect(try group.store.findings() == [])
  }

  @Test func `mentioning yourself does not count as an unread mention`() throws {
    let group = try OpsGroup()
    try group.alice.say("@alice was here", to: "+ops")
    #expect(try unreadMentions(group.alice) == 0)
  }

  @Test func `reading a message clears its unread mention, and marking it unread counts it again`() throws {
    let group = try OpsGroup()
    for text in ["@bob one", "@bob two"] { try group.alice.say(text, to: "+ops") }
    try group.bob.read(2...2, of: "+ops")
    #expect(try unreadMentions(group.bob) == 1)
    try group.bob.take(.unread, upTo: 3, of: "+ops")
    #expect(try unreadMentions(group.bob) == 2)
    _ = try group.bob.markRead(.all, in: .title("ops"))
    #expect(try unreadMentions(group.bob) == 0)
  }

  @Test func `an edit mentions only the users in its new text`() throws {
    let group = try OpsGroup()
    try group.alice.say("@bob", to: "+ops")
    #expect(try group.alice.edit("+ops:2", to: "@carol").mentions.map(\.description) == ["carol"])
    #expect(try unreadMentions(group.bob) == 0 && unreadMentions(group.carol) == 1)
    #expect(try group.store.findings() == [])
  }

  @Test func `a mention that an edit adds counts only if the message is unread`() throws {
    let group = try OpsGroup()
    try group.alice.say("hi", to: "+ops")
    try group.bob.read(2...2, of: "+ops")
    try group.alice.edit("+ops:2", to: "hi @bob")
    #expect(try unreadMentions(group.bob) == 0)
    try group.bob.take(.unread, upTo: 2, of: "+ops")
    #expect(try unreadMentions(group.bob) == 1)
  }

  @Test func `a message that is deleted or expired no longer counts as a mention`() throws {
    let group = try OpsGroup()
    for text in ["@bob one", "@bob two", "@bob three"] { try group.alice.say(text, to: "+ops") }
    try group.alice.delete("+ops:2", forEveryone: true)
    #expect(try unreadMentions(group.bob) == 2)
    try group.bob.delete("+ops:3")
    #expect(try unreadMentions(group.bob) == 1)
    try group.expire("@bob three")
    #expect(try unreadMentions(group.bob) == 0)
  }

  @Test func `a mention by a blocked user does not count for the blocker until they unblock the user`() throws {
    let group = try OpsGroup()
    _ = try group.alice.setBlocked(true, ["bob"])
    let sent = try group.bob.say("@alice @carol", to: "+ops")
    #expect(sent.mentions.map(\.description) == ["alice", "carol"], "the blocked user sees both mentions")
    #expect(try unreadMentions(group.alice) == 0 && unreadMentions(group.carol) == 1)
    _ = try group.alice.setBlocked(false, ["bob"])
    #expect(try unreadMentions(group.alice) == 1)
    #expect(try group.store.findings() == [])
  }

  @Test func `mentions count also in a muted conversation`() throws {
    let group = try OpsGroup()
    _ = try group.bob.change(.muted(for: nil), in: [.title("ops")])
    try group.alice.say("@bob", to: "+ops")
    #expect(try unreadMentions(group.bob) == 1)
  }

  @Test func `a message that is forwarded mentions participants of the conversation it is sent to`() throws {
    let group = try OpsGroup()
    let first = try group.alice.say("@bob @dave", to: "+ops")
    let forwarded = try group.alice.send(
      Outgoing(to: .direct("dave"), text: "@bob @dave", forwards: first.id))
    #expect(first.mentions.map(\.description) == ["bob"])
    #expect(forwarded.mentions.map(\.description) == ["dave"])
  }
}
