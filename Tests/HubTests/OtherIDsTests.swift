import Testing

@testable import DMKit
@testable import DMModel
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

/// Ids of queued messages that the hub has replaced: they were printed, so they must stay valid.
struct OtherIDsTests {
  let hub = SharedHub()

  @Test func `if the hub gives a queued message another id, the queued id stays valid, and the event has both ids`()
    throws
  {
    let bob = try hub.joined("bob")
    let (first, second) = (try hub.joined("alice"), try hub.joined("alice"))
    let answer = try Outgoing(to: ConversationReference("bob"), text: "answer", nonce: "r1")
    let kept = try first.messenger.send(answer)
    let start = try second.messenger.here()
    let other = try second.messenger.send(answer)
    #expect(kept.id != other.id)
    for machine in [first, second, bob] { try machine.sync() }
    let updates = try second.messenger.received(EventQuery(from: start)).compactMap { event in
      if case .messageUpdated(let message, _) = event { message } else { nil }
    }
    #expect(updates.map(\.id) == [kept.id] && updates.map(\.replaces) == [other.id])
    _ = try second.messenger.edit([Edit(.id(other.id), .text("better"))])[0].get()
    _ = try second.messenger.edit([Edit(.id(other.id), .react("👍"))])[0].get()
    try second.sync()
    try bob.sync()
    #expect(try bob.texts("alice") == ["1 alice: better"])
    #expect(try bob.messages("alice").last?.reactions.map(\.emoji) == ["👍"])
    try second.check()
  }

  @Test func `the id of a queued conversation stays valid if both users started the conversation`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try alice.sync()
    let start = try bob.messenger.here()
    try alice.say("from alice", to: "bob")
    let old = try bob.say("from bob", to: "alice").conversationID
    for machine in [alice, bob, alice] { try machine.sync() }
    let now = try bob.messenger.conversation(ConversationReference("alice")).id
    #expect(now != old)
    var query = EventQuery(from: start)
    query.kinds = [.conversationUpdated]
    let updates = try bob.messenger.received(query).compactMap { event in
      if case .conversationUpdated(let conversation, _) = event { conversation } else { nil }
    }
    #expect(updates.contains { $0.id == now && $0.replaces == old })
    #expect(try bob.messenger.conversation(.id(old)).id == now)
    _ = try bob.messenger.send(Outgoing(to: .id(old), text: "again"))
    for machine in [bob, alice] { try machine.sync() }
    #expect(try alice.texts("bob").count == 3)
    for machine in [alice, bob] { try machine.check() }
  }
}
