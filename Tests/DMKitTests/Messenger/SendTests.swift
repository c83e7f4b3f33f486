import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

struct SendTests {
  @Test func `a first message makes the conversation and a second goes into it`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let first = try alice.say("lunch?", to: "bob")
    let second = try alice.say("at one", to: "@bob")
    #expect((first.seq, second.seq) == (1, 2))
    #expect(first.conversationID == second.conversationID)
    #expect(first.sender.description == "alice")
    #expect(first.status == .sent)
    #expect(!first.isDuplicate)
  }

  @Test func `two users have one direct conversation, whichever of them begins it`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    let one = try alice.say("hi", to: "bob")
    let other = try bob.say("hello", to: "alice")
    #expect(one.conversationID == other.conversationID)
    #expect(try alice.directConversation(with: "bob").id == one.conversationID)
    #expect(try bob.directConversation(with: "alice").id == one.conversationID)
    #expect(try store.integers("SELECT count(*) FROM conversation") == [[1]])
  }

  @Test func `any text is read back byte for byte`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let texts = [
      "e\u{301} \u{E9}", "a\r\nb\n", " \t x ", "\u{2028}\u{202E}\u{FEFF}", "\u{1B}[2J", "😀\u{200D}",
      "'; DROP TABLE user; --", "%_\\", "\"{}\"",
      String(repeating: "x", count: Outgoing.textLimit),
    ]
    for text in texts { try alice.say(text, to: "bob") }
    let back = try store.messenger("bob").everything(in: "alice").map { Array(($0.text ?? "").utf8) }
    #expect(back == texts.map { Array($0.utf8) })
  }

  @Test func `a text has 1 byte to 64 KiB that are not all white space, and no NUL`() throws {
    #expect(try code { try Outgoing(to: .direct("bob"), text: "") } == .emptyText)
    #expect(try code { try Outgoing(to: .direct("bob"), text: " \t\n ") } == .emptyText)
    #expect(try code { try Outgoing(to: .direct("bob"), text: String(repeating: "x", count: 65_537)) } == .textTooLong)
    #expect(try code { try Outgoing(to: .direct("bob"), text: "a\u{0}b") } == .badField)
  }

  @Test func `a nonce has 1 to 128 bytes`() throws {
    #expect(try code { try Outgoing(to: .direct("bob"), text: "x", nonce: "") } == .badField)
    #expect(
      try code { try Outgoing(to: .direct("bob"), text: "x", nonce: String(repeating: "n", count: 129)) } == .badField)
    #expect(try code { try Outgoing(to: .direct("bob"), text: "x", nonce: "a\u{0}") } == .badField)
    #expect(try code { try Outgoing(to: .direct("bob"), text: "x", nonce: String(repeating: "n", count: 128)) } == nil)
  }

  @Test func `a nonce sent twice makes one message`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let first = try alice.say("hi", to: "bob", nonce: "n")
    let second = try alice.say("hi", to: "bob", nonce: "n")
    #expect(second.id == first.id)
    #expect(second.isDuplicate && !first.isDuplicate)
    #expect(second.createdAt == first.createdAt)
    #expect(try alice.everything(in: "bob").count == 1)
  }

  @Test func `a nonce sent twice in one batch makes one message`() throws {
    let store = try TemporaryStore()
    let line = try Outgoing(to: .direct("bob"), text: "hi", nonce: "n")
    let results = try store.messenger("alice").send([line, line]).map { try $0.get() }
    #expect(results[0].id == results[1].id)
    #expect(results.map(\.isDuplicate) == [false, true])
  }

  @Test func `a nonce with another text is a conflict, and nothing is sent`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    try alice.say("hi", to: "bob", nonce: "n")
    #expect(try code { try alice.say("ho", to: "bob", nonce: "n") } == .nonceConflict)
    #expect(try alice.everything(in: "bob").count == 1)
  }

  @Test func `a nonce with a text that looks the same but differs in its bytes is a conflict`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    try alice.say("caf\u{E9}", to: "bob", nonce: "n")
    let code = try code { try alice.say("cafe\u{301}", to: "bob", nonce: "n") }
    #expect(code == .nonceConflict)
  }

  @Test func `a nonce is unique for its sender and conversation only`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    let messages = [
      try alice.say("hi", to: "bob", nonce: "n"), try bob.say("ho", to: "alice", nonce: "n"),
      try alice.say("hi", to: "carol", nonce: "n"),
    ]
    #expect(Set(messages.map(\.id)).count == 3)
    #expect(messages.map(\.isDuplicate) == [false, false, false])
  }

  @Test func `a reply must refer to a message of its own conversation`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let first = try alice.say("lunch?", to: "bob")
    let elsewhere = try alice.say("hi", to: "carol")
    #expect(try alice.say("?", to: "bob", replyTo: "1").replyTo?.id == first.id)
    #expect(try alice.say("?", to: "bob", replyTo: "bob:-2").replyTo?.id == first.id)
    #expect(try alice.say("?", to: "bob", replyTo: first.id.description).replyTo?.id == first.id)
    #expect(try code { try alice.say("?", to: "bob", replyTo: elsewhere.id.description) } == .unknownMessage)
    #expect(try code { try alice.say("?", to: "bob", replyTo: "carol:1") } == .unknownMessage)
    #expect(try code { try alice.say("?", to: "bob", replyTo: "99") } == .unknownMessage)
    #expect(try code { try alice.say("?", to: "alice", replyTo: "1") } == .unknownMessage)
    #expect(try store.integers("SELECT count(*) FROM conversation") == [[2]])
  }

  @Test func `a batch continues after a message that cannot be sent`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let results = try alice.send([
      Outgoing(to: .direct("bob"), text: "one"), Outgoing(to: .direct("bbo"), text: "two"),
      Outgoing(to: .title("nobody"), text: "three"), Outgoing(to: .id(Identifier(at: .now)), text: "four"),
      Outgoing(to: .direct("bob"), text: "five", replyTo: .number(9, in: nil)),
      Outgoing(to: .direct("bob"), text: "six", replyTo: .number(-1, in: nil)),
      Outgoing(to: .direct("carol"), text: "seven"),
    ])
    let codes = try results.map { result in try code { try result.get() } }
    #expect(codes == [nil, .unknownUser, .unknownConversation, .unknownConversation, .unknownMessage, nil, nil])
    #expect(try alice.everything(in: "bob").map(\.text) == ["one", "six"])
    #expect(try store.integers("SELECT count(*) FROM conversation") == [[2]])
  }

  @Test func `a conversation referred to by title and by id has one sequence of numbers`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let group = try alice.createGroup(titled: "ops", with: ["bob"])
    let results = try alice.send([
      Outgoing(to: .title("ops"), text: "1"), Outgoing(to: .id(group.id), text: "2"),
      Outgoing(to: .title("ops"), text: "3"),
      Outgoing(to: .id(group.id), text: "4"),
    ])
    #expect(try results.map { try $0.get().seq } == [2, 3, 4, 5])
    #expect(try alice.conversation(.title("ops")).unreadCount == 0)
  }

  @Test func `handles that look the same but differ in their bytes are two users, in one batch too`() throws {
    let store = try TemporaryStore(users: ["alice", "ren\u{E9}", "rene\u{301}"])
    let alice = try store.messenger("alice")
    let results = try alice.send([
      Outgoing(to: .direct("ren\u{E9}"), text: "one"), Outgoing(to: .direct("rene\u{301}"), text: "two"),
    ])
    let conversations = try results.map { try $0.get().conversationID }
    #expect(conversations[0] != conversations[1])
  }

  @Test func `a conversation whose creation was rolled back leaves no id in the cache`() throws {
    let store = try TemporaryStore(users: ["alice", "bob", "carol", "dave"])
    let bob = try store.messenger("bob")
    _ = try bob.setBlocked(true, ["carol"])
    let refused = try code {
      try bob.sendToAll([Outgoing(to: .direct("alice"), text: "1"), Outgoing(to: .direct("carol"), text: "2")])
    }
    #expect(refused == .notAllowed)
    let sent = try store.messenger("dave").say("hello", to: "bob")
    #expect(try bob.history(of: HistoryQuery()).map(\.conversationID) == [sent.conversationID])
  }
}
