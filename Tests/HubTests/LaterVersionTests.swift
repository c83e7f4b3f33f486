import Testing

@testable import DMKit
@testable import DMModel
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

/// Messages that a later version of dm has written: this version cannot read them, but keeps them.
struct LaterVersionTests {
  let hub = SharedHub()
  let payload = Array(#"{"v":2,"words":"later"}"#.utf8)

  /// Alice's machine, Bob's machine, and a message that Bob's machine has sent and Alice's machine cannot read.
  private func received() throws -> (alice: Machine, bob: Identifier, said: HubOperation) {
    let alice = try hub.joined("alice")
    let bob = hub.model.invite("bob")
    try alice.sync()
    try alice.say("hello", to: "bob")
    try alice.sync()
    var said = HubOperation.say("", in: try #require(hub.model.conversations.keys.first))
    said.payload = payload
    #expect(try hub.model.push(bob, [said]).map(\.fault) == [nil])
    try alice.sync()
    return (alice, bob, said)
  }

  private func later(_ act: Outbox.Act, _ said: HubOperation, _ payload: [UInt8]? = nil) -> HubOperation {
    var operation = HubOperation(act, conversation: said.conversation)
    (operation.id, operation.seq, operation.payload) = (said.id, 2, payload)
    return operation
  }

  private func kept(_ machine: Machine) throws -> [UInt8]? {
    let store = try #require(try machine.messenger.existingStore())
    var select = try store.connection.prepare("SELECT payload FROM hub_unreadable")
    return try select.step() ? select.withBytes(0) { $0.map(Array.init) } : nil
  }

  @Test func `a message of a later version counts as unread, has the kind 'unreadable', and is kept`() throws {
    let (alice, _, _) = try received()
    let message = try #require(try alice.messages("bob").last)
    #expect(message.seq == 2 && message.text == nil && message.systemKind == .unreadable)
    #expect(try alice.messenger.conversation(ConversationReference("bob")).unreadCount == 1)
    #expect(try kept(alice) == payload)
    #expect(try alice.messenger.received([.message]).last == "2 bob: unreadable ")
    try alice.check()
  }

  @Test func `an edit by this version makes a message of a later version readable`() throws {
    let (alice, bob, said) = try received()
    _ = try hub.model.push(bob, [later(.edit, said, HubPayload.text(HubPayload.Text(text: "in old words")).bytes)])
    try alice.sync()
    #expect(try alice.texts("bob").last == "2 bob: in old words")
    #expect(try kept(alice) == nil)
    try alice.check()
  }

  @Test func `a message of a later version can be reacted to and deleted`() throws {
    let (alice, bob, said) = try received()
    _ = try alice.messenger.edit([Edit(MessageReference("bob:2"), .react("👍"))])[0].get()
    try alice.sync()
    #expect(try alice.messages("bob").last?.reactions.map(\.emoji) == ["👍"])
    _ = try hub.model.push(bob, [later(.delete, said)])
    try alice.sync()
    #expect(try alice.texts("bob") == ["1 alice: hello"])
    #expect(try kept(alice) == nil)
    try alice.check()
  }
}
