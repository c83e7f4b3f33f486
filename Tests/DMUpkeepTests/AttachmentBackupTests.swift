import FoundationEssentials
import Testing

@testable import DMJSON
@testable import DMKit
@testable import DMMedia
@testable import DMStore
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

struct AttachmentBackupTests {
  /// The contents of a store, by their hashes.
  private func contents(of store: TemporaryStore) throws -> [String: Data] {
    try Dictionary(
      uniqueKeysWithValues: store.contents.all.map {
        ($0.description, try Data(contentsOf: URL(filePath: store.contents.path(of: $0))))
      })
  }

  private func expectWhole(
    _ copy: TemporaryStore, as store: TemporaryStore, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(try contents(of: copy) == contents(of: store), sourceLocation: sourceLocation)
    #expect(try copy.findings() == [], sourceLocation: sourceLocation)
    #expect(
      try copy.texts("SELECT name FROM sqlite_schema WHERE name = 'content'") == [], sourceLocation: sourceLocation)
    let rows = "SELECT hex(uuid) || name || hex(sha256) || digest FROM attachment ORDER BY id"
    #expect(try copy.texts(rows) == store.texts(rows), sourceLocation: sourceLocation)
  }

  /// Targets of a restore: an absent folder, a folder with other files, and an empty store that is open.
  private func copies() throws -> [TemporaryStore] {
    let beside = try TemporaryStore(users: [])
    _ = try beside.elsewhere("something")
    let empty = try TemporaryStore(users: [])
    _ = try Store.create(empty.location)
    return [try TemporaryStore(users: []), beside, empty]
  }

  @Test func `a backup includes the contents of attachments, and a restore brings them back`() throws {
    let store = try TemporaryStore.carrying()
    let path = try store.elsewhere("backup")
    let backup = try store.upkeep.backUp(to: path)
    #expect(backup.sizeBytes > 2 * ContentFolder.chunkBytes)
    for copy in try copies() {
      _ = try copy.upkeep.restore(file: path)
      try expectWhole(copy, as: store)
      // The space that the contents took in the backup is freed in the restored database.
      #expect(copy.location.databaseBytes < 2 * ContentFolder.chunkBytes)
      let bob = try copy.messenger("bob")
      let voice = try #require(
        try bob.attachments(in: ConversationReference("+ops")).first { $0.attachment.kind == .voice })
      var bytes: [UInt8] = []
      try bob.read(.content, of: voice.attachment) { bytes += $0 }
      #expect(bytes == noise(900, seed: 4))
    }
    #expect(try store.names.filter { $0.hasPrefix(".") } == [])
  }

  @Test func `a dump includes the contents of attachments, and a restored store dumps the same lines`() throws {
    let store = try TemporaryStore.carrying()
    let path = try store.elsewhere("dump")
    let lines = try dumped(store, to: path)
    for copy in try copies() {
      _ = try copy.upkeep.restore(file: path)
      try expectWhole(copy, as: store)
      #expect(try dumped(copy, to: store.elsewhere("again")).dropFirst() == lines.dropFirst())
    }
    #expect(lines.last == #"{"type":"dump_end","rows":\#(lines.count - 2 - 7),"contents":7}"#)
    #expect(lines.count { $0.hasPrefix(#"{"type":"content","sha256":""#) } == 7)
    #expect(lines.allSatisfy { $0.utf8.count < LineSplitter.limit })
  }

  private func dumped(_ store: TemporaryStore, to path: String) throws -> [Substring] {
    var bytes: [UInt8] = []
    try store.upkeep.dump().forEach { bytes += $0 }
    try Data(bytes).write(to: URL(filePath: path))
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
  }

  /// Damages a content: changes it, shortens it, or removes it.
  private func damage(_ hash: ContentHash, of store: TemporaryStore, _ how: Int) throws {
    let path = store.contents.path(of: hash)
    var bytes = try Data(contentsOf: URL(filePath: path))
    switch how {
    case 0: bytes[bytes.count - 1] ^= 1
    case 1: bytes.removeLast()
    default: return try FileManager.default.removeItem(atPath: path)
    }
    try bytes.write(to: URL(filePath: path))
  }

  @Test(arguments: 0..<3)
  func `a damaged content prevents a backup unless damaged contents may be left out`(how: Int) throws {
    let store = try TemporaryStore.carrying()
    let path = try store.elsewhere("backup")
    let hash = try store.content(named: "long.bin")
    try damage(hash, of: store, how)
    let fault = try fault { try store.upkeep.backUp(to: path) }
    #expect(fault?.code == .storeDamaged)
    #expect(fault?.remedy == .leaveOutDamaged)
    #expect(try store.namesElsewhere == [])
    _ = try store.upkeep.backUp(to: path, takesDamaged: true)
    for copy in try copies() {
      #expect(try code { try copy.upkeep.restore(file: path) } == .storeDamaged)
      #expect(try copy.contents.all == [])
      _ = try copy.upkeep.restore(file: path, takesDamaged: true)
      #expect(try copy.findings().map(\.subject) == [copy.contents.name(of: hash)])
      #expect(try copy.contents.all.count == 5)
    }
  }

  @Test(arguments: 0..<3)
  func `a dump that leaves out a damaged content ends with an error, and a restore refuses the dump by default`(
    how: Int
  ) throws {
    let store = try TemporaryStore.carrying()
    let path = try store.elsewhere("dump")
    let hash = try store.content(named: "long.bin")
    try damage(hash, of: store, how)
    var bytes: [UInt8] = []
    #expect(try code { try store.upkeep.dump().forEach { bytes += $0 } } == .storeDamaged)
    #expect(String(decoding: bytes, as: UTF8.self).split(separator: "\n").last?.contains("dump_end") == true)
    try Data(bytes).write(to: URL(filePath: path))
    let copy = try TemporaryStore(users: [])
    #expect(try code { try copy.upkeep.restore(file: path) } == .storeDamaged)
    #expect(!FileManager.default.fileExists(atPath: copy.location.directory))
    _ = try copy.upkeep.restore(file: path, takesDamaged: true)
    #expect(try copy.findings().map(\.subject) == [copy.contents.name(of: hash)])
  }

  @Test func `a missing, changed or misplaced content line of a dump is noticed`() throws {
    let store = try TemporaryStore.carrying()
    let path = try store.elsewhere("dump")
    let lines = try dumped(store, to: path).map(String.init)
    let contentLines = lines.indices.filter { lines[$0].contains(#""type":"content""#) }
    let second = try #require(contentLines.first { lines[$0].contains(#""number":1"#) })
    func counting(_ count: Int, _ lines: [String]) -> [String] {
      lines.map { $0.replacing(#""contents":7"#, with: #""contents":\#(count)"#) }
    }
    func without(_ index: Int) -> [String] { Array(lines[..<index] + lines[(index + 1)...]) }
    var swapped = lines
    swapped.swapAt(second - 1, second)
    var other = lines
    other[second] = other[second].replacing(/"bytes":"./, with: #""bytes":"-"#).replacing("-", with: "/")
    func changed(_ part: String, _ other: String) -> [String] { lines.map { $0.replacing(part, with: other) } }
    var cases: [(lines: [String], codes: Set<DMError.Code>)] = [
      (swapped, [.storeDamaged]), (other, [.storeDamaged]),
      (changed(#""bytes":""#, #""bytes":"-"#), [.malformedLine]),
      (changed(#""sha256":""#, #""sha256":"0"#), [.malformedLine]),
      (changed(#""number":1"#, #""number":"1""#), [.malformedLine]),
    ]
    for index in contentLines {
      // Either the hash of the content or the count at the end of the dump reveals the missing line.
      cases.append((without(index), [.badField, .storeDamaged]))
      cases.append((counting(6, without(index)), [.storeDamaged]))
    }
    for (number, (lines, expected)) in cases.enumerated() {
      let copy = try TemporaryStore(users: [])
      try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path))
      let fault = try fault { try copy.upkeep.restore(file: path) }
      #expect(fault.map { expected.contains($0.code) } == true, "case \(number): \(fault?.message ?? "none")")
      #expect(!FileManager.default.fileExists(atPath: copy.location.directory))
    }
    // A content that was damaged when the dump was made may be missing, but not a content line that is lost from the dump.
    let copy = try TemporaryStore(users: [])
    try Data((without(second).joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path))
    #expect(try code { try copy.upkeep.restore(file: path, takesDamaged: true) } == .badField)
  }

  @Test func `base64 encodes and decodes the examples of the standard`() throws {
    let vectors = [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ]
    for (text, encoded) in vectors {
      #expect(Array(text.utf8).withUnsafeBytes { base64($0) } == encoded)
      #expect(bytes(base64: encoded) == Array(text.utf8))
    }
    let all = (0...255).map { UInt8($0) } + [0]
    #expect(bytes(base64: all.withUnsafeBytes { base64($0) }) == all)
    #expect(Data(all).base64EncodedString() == all.withUnsafeBytes { base64($0) })
    for wrong in ["Zg", "Zg=", "=g==", "Z===", "Zm9-", "Zm9v\n", "====", "Zg==Zg=="] {
      #expect(bytes(base64: wrong) == nil)
    }
  }

  @Test func `a dump whose output is not read keeps a purge from removing contents, and blocks nothing else`() throws {
    let store = try TemporaryStore.carrying()
    let dump = try store.upkeep.dump()
    try store.execute("DELETE FROM attachment WHERE name = 'unsent'")
    try store.age(try store.contents.all, days: 3)
    let purged = try store.upkeep.purge()
    #expect(!purged.isComplete)
    #expect(purged.contentsCount == 0)
    try store.messenger("alice").say("on", to: "bob")
    // The dump still has all contents, although the store has changed.
    try dump.forEach { _ in }
  }

  @Test func `a backup and a dump of schema version 3 can be restored`() throws {
    let old = try TemporaryStore(users: [])
    try old.location.create()
    for step in Migration.steps.prefix(3) { try old.execute(String(decoding: step, as: UTF8.self)) }
    try old.execute(
      String(decoding: fixture("v3.sql"), as: UTF8.self) + """
        INSERT INTO search (rowid, text) SELECT id, text FROM message WHERE text IS NOT NULL;
        PRAGMA application_id = \(Migration.applicationID); PRAGMA user_version = 3;
        """)
    let dump = try old.elsewhere("dump")
    try Data(fixture("v3.jsonl")).write(to: URL(filePath: dump))
    for path in [old.location.database, dump] {
      let copy = try TemporaryStore(users: [])
      #expect(try copy.upkeep.restore(file: path).messageCount == 5)
      #expect(try copy.findings() == [])
      #expect(try copy.messenger("bob").everything(in: "alice").map(\.text) == ["hello there again", "hello yourself"])
      #expect(try !copy.names.contains("attachments"))
      try copy.messenger("alice").send([copy.messenger("alice").attach([1, 2, 3])], to: "bob")
      #expect(try copy.findings() == [])
    }
    #expect(try old.integers("PRAGMA user_version") == [[3]])
  }

  @Test func `statistics count contents`() throws {
    let store = try TemporaryStore.carrying()
    let statistics = try store.upkeep.statistics()
    #expect(statistics.contentsCount == 6)
    #expect(statistics.contentsBytes == 2 * ContentFolder.chunkBytes + 17 + 100 + 900 + 700)
  }

  @Test func `a restore into a store that gets a user during the restore fails and removes only its own contents`()
    throws
  {
    let store = try TemporaryStore.carrying()
    let path = try store.elsewhere("backup")
    _ = try store.upkeep.backUp(to: path)
    let target = try TemporaryStore(users: [])
    _ = try Store.create(target.location)
    let upkeep = Upkeep(target.location) { doing in
      guard doing == "putting it in place", try target.integers("SELECT count(*) FROM user") == [[0]] else { return }
      let dave = try target.messenger("dave")
      _ = try dave.addUser(Handle("dave"))
      _ = try dave.attach(noise(100, seed: 3))
    }
    #expect(try code { try upkeep.restore(file: path) } == .cannotCreate)
    #expect(try target.contents.all.count == 1)
    #expect(try target.findings() == [])
  }
}
