import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// Which events there are, which users get them, and how a query selects them.
struct FollowerKindsTests {
  /// A group of three users in which each kind of event has happened once.
  private func eventful() throws -> TemporaryStore {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    _ = try alice.createGroup(titled: "ops", with: ["bob", "carol"])
    try alice.say("deployed", to: "+ops")
    try bob.say("thanks", to: "+ops")
    try bob.take(.delivered, upTo: 2, of: "+ops")
    try bob.read(1...3, of: "+ops")
    try bob.take(.unread, upTo: 2, of: "+ops")
    return store
  }

  @Test(
    arguments: [
      ([], []), ([.typing, .presence, .messageDeleted, .messageUpdated, .reaction], []),
      ([.message], ["1 alice: conversation_created ops", "2 alice: deployed", "3 bob: thanks"]),
      ([.messageStatus], ["bob got 1-2 of alice", "bob read 2 of alice"]),
      ([.readReceipt], ["bob read 2-2"]), ([.deliveryReceipt], ["bob got 1-2"]),
      ([.conversationUpdated], ["ops changed"]),
      (
        Set(MessagingEvent.Kind.allCases),
        [
          "ops changed", "1 alice: conversation_created ops", "2 alice: deployed", "3 bob: thanks", "bob got 1-2",
          "bob got 1-2 of alice", "bob read 2-2", "bob read 2 of alice",
        ]
      ),
    ] as [(Set<MessagingEvent.Kind>, [String])])
  func `each kind selects its events and no others, in the order in which they happened`(
    _ kinds: Set<MessagingEvent.Kind>, _ expected: [String]
  ) throws {
    let store = try eventful()
    #expect(try store.messenger("carol").received(kinds) == expected)
  }

  @Test func `only the user themselves gets an event for their own read marks`() throws {
    let store = try eventful()
    #expect(try store.messenger("alice").received([.conversationUpdated]) == ["ops changed"])
    #expect(try store.messenger("bob").received([.conversationUpdated]) == Array(repeating: "ops changed", count: 3))
  }

  @Test
  func `a stream has no events of conversations that the user is not in, and naming such a conversation is an error`()
    throws
  {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    let said = try alice.say("secret", to: "bob")
    try bob.read(1...1, of: "alice")
    let carol = try store.messenger("carol")
    #expect(try carol.received(Set(MessagingEvent.Kind.allCases)).isEmpty)
    #expect(try code { try carol.received([.message], in: ["dm:\(said.conversationID)"]) } == .notAllowed)
  }

