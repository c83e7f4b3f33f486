import Testing

@testable import DMKit
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

struct ListTests {
  private func list(_ messenger: Messenger, _ change: (inout ListQuery) -> Void = { _ in }) throws -> [String] {
    var query = ListQuery()
    change(&query)
    return try messenger.conversations(query).map {
      $0.title ?? $0.participants.map(\.description).joined(separator: "-")
    }
  }

  @Test func `the list has pinned conversations first, and each part is sorted by newest activity`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    for title in ["one", "two", "three"] { _ = try alice.createGroup(titled: title, with: []) }
    #expect(try list(alice) == ["three", "two", "one"])
    try alice.say("hi", to: "+two")
    #expect(try list(alice) == ["two", "three", "one"])
    try store.execute("UPDATE participant SET is_pinned = 1 WHERE conversation = 1")
    #expect(try list(alice) == ["one", "two", "three"])
    #expect(try alice.conversations().map(\.isPinned) == [true, false, false])
  }

  @Test func `archived conversations can be left out of the list, listed alone, or included`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    for title in ["one", "two"] { _ = try alice.createGroup(titled: title, with: ["bob"]) }
    try store.messenger("bob").say("hi", to: "+one")
    try store.execute("UPDATE participant SET is_archived = 1 WHERE conversation = 1 AND user = 1")
    #expect(try list(alice) == ["two"])
    #expect(try list(alice) { $0.archived = .only } == ["one"])
    #expect(try list(alice) { $0.archived = .included } == ["one", "two"])
    #expect(try list(store.messenger("bob")) == ["one", "two"])
    #expect(try alice.unreadCount() == 0)
    var query = ListQuery()
    query.archived = .included
    #expect(try alice.unreadCount(query) == 1)
  }

  @Test func `the list can be limited to conversations with unread messages, and unread messages are counted`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    for title in ["one", "two"] { _ = try alice.createGroup(titled: title, with: ["bob"]) }
    for text in ["a", "b"] { try alice.say(text, to: "+one") }
    try alice.say("c", to: "bob")
    #expect(try list(bob) { $0.unreadOnly = true } == ["alice-bob", "one"])
    #expect(try bob.unreadCount() == 3)
    _ = try bob.markRead(.all, in: .title("one"))
    #expect(try list(bob) { $0.unreadOnly = true } == ["alice-bob"])
    #expect(try bob.unreadCount() == 1)
    #expect(try list(alice) { $0.unreadOnly = true } == [])
  }

  @Test func `a list query matches part of a title or of another participant's handle or display name`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    _ = try store.messenger("bob").setProfile(ProfileChange(displayName: "Robert"))
    _ = try alice.createGroup(titled: "Operations", with: ["bob"])
    try alice.say("hi", to: "carol")
    try alice.say("note", to: "alice")
    #expect(try list(alice) { $0.matching = "perat" } == ["Operations"])
    #expect(try list(alice) { $0.matching = "OPER" } == ["Operations"])
    #expect(try list(alice) { $0.matching = "bert" } == ["Operations"])
    #expect(try list(alice) { $0.matching = "caro" } == ["alice-carol"])
    #expect(try list(alice) { $0.matching = "alice" } == ["alice"])
    #expect(try list(alice) { $0.matching = "nobody" } == [])
    #expect(try list(alice) { $0.matching = "hi" } == [])
  }

  @Test func `a list query can be limited to the newest conversations, pinned ones first`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    for title in ["a1", "a2", "b3", "a4"] { _ = try alice.createGroup(titled: title, with: []) }
    func found(_ newest: Int?) throws -> [String] { try list(alice) { ($0.matching, $0.newest) = ("a", newest) } }
    #expect(try found(nil) == ["a4", "a2", "a1"])
    #expect(try found(3) == ["a4", "a2"] && found(2) == ["a4"] && found(0) == [])
    _ = try alice.change(.pinned(true), in: [.title("a1")])
    #expect(try found(3) == ["a1", "a4"])
    #expect(try list(alice) { $0.newest = 2 } == ["a1", "a4"])
  }

  @Test(arguments: ["%", "_", "\\", "100%", "a_b", "c\\d", "%_\\", "'"])
  func `percent, underscore, backslash and quote match literally in a list query`(_ text: String) throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    _ = try alice.createGroup(titled: "plain axb cd 100", with: [])
    _ = try alice.createGroup(titled: "it is <\(text)>", with: [])
    #expect(try list(alice) { $0.matching = text } == ["it is <\(text)>"])
  }

  @Test func `a percent sign with a combining mark matches literally too`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    _ = try alice.createGroup(titled: "e\u{301}t\u{E9}", with: [])
    #expect(try list(alice) { $0.matching = "e\u{301}" } == ["e\u{301}t\u{E9}"])
    #expect(try list(alice) { $0.matching = "ETE" } == ["e\u{301}t\u{E9}"])
    let found = try list(alice) { $0.matching = "%\u{301}" }
    #expect(found == [])
  }

  @Test func `a list limit of nil returns all conversations, and 0 returns no conversations`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    for title in 0..<60 { _ = try alice.createGroup(titled: "\(title)", with: []) }
    #expect(try list(alice).count == 50)
    #expect(try list(alice) { $0.limit = 2 } == ["59", "58"])
    #expect(try list(alice) { $0.limit = nil }.count == 60)
    #expect(try list(alice) { $0.limit = 0 }.isEmpty)
  }

  @Test func `a listed conversation has its id, participants, last message and unread count`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    try alice.say("one", to: "bob")
    let last = try alice.say("two", to: "bob", nonce: "n", replyTo: "1")
    let seen = try #require(try bob.conversations().first)
    #expect(seen.id == last.conversationID && !seen.isGroup && seen.title == nil)
    #expect(seen.creator?.description == "alice")
    #expect(seen.participants.map(\.description) == ["alice", "bob"])
    #expect(seen.lastMessage == (try bob.messages(in: .direct("alice"), limit: 1).first))
    #expect(seen.lastActivityAt == last.createdAt)
    #expect(seen.unreadCount == 2 && seen.firstUnreadSeq == 1 && seen.lastReadSeq == nil)
    #expect(try bob.conversation(.direct("alice")) == seen)
    #expect(try alice.conversation(.direct("bob")).unreadCount == 0)
  }

  @Test func `a cursor of another store is refused`() throws {
    let (store, other) = (try TemporaryStore(), try TemporaryStore())
    try other.messenger("alice").say("hi", to: "bob")
    let cursor = try #require(try other.messenger("alice").conversations().first?.pageCursor)
    #expect(try code { try list(store.messenger("alice")) { $0.after = cursor } } == .badCursor)
  }
}
