import Glibc
import Testing

@testable import DMKit
@testable import DMModel
@testable import StoreSupport
@testable import TestSupport

/// What a program needs that is built on the library.
struct EmbeddedLibraryTests {
  @Test func `an error that is printed says what failed, its code, and the call that helps`() throws {
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
      try bob.message(nonce: "n1", in: ConversationReference("alice")) == nil, "it is the nonce of another sender")
    #expect(try bob.messages(ids: [other.id, sent.id]).map(\.text) == ["more", "hello"])
    #expect(try store.messenger("carol").messages(ids: [sent.id]).isEmpty, "Carol is not in the conversation")
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

  @Test func `the standard location is that of the programs`() throws {
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