  @Test func `a change of a profile is not an event`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    _ = try alice.setProfile(ProfileChange(displayName: "Alice"))
    #expect(try alice.received(Set(MessagingEvent.Kind.allCases)).isEmpty)
  }

  @Test func `a stream can leave out the user's own actions`() throws {
    let store = try eventful()
    let all = Set(MessagingEvent.Kind.allCases)
    #expect(
      try store.messenger("bob").received(all, othersOnly: true) == [
        "ops changed", "1 alice: conversation_created ops", "2 alice: deployed",
      ])
    #expect(
      try store.messenger("alice").received(all, othersOnly: true) == [
        "3 bob: thanks", "bob got 1-2", "bob read 2-2",
      ])
  }

  @Test func `with othersOnly, a status that the user's own receipt changed is not an event`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    try bob.say("one", to: "alice")
    try alice.say("two", to: "bob")
    // Alice marks messages up to 2 as delivered, and her own message is one of them.
    try alice.take(.delivered, upTo: 2, of: "bob")
    let position = try bob.here()
    try bob.take(.delivered, upTo: 2, of: "alice")
    let received = try bob.received([.messageStatus], from: position, othersOnly: true)
    #expect(received == [])
  }

  @Test func `a message event has the current status of its message, not the status at the time of the event`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    let said = try alice.say("lunch?", to: "bob", nonce: "n")
    let position = try alice.here()
    try bob.take(.delivered, upTo: 1, of: "alice")
    #expect(try alice.received([.messageStatus], from: position) == ["bob got 1 of alice"])
    try bob.read(1...1, of: "alice")
    #expect(try alice.received([.messageStatus], from: position) == ["bob got 1 of alice", "bob read 1 of alice"])
    guard case .message(let message, _)? = try alice.received(EventQuery(from: .start)).first else {
      Issue.record("no message")
      return
    }
    var expected = said
    (expected.status, expected.readByCount) = (.read, 1)
    #expect(message == expected)
  }

  @Test func `a receipt that does not change the status of a message is not an event`() throws {
    let store = try TemporaryStore()
    let (alice, bob, carol) = (
      try store.messenger("alice"), try store.messenger("bob"), try store.messenger("carol")
    )
    _ = try alice.createGroup(titled: "ops", with: ["bob", "carol"])
    try alice.say("one", to: "+ops")
    try bob.take(.delivered, upTo: 1, of: "+ops")
    try bob.read(2...2, of: "+ops")
    let position = try alice.here()
    // Receipts that change no status: delivered after it was read, read by another user and by its sender, and read
    // again after it was marked as unread.
    try bob.take(.delivered, upTo: 2, of: "+ops")
    try carol.take(.delivered, upTo: 2, of: "+ops")
    try carol.read(2...2, of: "+ops")
    try alice.take(.unread, upTo: 2, of: "+ops")
    try alice.read(2...2, of: "+ops")
    try bob.take(.unread, upTo: 2, of: "+ops")
    try bob.read(2...2, of: "+ops")
    #expect(try alice.received([.messageStatus], from: position).isEmpty)
  }

  @Test func `a stream of named conversations has their events only`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    let group = try alice.createGroup(titled: "ops", with: ["bob", "carol"])
    try alice.say("one", to: "bob")
    try bob.say("two", to: "+ops")
    try bob.say("three", to: "alice")
    try alice.say("four", to: "carol")
    #expect(try alice.received([.message], in: ["bob"]) == ["1 alice: one", "2 bob: three"])
    #expect(
      try alice.received([.message], in: ["+ops", "carol"]) == [
        "1 alice: conversation_created ops", "2 bob: two", "1 alice: four",
      ])
    #expect(try alice.received([.message], in: ["dm:\(group.id)", "+ops"]).last == "2 bob: two")
    #expect(try alice.received([.message]).count == 5)
  }

  @Test func `a stream delivers a named conversation that is created later, from its first message`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    _ = try alice.createGroup(titled: "ops", with: ["bob"])
    var query = EventQuery([.direct("bob"), .title("ops"), .direct("carol")])
    query.kinds = [.message, .conversationUpdated]
    query.marksDelivered = false
    let follower = try Follower(alice, query)
    #expect(try follower.untilCaughtUp().map(\.summary) == ["caught up"])
    try bob.say("hi", to: "alice")
    #expect(try follower.until("1 bob: hi") == ["alice+bob changed", "1 bob: hi"])
    try bob.say("to all", to: "+ops")
    #expect(try follower.until("2 bob: to all") == ["2 bob: to all"])
    try alice.say("to carol", to: "carol")
    #expect(try follower.until("1 alice: to carol") == ["alice+carol changed", "1 alice: to carol"])
  }

  @Test func `a stream of conversations that do not exist yet has no events, and its cursor moves on`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    try bob.say("hi", to: "carol")
    #expect(try alice.received(Set(MessagingEvent.Kind.allCases), in: ["bob"]).isEmpty)
    let follower = try Follower(alice, EventQuery([.direct("bob")], from: .start))
    _ = try follower.untilCaughtUp()
    // The cursor is after the changes that concern only other users.
    #expect(try EventQuery.Start.cursor(follower.cursor) == alice.here())
    try bob.say("hi", to: "alice")
    #expect(try follower.until("1 bob: hi") == ["1 bob: hi"])
  }

  @Test(arguments: [("+nosuch", DMError.Code.unknownConversation), ("nobody", .unknownUser)])
  func `naming an unknown group or user is an error at once`(_ name: String, _ expected: DMError.Code) throws {
    let store = try TemporaryStore()
    let query = try EventQuery([ConversationReference(name)])
    #expect(try code { try Follower(try store.messenger("alice"), query) } == expected)
  }

  @Test func `an import is one change event of its conversation`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    try alice.say("now", to: "bob")
    let position = try alice.here()
    let results = try alice.importHistory(
      (1...3).map { second in
        .message(
          try ImportedMessage(
            group: .title("old"), sender: Handle(second == 3 ? "alice" : "carol"), text: "\(second)",
            createdAt: Timestamp(microseconds: Int64(second))))
      })
    #expect(results.count == 3)
    #expect(try alice.received([.message, .messageStatus, .conversationUpdated], from: position) == ["old changed"])
    let later = try alice.here()
    _ = try alice.importHistory([
      .message(
        try ImportedMessage(
          group: .title("old"), sender: Handle("carol"), text: "4", createdAt: Timestamp(microseconds: 4)))
    ])
    #expect(try alice.received([.message, .messageStatus, .conversationUpdated], from: later) == ["old changed"])
  }
}
