import DMStore
import FoundationEssentials
import Testing

@testable import DMKit
@testable import DMModel
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

struct CheckTests {
  @Test func `a check finds nothing in a sound store`() throws {
    let store = try TemporaryStore.filled()
    #expect(try store.upkeep.check(deep: false).findings == [])
    #expect(try store.findings() == [])
  }

  @Test func `a check finds nothing in a store without messages`() throws {
    #expect(try TemporaryStore().findings() == [])
  }

  @Test func `a deep check returns the time of the last deep check`() throws {
    let store = try TemporaryStore()
    #expect(try store.upkeep.check(deep: true).lastUsedAt == nil)
    #expect(try store.upkeep.check(deep: true).lastUsedAt != nil)
    #expect(try store.upkeep.check(deep: false).lastUsedAt == nil)
  }

  @Test func `a check of an absent store is an error`() throws {
    let store = try TemporaryStore(users: [])
    #expect(try code { try store.upkeep.check(deep: true) } == .noStore)
  }

  /// SQL that breaks one rule, and the checks that find this.
  static let faults: [(sql: String, checks: Set<Finding.Check>)] = [
    ("UPDATE message SET text = 'another' WHERE id = 3", [.digests, .search]),
    ("UPDATE message SET sender = 2 WHERE id = 2", [.digests, .ranges]),
    ("UPDATE message SET nonce = 'other' WHERE nonce = 'nonce3y'", [.digests]),
    ("UPDATE message SET digest = digest + 1 WHERE id = 4", [.digests]),
    ("UPDATE message SET digest = NULL WHERE id = 4", [.digests]),
    ("UPDATE message SET reaction_count = 1 WHERE id = 2", [.counts]),
    ("INSERT INTO reaction VALUES (2, 1, '+', 1)", [.counts, .digests]),
    (
      "INSERT INTO reaction VALUES (2, 99, '+', 1); UPDATE message SET reaction_count = 1 WHERE id = 2",
      [.foreignKeys, .digests]
    ),
    ("DELETE FROM message WHERE id = 7", [.counts, .search]),
    ("UPDATE message SET deleted_at = 1 WHERE id = 2", [.counts, .digests, .ranges, .integrity]),
    ("UPDATE conversation SET last_seq = last_seq + 1 WHERE id = 1", [.counts]),
    ("UPDATE conversation SET last_message = 1 WHERE id = 1", [.counts]),
    ("UPDATE conversation SET last_activity = 1 WHERE id = 1", [.counts]),
    ("UPDATE participant SET read_count = read_count + 1 WHERE user = 2 AND conversation = 1", [.counts]),
    ("UPDATE participant SET blocked_count = 1 WHERE user = 2 AND conversation = 1", [.counts]),
    ("UPDATE participant SET mention_count = 1 WHERE user = 2 AND conversation = 1", [.counts]),
    ("UPDATE participant SET last_activity = 1 WHERE user = 2 AND conversation = 1", [.counts]),
    ("UPDATE participant SET last_activity = NULL WHERE user = 2 AND conversation = 1", [.counts]),
    ("UPDATE participant SET delivered_seq = 999 WHERE user = 2 AND conversation = 1", [.ranges, .values]),
    ("UPDATE participant SET is_blocked = 1 WHERE user = 2 AND conversation = 1", [.counts]),
    ("UPDATE participant SET is_owner = 0", [.counts, .digests]),
    ("UPDATE user SET handle = 'a b' WHERE id = 3", [.values, .digests]),
    ("UPDATE change SET rev = 1 << 60 WHERE rev = 2", [.values, .digests]),
    ("UPDATE change SET from_seq = 9, to_seq = 3 WHERE kind = 1", [.values, .digests, .integrity]),
    ("CREATE TRIGGER t AFTER INSERT ON message BEGIN DELETE FROM report; END", [.schema]),
    ("DROP INDEX message_created", [.schema]),
    ("INSERT INTO block VALUES (1, 2, 1)", [.counts, .digests]),
    ("INSERT INTO mention VALUES (1, 1, 1)", [.counts]),
    ("DELETE FROM read_range WHERE user = 1", [.counts, .ranges]),
    ("UPDATE read_range SET to_seq = 9999 WHERE user = 2", [.counts, .ranges]),
    ("INSERT INTO hidden_range VALUES (1, 3, 9, 11, 1, 0)", [.ranges, .digests]),
    ("INSERT INTO hidden_range VALUES (2, 2, 5, 6, 0, 0)", [.ranges, .digests]),
    ("INSERT INTO receipt VALUES (1, 2, 10, 12, 1, 0)", [.ranges, .digests]),
    (
      "INSERT INTO receipt SELECT conversation, user, from_seq + 1, to_seq, at, rev FROM receipt LIMIT 1",
      [.ranges, .digests]
    ),
    ("DELETE FROM read_mark", [.ranges]),
    ("UPDATE read_mark SET reader = 1 WHERE reader = 2", [.ranges]),
    ("INSERT INTO search (rowid, text) VALUES (1, 'twice')", [.search]),
    ("INSERT INTO search (rowid, text) VALUES (9999, 'nobody said this')", [.search]),
    ("INSERT INTO search (search) VALUES ('delete-all')", [.search]),
    ("UPDATE search_end SET message = 9", [.search]),
    ("DELETE FROM search_end", [.search]),
    ("UPDATE participant SET is_unread = 1 - is_unread WHERE user = 2 AND conversation = 1", [.counts]),
    ("DELETE FROM store", [.identity, .digests]),
    ("INSERT INTO store VALUES (2, zeroblob(16))", [.identity, .integrity, .digests]),
    ("UPDATE store SET uuid = randomblob(16)", [.digests]),
  ]

