import FoundationEssentials
import Testing

@testable import DMKit
@testable import DMStore
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

/// Stores of earlier schemas, the copies that an upgrade keeps of them, and the way back.
struct UpgradeTests {
  private static let texts: [String?] = ["lunch?", "gladly", "at one"]

  /// A store with the data of `v1.sql`, after the migrations up to a schema.
  private func store(of schema: Int) throws -> TemporaryStore {
    let store = try TemporaryStore(users: [])
    try store.location.create()
    try store.execute(String(decoding: fixture("v1.sql"), as: UTF8.self))
    for step in Migration.steps[1..<schema] { try store.execute(String(decoding: step, as: UTF8.self)) }
    try store.execute("PRAGMA user_version = \(schema)")
    return store
  }

  private func copies(of store: TemporaryStore) throws -> [String] {
    try names(in: store.location.upgrades, mayBeAbsent: true).sorted()
  }

  /// The texts of a direct conversation, and what was said about upgrades meanwhile.
  private func reading(_ store: TemporaryStore) throws -> (texts: [String?], notices: [String]) {
    var notices: [String] = []
    let bob = try store.messenger("bob")
    bob.onUpgrade = { notices.append($0) }
    return (try bob.everything(in: "alice").map(\.text), notices)
  }

  @Test(arguments: 1..<Migration.steps.count)
  func `an upgrade from each schema keeps a copy, and the copy in place of the database is the store of before`(
    schema: Int
  ) throws {
    let store = try store(of: schema)
    let before = try store.texts("SELECT hex(uuid) || text FROM message ORDER BY 1")
    let first = try reading(store)
    #expect(first.texts == Self.texts)
    #expect(try copies(of: store) == ["schema-\(schema).sqlite"])
    let copy = store.location.upgrades + "/schema-\(schema).sqlite"
    #expect(first.notices.count == 1 && first.notices[0].contains("schema \(Migration.steps.count)"))
    #expect(first.notices[0].contains("'\(copy)'"))
    #expect(try reading(store).notices == [])
    #expect(try store.integers("PRAGMA user_version") == [[Int64(Migration.steps.count)]])
    for (path, mode) in [(copy, 0o600), (store.location.upgrades, 0o700)] {
      #expect(FileStatus(path)?.permissions == UInt32(mode))
    }

    for file in ["", "-wal", "-shm"] { removeFile(store.location.database + file) }
    try FileManager.default.copyItem(atPath: copy, toPath: store.location.database)
    #expect(try store.integers("PRAGMA user_version") == [[Int64(schema)]])
    #expect(try store.texts("PRAGMA integrity_check") == ["ok"])
    #expect(try store.texts("SELECT hex(uuid) || text FROM message ORDER BY 1") == before)

    let again = try reading(store)
    #expect(again.texts == Self.texts && again.notices.count == 1)
    #expect(try copies(of: store) == ["schema-\(schema)-2.sqlite", "schema-\(schema).sqlite"])
  }

  @Test func `the copy has what was committed only to the log`() throws {
    let store = try store(of: 15)
    let other = try Connection(path: store.location.database)
    try other.execute("PRAGMA journal_mode = WAL; BEGIN; SELECT count(*) FROM message")
    try store.execute("UPDATE message SET text = 'brunch?' WHERE text = 'lunch?'")
    #expect(try reading(store).texts == ["brunch?", "gladly", "at one"])
    let copy = try Connection(path: store.location.upgrades + "/schema-15.sqlite")
    var rows = try copy.prepare("SELECT count(*) FROM message WHERE text = 'brunch?'")
    var count: Int64 = 0
    if try rows.step() { count = rows.int64(0) }
    #expect(count == 1)
  }

  @Test func `an upgrade that fails changes nothing and leaves no copy`() throws {
    let store = try store(of: 17)
    // The last migration creates this table.
    try store.execute("CREATE TABLE search_end (a)")
    #expect(throws: DMError.self) { _ = try reading(store) }
    #expect(try store.integers("PRAGMA user_version") == [[17]])
    #expect(try copies(of: store) == [])
    try store.execute("DROP TABLE search_end")
    #expect(try reading(store).texts == Self.texts)
  }

  @Test func `an upgrade keeps no copy if the user wants none, and a process that may not upgrade fails`() throws {
    let store = try store(of: 15)
    var location = store.location
    location.upgrading = .refused
    #expect(try code { try Store.open(location) } == .readOnlyStore)
    #expect(try store.integers("PRAGMA user_version") == [[15]])
    location.upgrading = .keepsNothing
    var notices: [String] = []
    _ = try Store.open(location) { notices.append($0) }
    #expect(notices.count == 1 && notices[0].contains("no copy"))
    #expect(try copies(of: store) == [])
  }

  @Test func `what a killed upgrade has left is removed by the next`() throws {
    let store = try store(of: 15)
    _ = createFolder(store.location.upgrades)
    let left = try temporaryName(in: store.location.upgrades, ".new-")
    #expect(try reading(store).texts == Self.texts)
    #expect(!fileExists(left))
    #expect(try copies(of: store) == ["schema-15.sqlite"])
  }

  @Test func `new stores and restored backups keep no copies`() throws {
    let store = try TemporaryStore()
    try store.messenger("alice").say("hi", to: "bob")
    #expect(!fileExists(store.location.upgrades))
  }
}
