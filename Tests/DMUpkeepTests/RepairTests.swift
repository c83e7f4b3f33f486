import FoundationEssentials
import Testing

@testable import DMKit
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

struct RepairTests {
  @Test func `a repair corrects nothing in a sound store`() throws {
    let store = try TemporaryStore.filled()
    let repaired = try store.upkeep.repair()
    #expect(repaired.indexedCount == 41)
    #expect([repaired.conversationsCount, repaired.participantsCount, repaired.messagesCount] == [0, 0, 0])
    #expect(try store.findings() == [])
  }

  @Test(arguments: [
    "INSERT INTO search (search) VALUES ('delete-all')",
    "INSERT INTO search (rowid, text) VALUES (9999, 'nobody said this')",
    "UPDATE conversation SET last_seq = last_seq + 1, last_message = NULL, last_activity = 3",
    "UPDATE participant SET read_count = 7, blocked_count = 7, mention_count = 7, last_activity = 7",
    "UPDATE message SET reaction_count = 3 WHERE id < 9",
    "UPDATE participant SET is_blocked = 1 WHERE user = 2", "UPDATE participant SET is_unread = 1 - is_unread",
    "UPDATE search_end SET message = 9", "DELETE FROM search_end",
    "DELETE FROM read_range",
    "UPDATE read_range SET to_seq = 900 WHERE from_seq = (SELECT max(from_seq) FROM read_range r WHERE r.user = 2)",
    "UPDATE read_range SET to_seq = to_seq + 3",
  ])
  func `a repair corrects the counts and the search index`(sql: String) throws {
    let store = try TemporaryStore.filled()
    try store.execute(sql)
    #expect(try !store.findings().isEmpty)
    _ = try store.upkeep.repair()
    #expect(try store.findings() == [])
  }

  @Test(arguments: [
    "INSERT INTO reaction VALUES (2, 1, '+', 1)", "INSERT INTO block VALUES (1, 2, 1)",
    "INSERT INTO hidden_range VALUES (1, 3, 12, 14, 1, 0)",
  ])
  func `a repair includes rows that other programs wrote in the counts, and leaves their digests invalid`(sql: String)
    throws
  {
    let store = try TemporaryStore.filled()
    try store.execute(sql)
    #expect(try store.findings().contains { [.counts, .ranges].contains($0.check) })
    _ = try store.upkeep.repair()
    #expect(try store.findings().map(\.check) == [.digests])
  }

  @Test func `a repair corrects the read ranges of announcements, and later messages stay unread`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    _ = try alice.createGroup(titled: "team", with: ["bob"])
    for title in ["t1", "t2", "t3"] { _ = try bob.setTitle(title, of: .id(bob.conversations()[0].id)) }
    // An earlier version left a store in this state after an import of only announcements.
    try store.execute("UPDATE read_range SET to_seq = 1")
    _ = try bob.say("hello", to: "+t3")
    #expect(try store.findings().contains { $0.check == .ranges })
    _ = try store.upkeep.repair()
    #expect(try store.findings() == [])
    #expect(try alice.conversation(.title("t3")).unreadCount == 1)
    #expect(try alice.conversation(.title("t3")).firstUnreadSeq == 5)
  }

  @Test func `a repair leaves the digest of a changed text invalid`() throws {
    let store = try TemporaryStore.filled()
    try store.execute("UPDATE message SET text = 'another' WHERE id = 3")
    _ = try store.upkeep.repair()
    #expect(try store.findings().map(\.check) == [.digests])
  }

  @Test func `statistics count rows and list consumers and maintenance runs`() throws {
    let store = try TemporaryStore.filled()
    let bob = try store.messenger("bob")
    _ = try store.upkeep.repair()
    var query = EventQuery([], from: .start)
    query.consumer = "echo"
    query.follows = false
    _ = try Follower(bob, query).rest()
    let statistics = try store.upkeep.statistics()
    #expect(statistics.rows.first { $0.table == "message" }?.count == 42)
    #expect(statistics.upkeep.map(\.tool) == ["repair"])
    #expect(statistics.consumers.map(\.name) == ["echo"])
    #expect(statistics.consumers.first?.behindCount == 21)
    #expect(statistics.databaseBytes > 0)
    #expect(statistics.sqliteVersion.hasPrefix("3."))
  }
}
