import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

struct ConversationsTests {
  @Test func `a conversation with yourself has one participant and nothing unread`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    try alice.say("milk", to: "alice")
    try alice.say("bread", to: "@alice")
    let notes = try alice.conversation(.direct("alice"))
    #expect(notes.participants.map(\.description) == ["alice"])
    #expect(!notes.isGroup && notes.unreadCount == 0 && notes.lastReadSeq == 2 && notes.firstUnreadSeq == nil)
    #expect(try alice.everything(in: "alice").map(\.status) == [.sent, .sent])
    #expect(try store.integers("SELECT count(*) FROM conversation") == [[1]])
  }

  @Test func `a group has a title, a creator and each participant once`() throws {
    let store = try TemporaryStore()
    let group = try store.messenger("bob").createGroup(titled: "ops", with: ["carol", "alice", "carol", "bob"])
    #expect(group.isGroup && group.title == "ops" && group.creator?.description == "bob")
    #expect(group.participants.map(\.description) == ["alice", "bob", "carol"])
    let first = try #require(group.lastMessage)
    #expect(first.systemKind == .conversationCreated && first.subject == "ops" && first.text == nil)
    #expect(first.seq == 1 && group.unreadCount == 0 && group.lastReadSeq == 1)
    #expect(try store.messenger("carol").conversation(.title("ops")).unreadCount == 0)
  }

  @Test(arguments: ["", "a\nb", "a\u{202E}b", "a\u{0}", "\u{1B}[2J", String(repeating: "x", count: 257)])
  func `a title is 1 to 256 bytes without control or direction characters`(_ title: String) throws {
    let store = try TemporaryStore()
    #expect(try code { try store.messenger("alice").createGroup(titled: title, with: []) } == .badField)
  }

  @Test func `a group with an unknown user is not created`() throws {
    let store = try TemporaryStore()
    #expect(
      try code { try store.messenger("alice").createGroup(titled: "ops", with: ["bob", "crol"]) } == .unknownUser)
    #expect(try store.integers("SELECT count(*) FROM conversation") == [[0]])
  }

  @Test func `a user who is not in a conversation cannot read it, write to it, or mark it as read`() throws {
    let store = try TemporaryStore()
    let message = try store.messenger("alice").say("secret", to: "bob")
    let carol = try store.messenger("carol")
    let reference = ConversationReference.id(message.conversationID)
    #expect(try code { try carol.conversation(reference) } == .notAllowed)
    #expect(try code { try carol.messages(in: reference, limit: 1) } == .notAllowed)
    #expect(try code { try carol.send(Outgoing(to: reference, text: "hi")) } == .notAllowed)
    #expect(try code { try carol.markRead(.all, in: reference) } == .notAllowed)
    #expect(try code { try carol.receipts(for: .id(message.id)) } == .notAllowed)
    #expect(try code { try carol.receipts(for: .number(1, in: reference)) } == .notAllowed)
    let mentioned = Messenger.MarkedMessage(conversation: message.conversationID, seq: 1)
    let (marked, errors) = try carol.markRead([mentioned])
    #expect(marked.isEmpty && errors[0]?.code == .notAllowed)
    try carol.markDelivered(upTo: [message.conversationID: 1])
    #expect(try store.messenger("alice").everything(in: "bob").map(\.status) == [.sent])
    #expect(try carol.conversations().isEmpty)
    #expect(try carol.history(of: HistoryQuery()).isEmpty)
  }

  @Test func `the title of a group that the user is not in is unknown, and so is an unused UUID`() throws {
    let store = try TemporaryStore()
    _ = try store.messenger("alice").createGroup(titled: "ops", with: ["bob"])
    let carol = try store.messenger("carol")
    #expect(try code { try carol.conversation(.title("ops")) } == .unknownConversation)
    #expect(try code { try carol.say("hi", to: "+ops") } == .unknownConversation)
    #expect(try code { try carol.conversation(.id(Identifier(at: .now))) } == .unknownConversation)
    #expect(try code { try carol.conversation(.direct("alice")) } == .unknownConversation)
    #expect(try code { try carol.conversation(.direct("nobody")) } == .unknownUser)
  }

  @Test func `the error for an ambiguous title lists its groups`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let ids = try (0..<2).map { _ in try alice.createGroup(titled: "ops", with: ["bob"]).id }
    let fault = try #require(try fault { try alice.say("hi", to: "+ops") })
    #expect(fault.code == .ambiguousTitle)
    #expect(ids.allSatisfy { fault.message.contains($0.description) })
    _ = try store.messenger("carol").createGroup(titled: "ops", with: [])
    #expect(try store.messenger("carol").conversation(.title("ops")).participants.map(\.description) == ["carol"])
  }

  @Test(arguments: [
    ("bbo", "'bob'"), ("Bob", "'bob'"), ("bo", "'bob'"), ("carl", "'carol'"), ("+osp", "'+ops'"), ("+OPS", "'+ops'"),
    ("ops", "'+ops'"),
  ])
  func `the error for an unknown name suggests the nearest one`(_ name: String, _ meant: String) throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    _ = try alice.createGroup(titled: "ops", with: [])
    let fault = try #require(try fault { try alice.say("hi", to: name) })
    #expect(fault.message.contains("did you mean \(meant)?"), "\(fault.message)")
    #expect(fault.code == (name.hasPrefix("+") ? .unknownConversation : .unknownUser))
  }

  @Test func `the error for a part of a title suggests the only group whose title has it`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    for title in ["Team lunch", "team sports"] { _ = try alice.createGroup(titled: title, with: []) }
    for name in ["lunch", "+lunch", "Lunch"] {
      let fault = try #require(try fault { try alice.say("hi", to: name) })
      #expect(fault.message.contains("did you mean '+Team lunch'?"), "\(fault.message)")
    }
    for name in ["team", "+te"] {
      #expect(try fault { try alice.say("hi", to: name) }?.message.contains("did you mean") == false, "\(name)")
    }
    let id = try alice.say("one", to: "+Team lunch").id.description
    #expect(try fault { try alice.say("hi", to: id) }?.message.contains("is a message; name its conversation") == true)
    let bob = try store.messenger("bob")
    #expect(try fault { try bob.say("hi", to: id) }?.message.contains("there is no conversation") == true)
  }

  @Test func `a text of white space alone is neither sent nor the new text of a message`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    try alice.say("hi", to: "bob")
    for text in [" ", "\t\n", "\u{3000}\u{A0}"] {
      #expect(try code { try alice.say(text, to: "bob") } == .emptyText)
      #expect(try code { try alice.edit("bob:1", to: text) } == .emptyText)
    }
    #expect(try alice.texts(in: "bob") == ["hi"])
  }

  @Test func `the error for an unknown name suggests neither distant names nor groups that the user is not in`() throws
  {
    let store = try TemporaryStore()
    _ = try store.messenger("bob").createGroup(titled: "secrets", with: [])
    let alice = try store.messenger("alice")
    for name in ["xyzzy", "+secret", "+zzz"] {
      let fault = try #require(try fault { try alice.say("hi", to: name) })
      #expect(!fault.message.contains("did you mean"), "\(fault.message)")
    }
  }

  @Test(arguments: [
    ("", "", 0), ("a", "", 1), ("bob", "bob", 0), ("bob", "bbo", 1), ("kitten", "sitting", 3), ("ops", "osp", 1),
    ("ab", "ba", 1), ("a", "abcdef", 5),
  ])
  func `the edit distance counts insertions, deletions, replacements and swaps`(
    _ one: String, _ other: String, _ distance: Int
  ) {
    #expect(editDistance(one, other) == distance)
    #expect(editDistance(other, one) == distance)
  }

  @Test func `marking messages as delivered or read changes their status`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    let message = try alice.say("lunch?", to: "bob")
    try alice.markDelivered(upTo: [message.conversationID: 1])
    #expect(try bob.everything(in: "alice").map(\.status) == [.sent])
    try bob.markDelivered(upTo: [message.conversationID: 1])
    #expect(try alice.everything(in: "bob").map(\.status) == [.delivered])
    _ = try bob.markRead(.all, in: .direct("alice"))
    #expect(try alice.everything(in: "bob").map(\.status) == [.read])
    #expect(try bob.everything(in: "alice").map(\.status) == [.read])
  }
}
