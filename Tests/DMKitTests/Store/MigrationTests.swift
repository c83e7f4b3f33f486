import FoundationEssentials
import Testing

@testable import DMKit
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

struct MigrationTests {
  private func newStore(_ sql: String = "") throws -> TemporaryStore {
    let store = try TemporaryStore(users: [])
    try store.location.create()
    if !sql.isEmpty { try store.execute(sql) }
    return store
  }

  @Test func `a released migration step equals its fixture, so that it is never edited`() throws {
    #expect(Migration.steps.count == 18)
    #expect(Migration.version == Migration.steps.count)
    #expect(try Migration.steps[0] == fixture("m0001-initial.sql"))
    #expect(try Migration.steps[1] == fixture("m0002-live.sql"))
    #expect(try Migration.steps[2] == fixture("m0003-everyday.sql"))
    #expect(try Migration.steps[3] == fixture("m0004-attachments.sql"))
    #expect(try Migration.steps[4] == fixture("m0005-bounds.sql"))
    #expect(try Migration.steps[5] == fixture("m0006-former.sql"))
    #expect(try Migration.steps[6] == fixture("m0007-names.sql"))
    #expect(try Migration.steps[7] == fixture("m0008-waiting.sql"))
    #expect(try Migration.steps[8] == fixture("m0009-receipts.sql"))
    #expect(try Migration.steps[9] == fixture("m0010-unseen.sql"))
    #expect(try Migration.steps[10] == fixture("m0011-files.sql"))
    #expect(try Migration.steps[11] == fixture("m0012-own-state.sql"))
    #expect(try Migration.steps[12] == fixture("m0013-machine.sql"))
    #expect(try Migration.steps[13] == fixture("m0014-floor.sql"))
    #expect(try Migration.steps[14] == fixture("m0015-picture.sql"))
    #expect(try Migration.steps[15] == fixture("m0016-link-preview.sql"))
    #expect(try Migration.steps[16] == fixture("m0017-message-pin.sql"))
    #expect(try Migration.steps[17] == fixture("m0018-search-end.sql"))
  }

  @Test func `a new store has the schema that the migrations lead to`() throws {
    func parts(after steps: [[UInt8]]) throws -> [String] {
      let connection = try Connection(path: ":memory:")
      for step in steps { try connection.execute(String(decoding: step, as: UTF8.self)) }
      var rows = try connection.prepare(
        "SELECT type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY type, name"
      )
      var found: [String] = []
      while try rows.step() { found.append(rows.text(0)) }
      return found
    }
    #expect(try parts(after: [Migration.schema]) == parts(after: Migration.steps))
  }

  @Test func `a new store has dm's application id, the current schema version and WAL mode`() throws {
    let store = try TemporaryStore()
    #expect(try store.integers("PRAGMA application_id") == [[Migration.applicationID]])
    #expect(try store.integers("PRAGMA user_version") == [[Int64(Migration.version)]])
    #expect(try store.texts("PRAGMA journal_mode") == ["wal"])
    #expect(try store.texts("PRAGMA integrity_check") == ["ok"])
    #expect(try store.integers("SELECT count(*) FROM store") == [[1]])
  }

  @Test func `a store that is opened again keeps its id`() throws {
    let store = try TemporaryStore()
    let before = try store.texts("SELECT hex(uuid) FROM store")
    try store.messenger("bob").say("hi", to: "alice")
    #expect(try store.texts("SELECT hex(uuid) FROM store") == before)
  }

