import FoundationEssentials
import Testing

@testable import DMKit

struct RepairTests {
  @Test func `in a sound store there is nothing to correct`() throws {
    let store = try TemporaryStore.furnished()
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
    "INSERT INTO reaction VALUES (2, 1, '+', 1)",
    "INSERT INTO block VALUES (1, 2, 1)",
  ])
  func `counts and the index are made right`(sql: String) throws {
    let store = try TemporaryStore.furnished()
    try store.execute(sql)
    #expect(try !store.findings().isEmpty)
    _ = try store.upkeep.repair()
    #expect(try store.findings() == [])
  }

  @Test func `a repair does not vouch for a text that was changed`() throws {
    let store = try TemporaryStore.furnished()
    try store.execute("UPDATE message SET text = 'another' WHERE id = 3")
    _ = try store.upkeep.repair()
    #expect(try store.findings().map(\.check) == [.digests])
  }

  @Test func `statistics count rows and tell of consumers and uses`() throws {
    let store = try TemporaryStore.furnished()
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