  @Test(arguments: faults.indices)
  func `each violation of a rule is found, and no finding contains the text of a message`(index: Int) throws {
    let (sql, checks) = Self.faults[index]
    let store = try TemporaryStore.filled()
    try store.damage(sql)
    let findings = try store.findings()
    #expect(Set(findings.map(\.check)) == checks, "\(sql): \(findings)")
    for finding in findings {
      #expect(
        !finding.message.contains("unique") && finding.subject?.contains("unique") != true,
        "the finding contains the text of a message")
    }
  }

  @Test func `messages that are not in time order are found`() throws {
    let store = try TemporaryStore.filled()
    try store.execute("UPDATE message SET created_at = created_at - 30000000 WHERE id = 5")
    #expect(try store.findings().contains { $0.check == .counts })
  }

  @Test func `files that other users can read are found`() throws {
    let store = try TemporaryStore.filled()
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: store.location.lock)
    #expect(try store.upkeep.check(deep: false).findings.map(\.check) == [.files])
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: store.location.lock)
    try FileManager.default.setAttributes([.posixPermissions: 0o770], ofItemAtPath: store.location.directory)
    #expect(try store.upkeep.check(deep: false).findings.map(\.check) == [.files])
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: store.location.directory)
    #expect(try store.upkeep.check(deep: false).findings == [])
  }

  @Test func `an error from the progress callback ends a check`() throws {
    struct Enough: Error {}
    let store = try TemporaryStore.filled()
    #expect(throws: Enough.self) { try Upkeep(store.location) { _ in throw Enough() }.check(deep: true) }
    #expect(try store.findings() == [])
  }

  @Test func `read marks that are computed in one pass equal those that are computed receipt by receipt`() throws {
    var dice = SplitMix64(seed: 7)
    for _ in 0..<200 {
      var receipts: [UserKey: [SeqRange]] = [:]
      var marks: [ReadMark] = []
      for user in [1, 2, 3, 4] as [UserKey] {
        var next = 1
        for _ in 0..<dice.below(4) {
          let range = (next + dice.below(3))...(next + 3 + dice.below(4))
          receipts[user, default: []].append(range)
          next = range.upperBound + 1
          let near = marks.filter {
            $0.range.upperBound >= range.lowerBound - 1 && $0.range.lowerBound <= range.upperBound + 1
          }
          marks.removeAll { near.contains($0) }
          marks += ReadMark.overlay(near, with: range, by: user)
          marks.sort { $0.range.lowerBound < $1.range.lowerBound }
        }
      }
      #expect(ConversationAudit.overlaid(receipts) == marks, "\(receipts)")
    }
  }
}
