import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// Pinning messages for everybody in a conversation: `dm-edit pin`.
struct PinTests {
  private let group: OpsGroup

  init() throws {
    group = try OpsGroup()
    for text in ["one", "two", "three"] { try group.alice.say(text, to: "+ops") }
  }

  @discardableResult
  private func pin(_ message: String, _ isPinned: Bool = true, by user: Messenger) throws -> MessagePin? {
    guard case .pin(let pin) = try user.act(.pin(isPinned), on: message) else { return nil }
    return pin
  }

  private func pins(_ user: Messenger) throws -> [String?] { try user.pins().map(\.text) }

  @Test func `everybody sees the same pins, the newest first, with who pinned them and when`() throws {
    let pinned = try #require(try pin("+ops:2", by: group.bob))
    try pin("+ops:4", by: group.carol)
    for user in [group.alice, group.bob, group.carol] {
      #expect(try pins(user) == ["three", "one"])
      #expect(try user.message("+ops:2").pin == Message.Pin(user: Handle("bob"), at: pinned.changedAt))
      #expect(try user.message("+ops:3").pin == nil)
    }
    #expect(try group.alice.pins(in: [ConversationReference("+ops")]).count == 2)
    #expect(try group.store.findings() == [])
  }

  @Test func `pinning a pinned message and unpinning another one change nothing`() throws {
    let first = try pin("+ops:2", by: group.bob)
    var again: MessagePin?
    #expect(try group.changes { again = try pin("+ops:2", by: group.carol) } == 0)
    #expect(again == first)
    #expect(try group.alice.message("+ops:2").pin?.user.description == "bob")
    #expect(try group.changes { try pin("+ops:3", false, by: group.carol) } == 0)
  }

  @Test func `each member unpins what another has pinned`() throws {
    try pin("+ops:2", by: group.bob)
    #expect(try pin("+ops:2", false, by: group.carol)?.isPinned == false)
    #expect(try pins(group.bob) == [])
    #expect(try group.store.findings() == [])
  }

  @Test func `a message that was deleted for everyone or has expired is not pinned any more`() throws {
    try pin("+ops:2", by: group.bob)
    try group.alice.delete("+ops:2", forEveryone: true)
    _ = try group.alice.send(Outgoing(to: ConversationReference("+ops"), text: "short", lifetime: .seconds(1)))
    try pin("+ops:5", by: group.bob)
    try group.store.execute("UPDATE message SET expires_at = 1 WHERE seq = 5")
    #expect(try pins(group.bob) == [])
    try group.alice.say("four", to: "+ops")
    #expect(try group.store.integers("SELECT count(*) FROM message_pin") == [[0]])
  }

  @Test func `a user who deletes a pinned message for themselves sees no pin, and others do`() throws {
    try pin("+ops:2", by: group.bob)
    try group.carol.delete("+ops:2", forEveryone: false)
    #expect(try pins(group.carol) == [] && pins(group.bob) == ["one"])
  }

  @Test func `a conversation has at most 50 pins, and the error says what to do`() throws {
    for number in 1...50 {
      try group.alice.say("text \(number)", to: "+ops")
      try pin("+ops:-1", by: group.bob)
    }
    let error = #expect(throws: DMError.self) { try pin("+ops:2", by: group.bob) }
    #expect(error?.code == .notAllowed)
    #expect(error?.message == "'+ops' has 50 pinned messages, and cannot have more; unpin one first")
    try pin("+ops:-1", false, by: group.alice)
    try pin("+ops:2", by: group.bob)
    #expect(try pins(group.alice).count == 50)
  }

  @Test func `announcements cannot be pinned, and a user who has left cannot pin`() throws {
    #expect(try code { try pin("+ops:1", by: group.bob) } == .notAllowed)
    _ = try group.carol.leave(ConversationReference("+ops"))
    #expect(try code { try pin("+ops:2", by: group.carol) } == .notAllowed)
  }

  @Test func `a pin is an event, also for a user who blocks the one who pinned`() throws {
    _ = try group.carol.setBlocked(true, [Handle("bob")])
    let start = try group.carol.here()
    try pin("+ops:2", by: group.bob)
    #expect(try group.carol.received([.messagePin], from: start) == ["bob pinned 2"])
    #expect(try group.carol.message("+ops:2").pin?.user.description == "bob")
    try pin("+ops:2", false, by: group.bob)
    #expect(try group.carol.received([.messagePin], from: start) == ["bob unpinned 2", "bob unpinned 2"])
  }
}
