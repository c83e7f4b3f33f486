import Testing

@testable import DMKit
@testable import DMStore
@testable import DMSync
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

/// Hints of a hub, or of a hostile member, about conversations that have changed.
struct HintTests {
  let hub = SharedHub()

  @Test func `a machine acts less and less often on hints that bring no changes, and a comparison finds later changes`()
    throws
  {
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
    // After a comparison has found a change, the next hint is followed at once.
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

  @Test func `a machine gets no hints until it asks for them, and then compares once`() throws {
    let alice = try hub.joined("alice")
    try alice.engine.listen(false)
    try alice.sync()
    #expect(!alice.link.listens)
    let before = alice.link.comparisons
    try alice.engine.listen(true)
    #expect(alice.link.listens && alice.link.comparisons == before + 1)
    try alice.engine.listen(true)
    #expect(alice.link.comparisons == before + 1)
    alice.engine.close()
    try alice.sync()
    #expect(alice.link.listens)
  }

  @Test func `a machine needs hints while a program follows the store or has recently read it`() throws {
    let machine = try hub.joined("alice")
    let location = machine.messenger.location
    _ = createFolder(location.live)
    func readers(after file: String, seconds: Int64) -> (needHints: Bool, areFollowing: Bool) {
      SignalFile.set(Timestamp(microseconds: Timestamp.now.microseconds - seconds * 1_000_000), of: file)
      var readers = Readers(location)
      return (readers.needHints(), readers.areFollowing())
    }
    var idle = Readers(location)
    let needsAtFirst = idle.needHints()
    #expect(!needsAtFirst)
    #expect(readers(after: location.liveRead, seconds: 70) == (false, false))
    #expect(readers(after: location.liveRead, seconds: 50) == (true, false))
    #expect(readers(after: location.liveFollowed, seconds: 50) == (true, false))
    removeFile(location.liveRead)
    #expect(readers(after: location.liveFollowed, seconds: 50) == (false, false))
    #expect(readers(after: location.liveFollowed, seconds: 40) == (true, true))
    // A file that changes while the process runs counts as touched now, whatever its time is.
    var later = Readers(location)
    _ = later.areFollowing()
    SignalFile.set(Timestamp(microseconds: 1_000_000), of: location.liveFollowed)
    let follows = later.areFollowing()
    #expect(follows)
    withExtendedLifetime(machine) {}
  }

  @Test func `a message to a user who has just begun the same conversation is numbered without a comparison`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try alice.sync()
    try bob.sync()
    try alice.say("hello", to: "bob")
    try alice.sync()
    try bob.say("hello, too", to: "alice")
    try bob.engine.drain()
    #expect(try bob.texts("alice") == ["1 alice: hello", "2 bob: hello, too"])
  }

  @Test func `no hint announces the delivery receipts of a group`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try alice.sync()
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("bob")])
    try settle([alice, bob])
    for (conversation, isAnnounced) in [("+ops", false), ("bob", true)] {
      let message = try alice.say("hello", to: conversation)
      let before = bob.link.announced.count
      try settle([alice, bob])
      #expect(bob.link.announced.dropFirst(before).contains(.delivered) == isAnnounced)
      let status = try alice.messages(conversation).first { $0.nonce == message.nonce && $0.text == "hello" }?.status
      #expect(status == .delivered)
    }
  }
}
