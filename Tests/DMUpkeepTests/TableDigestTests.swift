import Testing

@testable import DMKit
@testable import DMModel
@testable import DMStore
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

/// Changed rows that only a digest reveals, because no count and no range depends on them.
struct TableDigestTests {
  /// A store with rows in all tables that have a table digest.
  private static func filled() throws -> TemporaryStore {
    let store = try TemporaryStore.filled()
    let (alice, bob, carol) = (
      try store.messenger("alice"), try store.messenger("bob"), try store.messenger("carol")
    )
    _ = try alice.addUser(Handle("dave"), ProfileChange(displayName: "Dave"))
    _ = try alice.setBlocked(true, ["dave"])
    _ = try bob.setProfile(ProfileChange(), picture: Picture.pixel(1))
    for (message, act) in [
      ("alice:1", Edit.Act.react("👍")), ("alice:1", .pin(true)), ("alice:3", .report(reason: nil)),
      ("alice:5", .delete(forEveryone: false)),
    ] {
      _ = try bob.edit([Edit(MessageReference(message), act)])[0].get()
    }
    let preview = try LinkPreview(url: "https://a.test/", title: "A")
    _ = try bob.send(Outgoing(to: ConversationReference("alice"), text: "https://a.test/", linkPreview: preview))
    _ = try alice.saveDraft("unsaid", in: ConversationReference("bob"))
    _ = try carol.leave(ConversationReference("+ops"))
    var query = EventQuery(from: .start)
    query.consumer = "bot"
    query.follows = false
    _ = try Follower(bob, query).rest()
    try #require(try store.findings() == [])
    return store
  }

  static let changes = [
    "UPDATE conversation SET title = 'oqs' WHERE title = 'ops'",
    "UPDATE conversation SET creator = 2 WHERE title = 'ops'",
    "UPDATE conversation SET avatar_url = 'https://example.org'",
    "UPDATE conversation SET expire_after = 1 WHERE title = 'ops'",
    "UPDATE conversation SET created_at = created_at + 1",
    "UPDATE participant SET is_owner = 1 WHERE user = 2",
    "UPDATE participant SET left_seq = left_seq - 1 WHERE left_seq IS NOT NULL",
    "UPDATE participant SET joined_at = joined_at + 1",
    "UPDATE participant SET muted_until = 1 WHERE user = 2",
    "UPDATE participant SET draft_text = 'unsaic' WHERE draft_text IS NOT NULL",
    "UPDATE participant SET is_pinned = 1 WHERE user = 2",
    "DELETE FROM block",
    "UPDATE block SET at = at + 1",
    "UPDATE picture SET bytes = x'00'",
    "UPDATE link_preview SET title = 'B'",
    "UPDATE link_preview SET place = 1",
    "UPDATE message_pin SET user = 3",
    "DELETE FROM message_pin",
    "UPDATE reaction SET emoji = '👎'",
    "UPDATE reaction SET user = 3",
    "UPDATE receipt SET at = at + 1",
    "UPDATE hidden_range SET is_deleted = 0",
    "UPDATE hidden_range SET is_unseen = 1",
    "UPDATE user SET handle = 'bab' WHERE handle = 'bob'",
    "UPDATE user SET display_name = 'Dace' WHERE display_name = 'Dave'",
    "UPDATE user SET created_at = created_at + 1",
    "UPDATE report SET text = 'another'",
    "DELETE FROM report",
    "UPDATE change SET user = 1 WHERE user = 2",
    "UPDATE change SET to_seq = to_seq + 1 WHERE kind = 2",
    "DELETE FROM change WHERE rev = 4",
    "DELETE FROM change WHERE rev = (SELECT max(rev) FROM change)",
    "UPDATE consumer SET rev = rev - 1",
    "UPDATE consumer SET name = 'bat'",
    "DELETE FROM table_digest WHERE name = 'block'",
  ]

