import Testing

@testable import DMKit
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

struct FormerTests {
  /// A group from which Dave was removed, and whose title, picture, members and expiry have changed since then.
  private func changedGroup() throws -> TemporaryStore {
    let store = try TemporaryStore(users: ["alice", "bob", "carol", "dave"])
    let alice = try store.messenger("alice")
    _ = try alice.createGroup(titled: "club", with: ["bob", "dave"])
    _ = try alice.setAvatar("https://example.org/old", of: .title("club"))
    _ = try alice.remove(["dave"], from: .title("club"))
    _ = try alice.setTitle("fire dave", of: .title("club"))
    _ = try alice.setAvatar("https://example.org/new", of: .title("fire dave"))
    _ = try alice.setExpiry(.seconds(60), of: .title("fire dave"))
    _ = try alice.add(["carol"], to: .title("fire dave"))
    return store
  }

  private func checkOld(_ seen: Conversation?) {
    #expect(seen?.title == "club" && seen?.avatarURL == "https://example.org/old" && seen?.expireAfter == nil)
    #expect(seen?.participants.map(\.description) == ["alice", "bob"])
  }

  @Test func `a former member sees title, picture, members and expiry as they were when the member left`() throws {
    let store = try changedGroup()
    let dave = try store.messenger("dave")
    checkOld(try dave.conversations().first)
    checkOld(try dave.conversation(.title("club")))
    let id = try dave.conversation(.title("club")).id
    checkOld(try dave.conversation(.id(id)))
    #expect(try code { try dave.conversation(.title("fire dave")) } == .unknownConversation)
    // The event for a former member's own change shows the group as it was when they left.
    _ = try dave.change(.pinned(true), in: [.title("club")])
    var query = EventQuery([])
    (query.follows, query.kinds) = (false, [.conversationUpdated])
    for case .conversationUpdated(let seen, _) in try Follower(dave, query).rest() { checkOld(seen) }
    #expect(try store.findings() == [])
  }

  @Test func `a former member's list search matches the old title and members only`() throws {
    let store = try changedGroup()
    let dave = try store.messenger("dave")
    func found(_ text: String) throws -> Int {
      var query = ListQuery()
      query.matching = text
      return try dave.conversations(query).count
    }
    #expect(try found("club") == 1 && found("bob") == 1)
    #expect(try found("fire") == 0 && found("carol") == 0)
  }

  @Test func `a suggestion for a former member uses the old title, not the new one`() throws {
    let store = try changedGroup()
    let dave = try store.messenger("dave")
    #expect(try fault { try dave.conversation(.title("fire davo")) }?.message.contains("fire dave") == false)
    let meant = try fault { try dave.conversation(.title("clup")) }?.message
    #expect(meant?.contains("'+club'") == true, "\(meant ?? "")")
  }

  @Test func `a user who is added again sees the current state, and their stored old state is deleted`() throws {
    let store = try changedGroup()
    _ = try store.messenger("alice").add(["dave"], to: .title("fire dave"))
    let dave = try store.messenger("dave")
    let seen = try dave.conversation(.title("fire dave"))
    #expect(seen.participants.count == 4 && seen.expireAfter == .seconds(60))
    #expect(try code { try dave.conversation(.title("club")) } == .unknownConversation)
    #expect(try store.integers("SELECT count(*) FROM former") == [[0]])
  }

  @Test func `a title of both a current group and a group that the user left refers to the current group`() throws {
    let store = try changedGroup()
    let dave = try store.messenger("dave")
    let own = try dave.createGroup(titled: "club", with: [])
    #expect(try dave.conversation(.title("club")).id == own.id)
  }

  /// A group of four users.
  ///
  /// When Dave left, Bob had read the first message of Alice, and Carol had received both; after that, all have read everything.
  private func readGroup() throws -> TemporaryStore {
    let store = try TemporaryStore(users: ["alice", "bob", "carol", "dave"])
    let alice = try store.messenger("alice")
    _ = try alice.createGroup(titled: "club", with: ["bob", "carol", "dave"])
    for text in ["one", "two"] { try alice.say(text, to: "+club") }
    _ = try store.messenger("bob").markRead(.upTo(MessageReference("+club:2")), in: .title("club"))
    var delivered = Messenger.MarkOptions()
    delivered.act = .delivered
    _ = try store.messenger("carol").markRead(.all, in: .title("club"), delivered)
    _ = try store.messenger("dave").leave(.title("club"))
    for name in ["bob", "carol", "dave"] { _ = try store.messenger(name).markRead(.all, in: .title("club")) }
    _ = try store.messenger("bob").markRead(.all, in: .title("club"), delivered)
    return store
  }

