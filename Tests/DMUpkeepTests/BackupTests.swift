import FoundationEssentials
import Testing

@testable import DMKit
@testable import DMStore
@testable import DMSystem
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

struct BackupTests {
  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test func `a backup has all data and a store id of its own, and only its owner can read it`() throws {
    let store = try TemporaryStore.filled()
    let path = try store.elsewhere("backup")
    let backup = try store.upkeep.backUp(to: path)
    #expect(backup.messageCount == 42)
    #expect(backup.lastUsedAt == nil)
    #expect(try mode(path) == 0o600)
    #expect(fileSize(path) == backup.sizeBytes)
    let other = try TemporaryStore(bytes: store.bytes("out/backup"))
    #expect(try other.findings() == [])
    #expect(try other.texts("SELECT hex(uuid) FROM store") != store.texts("SELECT hex(uuid) FROM store"))
    let texts = "SELECT coalesce(text, '') || seq || digest FROM message ORDER BY id"
    #expect(try other.texts(texts) == store.texts(texts))
    #expect(try store.upkeep.backUp(to: path).lastUsedAt != nil)
    #expect(try store.namesElsewhere == ["backup"])
  }

  @Test func `a backup replaces a file that is not a backup only with replacesAny`() throws {
    let store = try TemporaryStore.filled()
    let path = try store.elsewhere("notes")
    try Data("something else that took long to write, longer than a header, which has a hundred bytes".utf8).write(
      to: URL(filePath: path))
    let before = try store.bytes("out/notes")
    #expect(try code { try store.upkeep.backUp(to: path) } == .cannotCreate)
    #expect(try store.bytes("out/notes") == before)
    _ = try store.upkeep.backUp(to: path, replacesAny: true)
    #expect(try store.bytes("out/notes").starts(with: Array("SQLite format 3".utf8)))
  }

  @Test func `a backup of an earlier state does not replace a later backup with the same number of messages`() throws {
    let store = try TemporaryStore.filled()
    try store.settle()
    let earlier = try TemporaryStore(bytes: store.bytes())
    _ = try store.messenger("bob").setProfile(ProfileChange(bio: "new"))
    try store.messenger("alice").react("🎉", to: "bob:1")
    let path = try store.elsewhere("backup")
    _ = try store.upkeep.backUp(to: path)
    let later = try Data(contentsOf: URL(filePath: path))
    #expect(try code { try earlier.upkeep.backUp(to: path) } == .cannotCreate)
    #expect(try Data(contentsOf: URL(filePath: path)) == later)
    _ = try earlier.upkeep.backUp(to: path, replacesAny: true)
  }

  @Test func `a backup does not replace the database of a store, even with replacesAny`() throws {
    let (store, other) = (try TemporaryStore.filled(), try TemporaryStore.filled())
    for path in [store.location.database, other.location.database, other.location.database + "-wal"] {
      #expect(try code { try store.upkeep.backUp(to: path, replacesAny: true) } == .cannotCreate, "\(path)")
    }
    // A hard link to the database is refused, too.
    let link = store.location.directory + "/linked"
    try FileManager.default.linkItem(atPath: store.location.database, toPath: link)
    #expect(try code { try store.upkeep.backUp(to: link) } == .cannotCreate)
    #expect(try store.findings() == [])
    #expect(try other.findings() == [])
  }

  @Test func `a damaged store is not backed up by default, and the previous backup stays`() throws {
    let store = try TemporaryStore.filled()
    let path = try store.elsewhere("backup")
    _ = try store.upkeep.backUp(to: path)
    let before = try store.bytes("out/backup")
    try store.execute("UPDATE message SET text = 'another' WHERE id = 3")
    #expect(try code { try store.upkeep.backUp(to: path) } == .storeDamaged)
    #expect(try store.bytes("out/backup") == before)
    #expect(try store.namesElsewhere == ["backup"])
    // With `takesDamaged`, what is readable is saved.
    #expect(try store.upkeep.backUp(to: path, takesDamaged: true).messageCount == 42)
    let saved = try TemporaryStore(users: [])
    #expect(try code { try saved.upkeep.restore(file: path) } == .storeDamaged)
    #expect(try saved.upkeep.restore(file: path, takesDamaged: true).messageCount == 42)
    #expect(try saved.findings().map(\.check) == [.digests, .search])
  }

  @Test func `a backup never replaces a file in the folder of a store`() throws {
    let store = try TemporaryStore.filled()
    for name in ["store.lock", "bell", "another"] {
      let path = "\(store.location.directory)/\(name)"
      #expect(try code { try store.upkeep.backUp(to: path, replacesAny: true) } == .cannotCreate, "\(name)")
    }
  }

  @Test func `an interrupted backup leaves no files behind`() throws {
    struct Enough: Error {}
    let store = try TemporaryStore.filled(messages: 500)
    let path = try store.elsewhere("backup")
    for after in 0..<5 {
      var left = after
      let upkeep = Upkeep(store.location) { _ in
        left -= 1
        if left < 0 { throw Enough() }
      }
      #expect(throws: Enough.self) { try upkeep.backUp(to: path) }
      #expect(try store.namesElsewhere.isEmpty)
    }
  }

  @Test func `a backup removes the files of a killed backup, but not those of a running one`() throws {
    let store = try TemporaryStore.filled()
    let path = try store.elsewhere("backup")
    let left = try temporaryName(in: folder(of: path), ".dm-backup-", isFolder: true)
    try Data("texts".utf8).write(to: URL(filePath: left + "/copy-journal"))
    let used = try WorkFolder(.backup, in: folder(of: path))
    _ = try store.upkeep.backUp(to: path)
    #expect(try store.namesElsewhere == [fileName(of: used.path), "backup"])
    #expect(try !store.names.contains { $0.hasPrefix(".") })
  }

  @Test func `a backup into an absent folder, or to the path of a folder, is an error`() throws {
    let store = try TemporaryStore.filled()
    #expect(try code { try store.upkeep.backUp(to: "/nonexistent/backup") } == .cannotCreate)
    #expect(try code { try store.upkeep.backUp(to: store.location.directory) } == .cannotCreate)
  }

  @Test(arguments: [
    (3_006_023, false), (3_007_000, true), (3_040_001, true), (3_044_005, true), (3_044_006, false), (3_045_000, true),
    (3_050_006, true), (3_050_007, false), (3_051_000, true), (3_051_002, true), (3_051_003, false), (3_053_000, false),
  ])
  func `SQLite versions with the WAL reset bug are recognized`(version: Int, hasFault: Bool) {
    #expect(Connection.hasLogResetFault(version) == hasFault)
  }
}
