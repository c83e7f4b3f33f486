import DMMedia
import FoundationEssentials
import Glibc
import Testing

@testable import DMKit
@testable import DMStore
@testable import DMSystem
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

struct AttachmentPurgeTests {
  @Test func `a purge removes an unsent attachment after a day, and its content later`() throws {
    let store = try TemporaryStore.carrying()
    let unsent = try store.content(named: "unsent")
    try store.age([unsent], days: 2)
    #expect(try store.upkeep.purge().attachmentsCount == 0)
    #expect(store.contents.size(of: unsent) == 100)
    try store.execute("UPDATE attachment SET created_at = created_at - 90000000000 WHERE name = 'unsent'")
    try store.age([unsent], days: 0.5)
    let first = try store.upkeep.purge()
    #expect([first.attachmentsCount, first.contentsCount] == [1, 0])
    #expect(store.contents.size(of: unsent) == 100)
    try store.age([unsent], days: 1.1)
    let second = try store.upkeep.purge()
    #expect([second.attachmentsCount, second.contentsCount] == [0, 1])
    #expect(second.isComplete)
    #expect(second.freedBytes >= 100)
    #expect(store.contents.size(of: unsent) == nil)
    #expect(try store.findings() == [])
  }

  @Test func `a purge keeps a sent content, however old, until its last message is deleted`() throws {
    let store = try TemporaryStore.carrying()
    try store.age(try store.contents.all, days: 400)
    #expect(try store.upkeep.purge().contentsCount == 0)
    let long = try store.content(named: "long.bin")
    let opened = try #require(try Store.open(store.location))
    let messages = try store.integers("SELECT message FROM attachment WHERE name = 'long.bin'").compactMap { $0[0] }
    #expect(messages.count == 2)
    for message in messages {
      #expect(store.contents.size(of: long) != nil)
      try opened.write {
        let address = try #require(try opened.messages.address(of: MessageKey(number: message)))
        let stored = try #require(try opened.messages.row(at: address))
        try opened.messages.makeTombstone(of: stored, at: .now)
      }
      _ = try store.upkeep.purge()
    }
    #expect(store.contents.size(of: long) == nil)
    #expect(try store.findings() == [])
  }

  @Test func `a content that was attached again counts as new and is kept`() throws {
    let store = try TemporaryStore.carrying()
    let bytes = noise(50, seed: 9)
    let alice = try store.messenger("alice")
    let first = try alice.attach(bytes)
    try store.execute("DELETE FROM attachment WHERE id = (SELECT max(id) FROM attachment)")
    try store.age([first.sha256], days: 3)
    let second = try alice.attach(bytes)
    try store.execute("DELETE FROM attachment WHERE id = (SELECT max(id) FROM attachment)")
    #expect(first.sha256 == second.sha256)
    #expect(try store.upkeep.purge().contentsCount == 0)
    #expect(store.contents.size(of: second.sha256) == 50)
  }

  /// Runs a purge, and calls `meanwhile` before it removes contents.
  private func purge(_ store: TemporaryStore, meanwhile: @escaping () throws -> Void) throws -> Purged {
    try Upkeep(store.location) { if $0.hasSuffix("contents that nothing refers to") { try meanwhile() } }.purge()
  }

  @Test func `a content whose attachment row is written during a purge is kept`() throws {
    let store = try TemporaryStore.carrying()
    let alice = try store.messenger("alice")
    let old = try alice.attach(noise(50, seed: 9))
    try store.execute("CREATE TABLE kept AS SELECT * FROM attachment WHERE id = (SELECT max(id) FROM attachment)")
    try store.execute("DELETE FROM attachment WHERE id = (SELECT max(id) FROM attachment)")
    try store.age([old.sha256], days: 3)
    let purged = try purge(store) { try store.execute("INSERT OR IGNORE INTO attachment SELECT * FROM kept") }
    #expect(purged.contentsCount == 0)
    #expect(store.contents.size(of: old.sha256) == 50)
  }

  @Test func `a purge removes no contents while another process reads contents, and reports this`() throws {
    let store = try TemporaryStore.carrying()
    try store.execute("DELETE FROM attachment WHERE name = 'unsent'")
    try store.age(try store.contents.all, days: 3)
    guard let share = try store.contents.share(), let other = try store.contents.share() else {
      Issue.record("there is no folder of contents")
      return
    }
    let purged = try store.upkeep.purge()
    #expect(purged.obstacle?.contains("contents") == true)
    #expect(purged.contentsCount == 0)
    _ = consume share
    _ = consume other
    #expect(try store.upkeep.purge().contentsCount == 1)
    #expect(try store.upkeep.purge().isComplete)
  }

  @Test func `a purge removes work folders of killed processes, but not of running ones`() throws {
    let store = try TemporaryStore.carrying()
    let work = try WorkFolder(.attachment, in: store.contents.path)
    let dead = store.contents.path + "/.work-dead00"
    try FileManager.default.createDirectory(atPath: dead, withIntermediateDirectories: true)
    try Data([1]).write(to: URL(filePath: dead + "/source"))
    _ = try store.upkeep.purge()
    #expect(!FileManager.default.fileExists(atPath: dead))
    #expect(FileManager.default.fileExists(atPath: work.path))
  }

  @Test func `a purge of a store without attachments creates no attachments folder`() throws {
    let store = try TemporaryStore.filled()
    let purged = try store.upkeep.purge()
    #expect([purged.attachmentsCount, purged.contentsCount] == [0, 0])
    #expect(purged.isComplete)
    #expect(try !store.names.contains("attachments"))
  }
}