  /// Checks the receipts of the two messages that Dave sees.
  private func checkReceipts(_ store: TemporaryStore, _ numbers: [Int], _ expected: [String]) throws {
    let dave = try store.messenger("dave")
    #expect(try numbers.map { try dave.message("+club:\($0)").readByCount } == [2, 1])
    let received = try numbers.map { number in
      try dave.receipts(for: [.message(MessageReference("+club:\(number)"))]).map { "\($0.user) \($0.kind)" }
    }
    #expect(received.map { $0.joined(separator: ", ") } == expected)
  }

  @Test func `a former member sees their own receipt, and the receipts of others from before they left`()
    throws
  {
    let store = try readGroup()
    try checkReceipts(store, [2, 3], ["bob read, carol delivery, dave read", "carol delivery, dave read"])
    #expect(try store.messenger("bob").message("+club:3").readByCount == 3)
    _ = try store.messenger("alice").add(["dave"], to: .title("club"))
    #expect(
      try store.messenger("dave").message("+club:3").readByCount == 3, "a user who is a member again sees all receipts")
    #expect(try store.findings() == [])
  }

  @Test func `deleting a conversation does not mark messages from before the user joined as delivered`() throws {
    let store = try TemporaryStore.club()
    let alice = try store.messenger("alice")
    let carol = try store.messenger("carol")
    var delivered = Messenger.MarkOptions()
    delivered.act = .delivered
    _ = try carol.markRead(.all, in: .title("club"), delivered)
    func received(_ number: Int) throws -> [String] {
      try alice.receipts(for: [.message(MessageReference("+club:\(number)"))]).map(\.user.description)
    }
    #expect(try received(2) == [] && received(4) == ["carol"])
    _ = try carol.change(.deleted, in: [.title("club")])
    #expect(try received(2) == [] && received(4) == ["carol"])
    // The conversation stays deleted for Carol when she is added again with the history.
    _ = try alice.remove(["carol"], from: .title("club"))
    _ = try alice.add(["carol"], to: .title("club"), withHistory: true)
    #expect(try carol.everything(in: "+club").filter { $0.systemKind == nil }.isEmpty)
    // When Carol marks the next message as delivered, the history counts as delivered, too, although Carol deleted it.
    try alice.say("three", to: "+club")
    _ = try carol.markRead(.all, in: .title("club"), delivered)
    #expect(try received(2) == ["carol"])
    #expect(try store.findings() == [])
  }

  @Test func `a former member sees the status that an unread message had when they left`() throws {
    let store = try readGroup()
    try store.execute("DELETE FROM receipt WHERE user = 4; UPDATE read_mark SET reader = NULL")
    let dave = try store.messenger("dave")
    #expect(try dave.message("+club:2").status == .read && dave.message("+club:3").status == .delivered)
    // Carol's receipt was the only one that made the message delivered, and it does not count after Alice blocks Carol.
    _ = try store.messenger("alice").setBlocked(true, ["carol"])
    #expect(try dave.message("+club:3").status == .sent)
    #expect(try store.messenger("bob").message("+club:3").status == .read)
  }

  @Test func `a former member's stream has only receipts from before they left`() throws {
    let store = try readGroup()
    var query = EventQuery([], from: .start)
    (query.follows, query.kinds, query.othersOnly) = (false, [.readReceipt, .messageStatus], true)
    var received: [String] = []
    for event in try Follower(store.messenger("dave"), query).rest() {
      switch event {
      case .readReceipt(let receipt, _): received.append("\(receipt.user) \(receipt.ranges)")
      case .messageStatus(let status, _): received.append("\(status.user) \(status.status) \(status.ranges)")
      default: break
      }
    }
    #expect(
      received == [
        "bob [ClosedRange(2...2)]", "bob read [ClosedRange(2...2)]", "carol delivered [ClosedRange(1...1)]",
        "carol delivered [ClosedRange(3...3)]",
      ])
  }

  @Test(arguments: [
    "DELETE FROM former", "INSERT INTO former SELECT 1, conversation, 'x', NULL, NULL, '', 0, '{}' FROM former",
  ])
  func `a check finds missing and extra rows for former members, and a repair corrects them`(sql: String) throws {
    let store = try changedGroup()
    try store.execute(sql)
    #expect(try Set(store.findings().map(\.check)) == [.counts, .digests])
    _ = try store.upkeep.repair()
    // The repair leaves the digests invalid, because the rows were changed outside our programs.
    #expect(try store.findings().map(\.check) == [.digests])
    #expect(try store.integers("SELECT user FROM former") == [[4]])
  }

  @Test(arguments: ["{", "[[]]", #"{"2": -5, "x": "y", "3": 1e300}"#])
  func `invalid stored receipts of former members are found by a check and crash nothing`(json: String) throws {
    let store = try readGroup()
    try store.execute("UPDATE former SET delivered = '\(json)'")
    #expect(try store.findings().map(\.check).contains(json == "{" ? .values : .digests))
    let dave = try store.messenger("dave")
    _ = try code { try dave.message("+club:3") }
    _ = try code { try dave.receipts(for: [.message(MessageReference("+club:3"))]) }
  }
}
