import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

struct ReadTests {
  private struct Scene {
    let store: TemporaryStore
    let alice: Messenger
    let bob: Messenger
  }

  private func filled() throws -> Scene {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    for number in 1...10 { try alice.say("\(number)", to: "bob") }
    return Scene(store: store, alice: alice, bob: try store.messenger("bob"))
  }

  @Test func `marking returns exactly the messages that it changed`() throws {
    let scene = try filled()
    let first = try #require(try scene.bob.markRead(.ranges([RangeReference(from: 3, to: 5)]), in: .direct("alice")))
    #expect(first.ranges == [3...5] && first.count == 3 && first.unreadCount == 7)
    #expect(first.conversationTitle == "alice" && first.action == .read && !first.isDryRun)
    let second = try #require(try scene.bob.markRead(.ranges([RangeReference(from: 2, to: 6)]), in: .direct("alice")))
    #expect(second.ranges == [2...2, 6...6] && second.unreadCount == 5)
    #expect(try scene.bob.markRead(.ranges([RangeReference(from: 2, to: 6)]), in: .direct("alice")) == nil)
    #expect(try scene.bob.markRead(.ranges([RangeReference(from: 90, to: nil)]), in: .direct("alice")) == nil)
  }

  @Test func `marking before a time marks the messages that were sent earlier`() throws {
    let scene = try filled()
    let sixth = try scene.bob.everything(in: "alice")[5]
    let receipt = try #require(try scene.bob.markRead(.before(.time(sixth.createdAt)), in: .direct("alice")))
    #expect(receipt.ranges == [1...5] && receipt.unreadCount == 5)
    #expect(try scene.bob.markRead(.before(.time(Timestamp(microseconds: 0))), in: .direct("alice")) == nil)
  }

  @Test func `marking everywhere returns one record for each conversation that changed`() throws {
    let scene = try filled()
    try scene.store.messenger("carol").say("hi", to: "bob")
    try scene.bob.say("mine", to: "bob")
    let receipts = try scene.bob.markReadEverywhere(.all)
    #expect(receipts.map(\.ranges) == [[1...10], [1...1]])
    #expect(receipts.allSatisfy { $0.unreadCount == 0 })
    #expect(try scene.bob.markReadEverywhere(.all).isEmpty)
    #expect(try scene.bob.unreadCount() == 0)
  }

  @Test func `marking as unread affects only messages of others, and their receipts stay`() throws {
    let scene = try filled()
    try scene.bob.say("eleven", to: "alice")
    _ = try scene.bob.markRead(.all, in: .direct("alice"))
    var options = Messenger.MarkOptions()
    options.act = .unread
    let receipt = try #require(try scene.bob.markRead(.all, in: .direct("alice"), options))
    #expect(receipt.ranges == [1...10] && receipt.unreadCount == 10)
    #expect(try scene.bob.conversation(.direct("alice")).lastReadSeq == 11)
    #expect(try scene.alice.everything(in: "bob").map(\.status) == Array(repeating: .read, count: 10) + [.sent])
    #expect(try scene.alice.receipts(for: .number(1, in: .direct("bob"))).count == 1)
  }

  @Test func `a dry run says what would change and changes nothing`() throws {
    let scene = try filled()
    var options = Messenger.MarkOptions()
    options.isDryRun = true
    let receipt = try #require(try scene.bob.markRead(.upTo(.number(4, in: nil)), in: .direct("alice"), options))
    #expect(receipt.ranges == [1...4] && receipt.unreadCount == 6)
    #expect(try scene.bob.unreadCount() == 10)
    #expect(try scene.alice.receipts(for: .number(1, in: .direct("bob"))).isEmpty)
  }

  @Test func `marking a list of messages does not mark those between them`() throws {
    let scene = try filled()
    let id = try scene.alice.conversation(.direct("bob")).id
    let mentioned = [2, 5, 99, 9].map { Messenger.MarkedMessage(conversation: id, seq: $0) }
    let (receipts, errors) = try scene.bob.markRead(mentioned)
    #expect(receipts.map(\.ranges) == [[2...2, 5...5, 9...9]])
    #expect(receipts.map(\.unreadCount) == [7])
    #expect(errors.mapValues(\.code) == [2: .unknownMessage])
    let read = try scene.alice.everything(in: "bob").filter { $0.status == .read }.map(\.seq)
    #expect(read == [2, 5, 9])
    for seq in [3, 4, 8] { #expect(try scene.alice.receipts(for: .number(seq, in: .direct("bob"))).isEmpty) }
  }

  @Test func `the read receipts of a message are sorted oldest first, and do not include its sender`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    _ = try alice.createGroup(titled: "ops", with: ["bob", "carol"])
    let message = try alice.say("hi", to: "+ops")
    for user in ["carol", "bob", "alice"] { _ = try store.messenger(user).markRead(.all, in: .title("ops")) }
    for reference in [MessageReference.id(message.id), .number(-1, in: .title("ops"))] {
      let receipts = try alice.receipts(for: reference)
      #expect(receipts.map(\.user.description) == ["carol", "bob"])
      #expect(receipts.compactMap(\.at) == receipts.compactMap(\.at).sorted())
      #expect(receipts.allSatisfy { $0.conversationID == message.conversationID && $0.ranges == [2...2] })
    }
    #expect(try code { try alice.receipts(for: .number(1, in: nil)) } == .badReference)
    #expect(try code { try alice.receipts(for: .number(3, in: .title("ops"))) } == .unknownMessage)
    #expect(try code { try alice.receipts(for: .id(Identifier(at: .now))) } == .unknownMessage)
  }

  @Test func `marking as delivered returns the messages of others that are newly delivered`() throws {
    let scene = try filled()
    try scene.bob.say("11", to: "alice")
    try scene.alice.say("12", to: "bob")
    _ = try scene.alice.edit([Edit(.number(4, in: .direct("bob")), .delete(forEveryone: true))])
    var options = Messenger.MarkOptions()
    options.act = .delivered
    let marked = try #require(try scene.bob.markRead(.all, in: .direct("alice"), options))
    #expect(marked.ranges == [1...3, 5...10, 12...12] && marked.count == 10 && marked.unreadCount == 10)
    #expect(marked.action == .delivered)
    #expect(try scene.bob.markRead(.all, in: .direct("alice"), options) == nil)
  }

  @Test func `marking up to an unknown message is an error`() throws {
    let scene = try filled()
    #expect(try code { try scene.bob.markRead(.upTo(.number(11, in: nil)), in: .direct("alice")) } == .unknownMessage)
    #expect(
      try code { try scene.bob.markRead(.upTo(.number(1, in: .direct("carol"))), in: .direct("alice")) }
        == .unknownConversation)
  }
}
