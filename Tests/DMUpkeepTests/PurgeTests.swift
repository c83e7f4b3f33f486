import FoundationEssentials
import Testing

@testable import DMKit
@testable import DMStore
@testable import DMSystem
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

struct PurgeTests {
  /// Turns a message into a tombstone, as deleting it for everyone does.
  private func makeTombstone(_ seq: Int, in store: TemporaryStore) throws {
    let opened = try #require(try Store.open(store.location))
    try opened.write {
      let message = try #require(try opened.messages.row(at: Messages.Address(conversation: 1, seq: seq)))
      try opened.messages.makeTombstone(of: message, at: .now)
    }
  }

  /// The places in the store's files that still have a word, as it is in the text or as it is in the search index.
  private func traces(of word: String, in store: TemporaryStore) throws -> [String] {
    try ["dm.sqlite", "dm.sqlite-wal", "dm.sqlite-shm"].flatMap { file in
      let bytes = try store.bytes(file)
      return [word, word.lowercased(), String(word.dropFirst(2)), String(word.lowercased().dropFirst(4))].flatMap {
        form in
        offsets(of: Array(form.utf8), in: bytes).map { "\(form) in \(file) at \($0)" }
      }
    }
  }

  @Test func `no byte of a deleted text is left in the files of the store`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    var words: [String] = []
    for number in 1...60 {
      let word = "Xq\(String(UInt64.random(in: 0 ... .max), radix: 36))Zjkpw"
      words.append(word)
      try alice.say("keep \(number) \(word) kept", to: "bob")
    }
    let deleted = Array(stride(from: 3, through: 60, by: 3))
    for seq in deleted { try makeTombstone(seq, in: store) }
    #expect(
      try deleted.contains { try !traces(of: words[$0 - 1], in: store).isEmpty },
      "`traces` finds no text before the purge")
    let purged = try store.upkeep.purge()
    #expect(purged.isComplete)
    for seq in deleted { #expect(try traces(of: words[seq - 1], in: store) == []) }
    #expect(try !traces(of: words[0], in: store).isEmpty)
    #expect(try store.findings() == [])
  }

  @Test func `a purge removes all expired messages, and a report keeps its copy`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    for number in 1...1200 { try alice.say(number == 7 ? "a copy Zqxcopy" : "gone \(number) Zqxworda", to: "bob") }
    _ = try store.messenger("bob").edit([Edit(MessageReference("alice:7"), .report(reason: nil))])[0].get()
    let opened = try #require(try Store.open(store.location))
    let lock = try opened.writeLock(timeout: .seconds(5))
    try opened.connection.execute("UPDATE message SET expires_at = created_at + 1")
    try Store.DigestedRows.message.writeDigests(.all, on: opened.connection)
    _ = consume lock
    #expect(try store.upkeep.purge().expiredCount == 1200)
    #expect(try traces(of: "Zqxworda", in: store) == [])
    #expect(try !traces(of: "Zqxcopy", in: store).isEmpty)
    #expect(try store.findings() == [])
  }

  @Test func `one purge removes all old rows of the change log`() throws {
    let store = try TemporaryStore()
    try store.messenger("alice").say("hi", to: "bob")
    let count = try store.integers("SELECT count(*) FROM change")[0][0] ?? 0
    try store.execute(
      """
      UPDATE change SET at = 1; WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
      INSERT INTO change (at, kind) SELECT 1, 5 FROM n
      """)
    let purged = try store.upkeep.purge()
    #expect(Int64(purged.changesCount) == count + 12_000 - 1)
    #expect(try store.integers("SELECT count(*) FROM change") == [[1]])
  }

  @Test func `a purge removes the files of killed backups and restores, wherever they are`() throws {
    let store = try TemporaryStore.filled()
    let backup = try temporaryName(in: folder(of: store.elsewhere("x")), ".dm-backup-", isFolder: true)
    let restore = try temporaryName(in: folder(of: store.location.directory), ".dm-restore-", isFolder: true)
    for path in [backup, restore] { try Data("texts".utf8).write(to: URL(filePath: path + "/copy-journal")) }
    try FileManager.default.createSymbolicLink(
      atPath: store.location.directory + "/.trace-000000", withDestinationPath: backup)
    _ = try store.upkeep.purge()
    for path in [backup, restore, store.location.directory + "/.trace-000000"] {
      #expect(!FileManager.default.fileExists(atPath: path), "\(path)")
    }
  }

  @Test func `a reader keeps a purge from emptying the WAL, and the purge reports this`() throws {
    let store = try TemporaryStore.filled()
    let reader = try #require(try Store.open(store.location))
    let transaction = try reader.connection.begin(.read)
    _ = try reader.uuid()
    #expect(try !store.upkeep.purge(timeout: .milliseconds(10)).isComplete)
    _ = consume transaction
    let purged = try store.upkeep.purge(timeout: .milliseconds(10))
    #expect(purged.isComplete)
    #expect(purged.lastUsedAt != nil)
    #expect(try store.bytes("dm.sqlite-wal").isEmpty)
    #expect(try store.findings() == [])
  }
}
