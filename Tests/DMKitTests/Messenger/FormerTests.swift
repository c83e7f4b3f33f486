import Testing

@testable import DMKit
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

struct FormerTests {
  /// A group that dave had to leave, and that has changed since in all that is seen of it.
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

  @Test func `a former member sees title, picture, members and expiry as of the day they left`() throws {
    let store = try changedGroup()
    let dave = try store.messenger("dave")
    checkOld(try dave.conversations().first)
    checkOld(try dave.conversation(.title("club")))
    let id = try dave.conversation(.title("club")).id
    checkOld(try dave.conversation(.id(id)))
    #expect(try code { try dave.conversation(.title("fire dave")) } == .unknownConversation)
    // Their own changes are told with what they may see.
    _ = try dave.change(.pinned(true), in: [.title("club")])
    var query = EventQuery([])
    (query.follows, query.kinds) = (false, [.conversationUpdated])
    for case .conversationUpdated(let seen, _) in try Follower(dave, query).rest() { checkOld(seen) }
    #expect(try store.findings() == [])
  }

  @Test func `what a former member searches the list for is what they see in it`() throws {
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

  @Test func `a title that a former member does not see is not suggested`() throws {
    let store = try changedGroup()
    let dave = try store.messenger("dave")
    #expect(try fault { try dave.conversation(.title("fire davo")) }?.message.contains("fire dave") == false)
    let meant = try fault { try dave.conversation(.title("clup")) }?.message
    #expect(meant?.contains("'+club'") == true, "\(meant ?? "")")
  }

  @Test func `a user who is added again sees the present, and nothing old is kept`() throws {
    let store = try changedGroup()
    _ = try store.messenger("alice").add(["dave"], to: .title("fire dave"))
    let dave = try store.messenger("dave")
    let seen = try dave.conversation(.title("fire dave"))
    #expect(seen.participants.count == 4 && seen.expireAfter == .seconds(60))
    #expect(try code { try dave.conversation(.title("club")) } == .unknownConversation)
    #expect(try store.integers("SELECT count(*) FROM former") == [[0]])
  }

  @Test func `a group that one is in comes before one that one has left with that title`() throws {
    let store = try changedGroup()
    let dave = try store.messenger("dave")
    let own = try dave.createGroup(titled: "club", with: [])
    #expect(try dave.conversation(.title("club")).id == own.id)
  }

  @Test(arguments: [
    "DELETE FROM former", "INSERT INTO former SELECT 1, conversation, 'x', NULL, NULL, '' FROM former",
  ])
  func `a check finds what is missing for former members or too much, and a repair corrects it`(sql: String) throws {
    let store = try changedGroup()
    try store.execute(sql)
    #expect(try Set(store.findings().map(\.check)) == [.counts, .digests])
    _ = try store.upkeep.repair()
    // It does not vouch for what no program wrote.
    #expect(try store.findings().map(\.check) == [.digests])
    #expect(try store.integers("SELECT user FROM former") == [[4]])
  }
}
