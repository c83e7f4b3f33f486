import FoundationEssentials
import Testing

@testable import DMKit
@testable import DMStore
@testable import DMSystem
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

struct RestoreTests {
  @Test func `a store that was restored from a backup accepts new messages`() throws {
    let store = try TemporaryStore.filled()
    let path = try store.elsewhere("backup")
    _ = try store.upkeep.backUp(to: path)
    let other = try TemporaryStore(users: [])
    #expect(try other.upkeep.restore(file: path).messageCount == 42)
    #expect(try other.findings() == [])
    #expect(try other.texts("PRAGMA journal_mode") == ["wal"])
    #expect(try other.messenger("alice").say("on", to: "bob").seq == 21)
    // Each restored store gets a new id, so a backup can be restored twice.
    let third = try TemporaryStore(users: [])
    _ = try third.upkeep.restore(file: path)
    let ids = try [store, other, third].flatMap { try $0.texts("SELECT hex(uuid) FROM store") }
    #expect(Set(ids).count == 3)
    for name in ["", "/dm.sqlite"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: other.location.directory + name)
      #expect(attributes[.posixPermissions] as? Int == (name.isEmpty ? 0o700 : 0o600))
    }
  }

  @Test func `a backup of an older schema is migrated when it is restored`() throws {
    let store = try TemporaryStore(users: [])
    try store.location.create()
    try store.execute(String(decoding: fixture("v2.sql"), as: UTF8.self))
    let other = try TemporaryStore(users: [])
    _ = try other.upkeep.restore(file: store.location.database)
    #expect(try other.integers("PRAGMA user_version") == [[Int64(Migration.version)]])
    #expect(try other.integers("SELECT count(*) FROM message") == store.integers("SELECT count(*) FROM message"))
    #expect(try other.findings().filter { $0.check == .digests || $0.check == .search || $0.check == .integrity } == [])
    #expect(try store.integers("PRAGMA user_version") == [[2]])
  }

  @Test func `a store with users is not replaced by a restore`() throws {
    let store = try TemporaryStore.filled()
    let path = try store.elsewhere("backup")
    _ = try store.upkeep.backUp(to: path)
    let other = try TemporaryStore(users: ["dave"])
    #expect(try code { try other.upkeep.restore(file: path) } == .cannotCreate)
    #expect(try other.texts("SELECT handle FROM user") == ["dave"])
  }

  @Test func `a restore fills an empty open store in place and gives it a new id`() throws {
    let store = try TemporaryStore.filled()
    let path = try store.elsewhere("backup")
    _ = try store.upkeep.backUp(to: path)
    let other = try TemporaryStore(users: [])
    let opened = try Store.create(other.location)
    let id = try opened.uuid()
    // The new id ends a follower of the empty store, which would otherwise deliver the whole history as new messages.
    #expect(try other.upkeep.restore(file: path).storeID != id)
    #expect(throws: DMError.self) { try opened.refuseReplaced(id) }
    #expect(try opened.pragma("SELECT count(*) FROM message") == 42)
    try opened.refuseReplaced()
    #expect(try other.findings() == [])
    // An empty database file counts as a store that is about to be created.
    let third = try TemporaryStore(users: [])
    try third.location.create()
    _ = try third.upkeep.restore(file: path)
    #expect(try third.findings() == [])
  }

  @Test func `a restore creates the missing parent folders of the store`() throws {
    let store = try TemporaryStore.filled()
    let path = try store.elsewhere("backup")
    _ = try store.upkeep.backUp(to: path)
    let deep = StoreLocation(directory: store.location.directory + "/a/b/c", isNamed: true)
    _ = try Upkeep(deep).restore(file: path)
    #expect(try Upkeep(deep).check(deep: true).findings == [])
    // The folder of a store may have other files.
    let beside = StoreLocation(directory: store.location.directory + "/a", isNamed: true)
    _ = try Upkeep(beside).restore(file: path)
    #expect(try Upkeep(beside).check(deep: true).findings == [])
    #expect(try store.names.filter { $0.hasPrefix(".") } == [])
  }

  @Test func `a restore removes the files of a killed restore, but not those of a running one`() throws {
    let store = try TemporaryStore.filled()
    let path = try store.elsewhere("backup")
    _ = try store.upkeep.backUp(to: path)
    let left = try temporaryName(in: folder(of: path), ".dm-restore-", isFolder: true)
    try Data("texts".utf8).write(to: URL(filePath: left + "/dm.sqlite"))
    let used = try WorkFolder(.restore, in: folder(of: path))
    _ = try Upkeep(StoreLocation(directory: folder(of: path) + "/store", isNamed: true)).restore(file: path)
    #expect(try store.namesElsewhere == [fileName(of: used.path), "backup", "store"])
  }

  @Test func `a file that is neither a dump nor a backup is refused`() throws {
    let store = try TemporaryStore.filled()
    let other = try TemporaryStore(users: [])
    try other.createFolder()
    let path = store.location.directory + "/file"
    for (text, expected) in [("hello\n", DMError.Code.malformedLine), ("", .malformedLine), ("{}\n", .malformedLine)] {
      try Data(text.utf8).write(to: URL(filePath: path))
      #expect(try code { try other.upkeep.restore(file: path) } == expected, "\(text)")
    }
    #expect(try code { try other.upkeep.restore(file: path + "-absent") } == .unknownFile)
    let foreign = try TemporaryStore(users: [])
    try foreign.location.create()
    try foreign.execute("CREATE TABLE t (a)")
    #expect(try code { try other.upkeep.restore(file: foreign.location.database) } == .storeForeign)
    #expect(try other.names == [])
  }
}
