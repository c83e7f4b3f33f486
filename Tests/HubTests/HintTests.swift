import Testing

@testable import DMKit
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

/// What a hub, or a member of it, says of conversations that have moved.
struct HintTests {
  let hub = SharedHub()

  @Test func `hints without changes are followed less and less often, and a comparison finds changes`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try alice.sync()
    try alice.say("hello", to: "bob")
    for machine in [alice, bob, alice] { try machine.sync() }
    let conversation = try alice.messenger.conversation(ConversationReference("bob")).id
    let before = alice.link.exchanges
    for _ in 1...200 {
      alice.link.hints = [HubHint(conversations: [conversation])]
      try alice.engine.wait(for: .seconds(30))
      try alice.engine.drain()
    }
    #expect(alice.link.exchanges - before < 40)
    try bob.say("news", to: "alice")
    try bob.sync()
    try alice.engine.compare()
    try alice.engine.drain()
    #expect(try alice.texts("bob") == ["1 alice: hello", "2 bob: news"])
    // A hint with news is believed again.
    try bob.say("more", to: "alice")
    try bob.sync()
    alice.link.hints = [HubHint(conversations: [conversation])]
    try alice.engine.wait(for: .seconds(30))
    try alice.engine.drain()
    #expect(try alice.texts("bob").last == "3 bob: more")
  }

  @Test func `an operation that is queued on this machine causes no comparison`() throws {
    let alice = try hub.joined("alice")
    try alice.sync()
    let before = alice.link.comparisons
    for _ in 1...20 {
      var ring = HubHint()
      ring.isRung = true
      alice.link.hints = [ring]
      try alice.engine.wait(for: .seconds(30))
    }
    #expect(alice.link.comparisons == before)
  }
}