  @Test(arguments: changes)
  func `a row that was changed outside our programs is found by its digest`(sql: String) throws {
    let store = try Self.filled()
    try store.damage(sql)
    let findings = try store.findings()
    #expect(findings.contains { $0.check == .digests }, "\(sql): \(findings)")
    #expect(try code { try store.upkeep.backUp(to: store.elsewhere("backup")) } == .storeDamaged, "\(sql)")
  }

  @Test func `the column lists of the digested tables agree with the schema`() throws {
    let store = try TemporaryStore()
    for table in DigestedTable.all {
      let columns = try store.texts("SELECT name FROM pragma_table_xinfo('\(table.name)') ORDER BY cid")
      #expect(columns.prefix(Int(table.digestedCount)).joined(separator: ", ") == table.columns)
      let derived = ["conversation": 3, "participant": 7][table.name] ?? 0
      #expect(columns.count == Int(table.digestedCount) + derived, "\(table.name)")
    }
  }

  @Test func `every table has row digests or a table digest, or is derived from other tables`() throws {
    let store = try TemporaryStore()
    let tables = Set(
      try store.texts("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
        .filter { !$0.hasPrefix("sqlite_") })
    let digested = Set(DigestedTable.all.map(\.name) + Store.DigestedRows.all.map(\.name))
    let derived: Set = ["mention", "read_mark", "read_range", "search_end", "table_digest", "upkeep"]
    #expect(tables.subtracting(digested) == derived)
  }
}

/// Values that the schema refuses, and the behavior of programs if damage has put such values into a store.
struct BoundsTests {
  static let refused = [
    "UPDATE participant SET read_count = -1", "UPDATE participant SET blocked_count = -1",
    "UPDATE participant SET mention_count = -1", "UPDATE participant SET delivered_seq = -1",
    "UPDATE participant SET left_seq = 9223372036854775807", "UPDATE conversation SET last_seq = 9223372036854775807",
    "UPDATE conversation SET last_seq = -1", "UPDATE read_range SET from_seq = 9, to_seq = 3",
    "UPDATE read_range SET from_seq = 0", "UPDATE read_range SET to_seq = 9223372036854775807",
    "UPDATE receipt SET from_seq = 9, to_seq = 3", "UPDATE read_mark SET from_seq = to_seq + 1",
    "INSERT INTO hidden_range VALUES (1, 1, 3, 2, 1, 0)", "UPDATE change SET from_seq = 9, to_seq = 3",
    "UPDATE change SET to_seq = NULL WHERE to_seq IS NOT NULL", "UPDATE change SET kind = 99",
    "UPDATE message SET deleted_at = 1", "UPDATE message SET system_kind = 99",
    "UPDATE message SET reaction_count = -1",
    "INSERT INTO store VALUES (2, zeroblob(16))",
  ]

  @Test(arguments: refused)
  func `the schema refuses values that our programs never write`(sql: String) throws {
    let store = try TemporaryStore.filled()
    #expect(throws: DMError.self) { try store.execute(sql) }
  }

  @Test(arguments: refused)
  func `an out-of-range value crashes no program, and a quick check finds it`(sql: String) throws {
    let store = try TemporaryStore.filled()
    try store.damage(sql)
    for user in ["alice", "bob"] {
      for act in [
        { _ = try $0.conversations() }, { _ = try $0.everything(in: "+ops") },
        { _ = try $0.received(EventQuery(from: .start)) },
        { _ = try $0.unreadCount() }, { try $0.read(1...3, of: "+ops") }, { try $0.say("hi", to: "+ops") },
        { _ = try $0.receipts(for: MessageReference("+ops:2")) }, { _ = try $0.leave(ConversationReference("+ops")) },
      ] as [(Messenger) throws -> Void] {
        let found = try fault { try act(store.messenger(user)) }
        let isFit = [nil, .storeDamaged, .unknownMessage, .unknownConversation, .notAllowed].contains(found?.code)
        #expect(isFit, "\(sql): \(found?.message ?? "")")
      }
    }
    #expect(try !store.upkeep.check(deep: false).findings.isEmpty, "\(sql)")
  }
}
