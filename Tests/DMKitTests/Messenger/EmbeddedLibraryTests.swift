import Glibc
import Testing

@testable import DMKit
@testable import DMModel
@testable import StoreSupport
@testable import TestSupport

/// Features for programs that use the library.
struct EmbeddedLibraryTests {
  @Test func `the description of an error has its message, its code, and the function that solves the problem`() throws
  {
    let store = try TemporaryStore(users: ["alice"])
    let error = #expect(throws: DMError.self) { try store.messenger("nobody").conversations(ListQuery()) }
    let text = try #require(error?.description)
    #expect(text.contains("nobody") && text.hasSuffix(" (unknown_user); addUser adds them"))
    #expect(DMError(.inputOutput, "the disk failed").description == "the disk failed (io_error)")
  }

  @Test func `a message is found by its nonce, and by its id`() throws {
    let store = try TemporaryStore(users: ["alice", "bob", "carol"])
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    #expect(try alice.message(nonce: "n1", in: ConversationReference("bob")) == nil)
    let sent = try alice.say("hello", to: "bob", nonce: "n1")
    let other = try alice.say("more", to: "bob")
    #expect(try alice.message(nonce: "n1", in: ConversationReference("bob"))?.id == sent.id)
    #expect(
      try bob.message(nonce: "n1", in: ConversationReference("alice")) == nil,
      "a nonce finds only messages of the user who asks")
    #expect(try bob.messages(ids: [other.id, sent.id]).map(\.text) == ["more", "hello"])
    #expect(try store.messenger("carol").messages(ids: [sent.id]).isEmpty, "Carol is not in the conversation")
  }

  @Test func `a history of one sender has their messages only, up to its limit`() throws {
    let group = try OpsGroup()
    for number in 1...20 {
      try (number % 3 == 0 ? group.bob : group.alice).say("\(number)", to: "+ops")
      if number % 4 == 0 { try group.bob.say("direct \(number)", to: "alice") }
    }
    func texts(_ references: [ConversationReference], _ sender: Handle, limit: Int?) throws -> [String] {
      var query = HistoryQuery()
      (query.conversations, query.sender, query.limit) = (references, sender, limit)
      return try group.alice.history(of: query).compactMap(\.text)
    }
    let ops = try ConversationReference("+ops")
    #expect(try texts([ops], "bob", limit: 3) == ["12", "15", "18"])
    #expect(try texts([ops], "bob", limit: nil) == ["3", "6", "9", "12", "15", "18"])
    #expect(try texts([], "bob", limit: 4) == ["15", "direct 16", "18", "direct 20"])
    #expect(try texts([ops, .direct("bob")], "alice", limit: 2) == ["19", "20"])
    #expect(try texts([ops], "carol", limit: nil) == [])
    #expect(try code { try texts([ops], "nobody", limit: nil) } == .unknownUser)
  }

  @Test func `message ids of a range are those of the messages that the user sees`() throws {
    let group = try OpsGroup()
    let sent = try (1...4).map { try group.alice.say("\($0)", to: "+ops") }
    try group.bob.delete("+ops:3")
    let id = sent[0].conversationID
    #expect(try group.alice.messageIDs([2...2, 4...9], in: id) == [sent[0], sent[2], sent[3]].map(\.id))
    #expect(try group.bob.messageIDs([2...3], in: id) == [sent[0].id])
    #expect(try group.dave.messageIDs([2...5], in: id) == [])
    #expect(try group.alice.messageIDs([1...1], in: sent[0].id) == [])
  }

  @Test func `changing the conversations of a running stream loses no later event`() async throws {
    let store = try TemporaryStore(users: ["alice", "bob", "carol", "dave"])
    let alice = try store.messenger("alice")
    let others = try ["bob", "carol", "dave"].map { try store.messenger($0) }
    for other in others { try other.say("before", to: "alice") }
    var query = EventQuery([.direct("bob")], from: .now)
    query.kinds = [.message]
    let events = alice.events(query)
    var received: [String] = []
    for try await event in events {
      guard case .message(let message, _) = event else {
        // The stream has caught up, and now the other users send their messages.
        for other in others { try other.say("one", to: "alice") }
        continue
      }
      received.append("\(message.sender) \(message.text ?? "")")
      switch received.last {
      case "bob one":
        events.watch([.direct("carol"), .direct("dave")])
        for other in others { try other.say("two", to: "alice") }
      case "dave two":
        events.watch([])
        for other in others { try other.say("three", to: "alice") }
      default: break
      }
      if received.last == "dave three" { break }
    }
    #expect(received == ["bob one", "carol two", "dave two", "bob three", "carol three", "dave three"])
  }

  @Test func `records are made without a store, for previews and tests of views`() throws {
    let (alice, bob): (Handle, Handle) = ("alice", "bob")
    let id = try #require(Identifier("01a212bc-a115-7093-9fc7-2af010db45df"))
    let now = Timestamp(microseconds: 1_795_610_680_589_640)
    var message = Message(
      id: id, in: ConversationLabel(title: "bob", isGroup: false, reference: "bob"), id, seq: 7, sender: bob,
      text: "hi",
      createdAt: now)
    message.reactions = [Message.Reactions(emoji: "👍", users: [alice])]
    let conversation = Conversation(
      id: id, name: "Bob B.", isGroup: false, participants: [alice, bob], lastMessage: message, lastActivityAt: now,
      unreadCount: 1)
    #expect(conversation.lastMessage?.reference == "bob:7")
    #expect(User(handle: bob, displayName: "Bob B.", createdAt: now).id == bob)
  }

  @Test func `the standard store location follows DM_STORE, XDG_DATA_HOME and HOME`() throws {
    for name in ["DM_STORE", "XDG_DATA_HOME"] { unsetenv(name) }
    setenv("HOME", "/home/x", 1)
    #expect(try StoreLocation.standard().directory == "/home/x/.local/share/dm")
    setenv("XDG_DATA_HOME", "relative", 1)
    #expect(try StoreLocation.standard().directory == "/home/x/.local/share/dm")
    setenv("XDG_DATA_HOME", "/data", 1)
    #expect(try StoreLocation.standard().directory == "/data/dm")
    setenv("DM_STORE", "/elsewhere/", 1)
    #expect(try StoreLocation.standard().directory == "/elsewhere")
  }
}