  @Test func `only the owner can access the files of a store`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    try alice.say("hi", to: "bob")
    for name in ["", "/dm.sqlite", "/dm.sqlite-wal", "/dm.sqlite-shm", "/store.lock"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: store.location.directory + name)
      let mode = try #require(attributes[.posixPermissions] as? Int)
      #expect(mode == (name.isEmpty ? 0o700 : 0o600), "\(name)")
    }
  }

  @Test func `a store of a newer version is neither read nor written`() throws {
    let store = try TemporaryStore()
    try store.execute("PRAGMA user_version = \(Migration.steps.count + 1)")
    #expect(try code { try store.messenger("alice").conversations() } == .storeTooNew)
    #expect(try code { try store.messenger("alice").say("hi", to: "bob") } == .storeTooNew)
  }

  @Test func `a store that gets a newer version while it is open is not written to`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    try alice.say("hi", to: "bob")
    try store.execute("PRAGMA user_version = \(Migration.steps.count + 1)")
    #expect(try code { try alice.say("again", to: "bob") } == .storeTooNew)
    #expect(try store.integers("SELECT count(*) FROM message") == [[1]])
  }

  @Test func `another program's database is refused as foreign, with or without an application id`() throws {
    for sql in ["PRAGMA application_id = 1234", "CREATE TABLE t (a)", "PRAGMA user_version = 1"] {
      let store = try newStore(sql)
      #expect(try code { try store.messenger("alice").conversations() } == .storeForeign, "\(sql)")
      #expect(try code { try store.messenger("alice").say("hi", to: "alice") } == .storeForeign, "\(sql)")
    }
  }

  @Test func `an empty database file counts as no store until a write creates the store`() throws {
    let store = try newStore()
    #expect(try code { try store.messenger("alice").conversations() } == .noStore)
    try store.messenger("alice").say("hi", to: "alice")
    #expect(try store.messenger("alice").conversations().count == 1)
  }

  @Test func `a text file is refused and stays unchanged`() throws {
    let store = try TemporaryStore(users: [])
    try store.createFolder()
    let text = Data(String(repeating: "this is no database\n", count: 100).utf8)
    let url = URL(filePath: store.location.directory + "/dm.sqlite")
    try text.write(to: url)
    #expect(try code { try store.messenger("alice").conversations() } == .storeForeign)
    #expect(try code { try store.messenger("alice").say("hi", to: "alice") } == .storeForeign)
    #expect(try Data(contentsOf: url) == text)
  }

  @Test func `a file at the path of the store's folder is refused as a foreign store`() throws {
    let store = try TemporaryStore(users: [])
    try Data("x".utf8).write(to: URL(filePath: store.location.directory))
    #expect(try code { try store.messenger("alice").conversations() } == .storeForeign)
    #expect(try code { try store.messenger("alice").say("hi", to: "alice") } == .storeForeign)
  }

  @Test func `a store of version 1 can be read and written`() throws {
    let store = try newStore(String(decoding: fixture("v1.sql"), as: UTF8.self))
    let bob = try store.messenger("bob")
    let list = try bob.conversations()
    #expect(list.map(\.title) == ["ops", nil])
    #expect(list.map(\.unreadCount) == [1, 1])
    let messages = try bob.everything(in: "alice")
    #expect(messages.map(\.text) == ["lunch?", "gladly", "at one"])
    #expect(messages.map(\.seq) == [1, 2, 3])
    #expect(messages.map(\.status) == [.read, .delivered, .sent])
    #expect(messages.map(\.nonce) == [nil, "n1", nil])
    #expect(messages[1].replyTo?.id == messages[0].id)
    #expect(try bob.receipts(for: MessageReference("alice:1")).map(\.user.description) == ["bob"])
    #expect(try bob.say("see you", to: "alice").seq == 4)
    #expect(try store.integers("PRAGMA user_version") == [[Int64(Migration.version)]])
  }

  @Test func `the first process that opens a store of version 1 migrates it, even to read`() throws {
    for isReader in [true, false] {
      let store = try newStore(String(decoding: fixture("v1.sql"), as: UTF8.self))
      let bob = try store.messenger("bob")
      if isReader { #expect(try bob.conversations().count == 2) } else { try bob.say("hi", to: "alice") }
      #expect(try store.integers("PRAGMA user_version") == [[Int64(Migration.version)]])
      #expect(try store.texts("PRAGMA integrity_check") == ["ok"])
      #expect(try store.schema() == TemporaryStore().schema())
    }
  }

  @Test
  func `a user who left before version 9 sees the receipts that existed at the migration`()
    throws
  {
    let store = try TemporaryStore(users: ["alice", "bob", "carol"])
    let alice = try store.messenger("alice")
    _ = try alice.createGroup(titled: "club", with: ["bob", "carol"])
    for text in ["one", "two"] { try alice.say(text, to: "+club") }
    _ = try store.messenger("carol").leave(.title("club"))
    _ = try store.messenger("bob").markRead(.upTo(MessageReference("+club:2")), in: .title("club"))
    try store.index()
    try store.execute(
      """
      ALTER TABLE receipt DROP COLUMN rev; ALTER TABLE former DROP COLUMN left_rev;
      ALTER TABLE former DROP COLUMN delivered; ALTER TABLE hidden_range DROP COLUMN is_unseen; DROP TABLE picture; DROP TABLE link_preview;
      ALTER TABLE message DROP COLUMN link_preview_count; DROP TABLE message_pin;
      DROP TABLE search_end; DROP INDEX participant_unread; ALTER TABLE participant DROP COLUMN is_unread;
      PRAGMA user_version = 8
      """)
    _ = try store.messenger("bob").markRead(.all, in: .title("club"))
    let carol = try store.messenger("carol")
    #expect(try carol.message("+club:2").status == .read && carol.message("+club:3").status != .read)
    #expect(try store.schema() == TemporaryStore().schema())
    #expect(try store.findings() == [])
  }

  @Test func `the migration to version 10 marks as unseen the messages from before a user joined`() throws {
    let store = try TemporaryStore.club()
    _ = try store.messenger("bob").edit([Edit(MessageReference("+club:4"), .delete(forEveryone: false))])[0].get()
    let hidden = try store.integers("SELECT is_deleted, is_unseen FROM hidden_range ORDER BY user", columns: 2)
    #expect(hidden == [[1, 0], [0, 1]])
    try store.index()
    try store.execute(
      """
      ALTER TABLE hidden_range DROP COLUMN is_unseen; DROP TABLE picture; DROP TABLE link_preview;
      ALTER TABLE message DROP COLUMN link_preview_count; DROP TABLE message_pin;
      DROP TABLE search_end; DROP INDEX participant_unread; ALTER TABLE participant DROP COLUMN is_unread; PRAGMA user_version = 9
      """)
    try store.messenger("alice").say("three", to: "+club")
    #expect(try store.integers("SELECT is_deleted, is_unseen FROM hidden_range ORDER BY user", columns: 2) == hidden)
    #expect(try store.schema() == TemporaryStore().schema())
    #expect(try store.findings() == [])
  }

  @Test func `a stream delivers the change log of a store of version 1`() throws {
    let store = try newStore(String(decoding: fixture("v1.sql"), as: UTF8.self))
    let bob = try store.messenger("bob")
    #expect(
      try bob.received(Set(MessagingEvent.Kind.allCases)) == [
        "alice+bob changed", "1 alice: lunch?", "bob read 1-1", "2 bob: gladly", "alice got 1-2",
        "3 alice: at one", "ops changed", "1 carol: deployed",
      ])
    try bob.read(3...3, of: "alice")
    #expect(try bob.received([.messageStatus]) == ["bob read 3 of alice"])
    #expect(try bob.consumers().isEmpty)
  }

  @Test func `a store of version 2 can be read, and its consumers continue`() throws {
    let store = try newStore(String(decoding: fixture("v2.sql"), as: UTF8.self))
    let bob = try store.messenger("bob")
    #expect(try bob.everything(in: "alice").map(\.text) == ["lunch?", "gladly", "at one"])
    #expect(try bob.everything(in: "alice").map(\.status) == [.read, .delivered, .sent])
    #expect(try store.schema() == TemporaryStore().schema())
    let consumer = try #require(try bob.consumers().first)
    #expect((consumer.name, consumer.skippedCount, consumer.behindCount) == ("bot", 1, 1))
    var query = EventQuery([.direct("alice")])
    (query.consumer, query.follows, query.kinds) = ("bot", false, [.message])
    let events = try Follower(bob, query).rest()
    #expect(events.map(\.summary) == ["3 alice: at one", "caught up"])
    _ = try bob.acknowledge(try #require(events.last?.cursor), for: "bot")
    #expect(try bob.everything(in: "alice").map(\.status) == [.read, .delivered, .delivered])
  }

  @Test func `migrating a store of version 2 adds owners, digests and the search index`() throws {
    let store = try newStore(String(decoding: fixture("v2.sql"), as: UTF8.self))
    #expect(try store.messenger("bob").conversations().count == 2)
    #expect(try store.integers("SELECT conversation, user FROM participant WHERE is_owner", columns: 2) == [[2, 3]])
    #expect(try store.integers("SELECT rowid FROM search WHERE search MATCH 'lunch'") == [[1]])
    #expect(try store.integers("SELECT count(*) FROM search WHERE search MATCH 'gladly OR at OR deployed'") == [[3]])
    let opened = try #require(try Store.open(store.location))
    var rows = try Store.DigestedRows.message.rows(.all, of: opened.connection)
    var count = 0
    while try rows.step() {
      let matchesDigest = Store.DigestedRows.message.matchesDigest(rows)
      #expect(matchesDigest)
      count += 1
    }
    #expect(count == 4)
  }

  @Test func `former members of an older store keep the state they see at the migration`() throws {
    let sql = Migration.steps.prefix(4).map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    let store = try newStore(
      sql + """
        INSERT INTO store VALUES (zeroblob(16));
        INSERT INTO user (id, handle, created_at) VALUES (1, 'alice', 1), (2, 'bob', 1), (3, 'dave', 1);
        INSERT INTO conversation (id, uuid, title, creator, created_at, last_activity, avatar_url, expire_after)
          VALUES (1, randomblob(16), 'club', 1, 1, 1, 'https://example.org/a', 60000000);
        INSERT INTO participant (conversation, user, joined_at, last_activity, is_owner, left_seq)
          VALUES (1, 1, 1, 1, 1, NULL), (1, 2, 1, 1, 0, NULL), (1, 3, 1, 1, 0, 0);
        PRAGMA application_id = \(Migration.applicationID); PRAGMA user_version = 4;
        """)
    let alice = try store.messenger("alice")
    _ = try alice.setTitle("fire dave", of: .title("club"))
    _ = try alice.remove(["bob"], from: .title("fire dave"))
    let seen = try store.messenger("dave").conversation(.title("club"))
    #expect(seen.title == "club" && seen.avatarURL == "https://example.org/a" && seen.expireAfter == .seconds(60))
    #expect(seen.participants.map(\.description) == ["alice", "bob"])
  }

  @Test func `in a store of version 2, a group without a creator is owned by its first participant`() throws {
    let store = try newStore(String(decoding: fixture("v2.sql"), as: UTF8.self))
    try store.execute("UPDATE conversation SET creator = NULL WHERE id = 2")
    #expect(try store.messenger("bob").conversations().count == 2)
    #expect(try store.integers("SELECT user FROM participant WHERE is_owner") == [[1]])
  }
}

extension TemporaryStore {
  /// The statements of the schema, sorted by name, because migrations may create them in another order.
  fileprivate func schema() throws -> [String] {
    try texts("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
  }
}
