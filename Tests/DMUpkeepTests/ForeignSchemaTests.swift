import FoundationEssentials
import Testing

@testable import DMKit
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

/// Stores whose schema was changed, by damage or by another program.
struct ForeignSchemaTests {
  static let parts = [
    (sql: "CREATE TRIGGER spy AFTER INSERT ON message BEGIN UPDATE user SET bio = new.text; END", name: "spy"),
    (sql: "CREATE VIEW news AS SELECT text FROM message", name: "news"),
  ]

  @Test(arguments: parts.indices)
  func `opening a store with a trigger or view is an error that names it, and a check finds it`(_ index: Int) throws {
    let (sql, name) = Self.parts[index]
    let store = try TemporaryStore.filled()
    let path = try store.elsewhere("backup")
    try store.execute(sql)
    let bob = try store.messenger("bob")
    let acts: [() throws -> Void] = [
      { _ = try bob.everything(in: "alice") }, { try bob.say("x", to: "alice") },
      { _ = try store.upkeep.backUp(to: path) }, { _ = try store.upkeep.purge() }, { _ = try store.upkeep.repair() },
    ]
    for act in acts {
      let fault = try fault(act)
      #expect(fault?.code == .storeDamaged)
      #expect(fault?.message.contains("'\(name)'") == true)
      guard case .removeForeignPart(let statement) = fault?.remedy else { throw try #require(fault) }
      #expect(statement.hasPrefix("DROP ") && statement.contains(name))
    }
    #expect(try store.upkeep.check(deep: false).findings.map(\.check) == [.schema])
    #expect(try store.findings().map(\.check) == [.schema])
  }

  @Test(arguments: parts.indices)
  func `a store with a trigger or a view can be dumped, and the dump restored`(_ index: Int) throws {
    let store = try TemporaryStore.filled()
    try store.execute(Self.parts[index].sql)
    let path = try store.elsewhere("dump")
    var lines: [UInt8] = []
    try store.upkeep.dump().forEach { lines += $0 }
    try Data(lines).write(to: URL(filePath: path))
    let other = try TemporaryStore(users: [])
    #expect(try other.upkeep.restore(file: path).messageCount == 42)
    #expect(try other.findings() == [])
  }

  @Test func `a trigger that is added while a store is open does not run`() throws {
    let store = try TemporaryStore.filled()
    let alice = try store.messenger("alice")
    try alice.say("before", to: "bob")
    try store.execute(Self.parts[0].sql)
    try alice.say("secret", to: "bob")
    #expect(try store.integers("SELECT count(*) FROM user WHERE bio IS NOT NULL") == [[0]])
  }

  @Test func `a store with a damaged CHECK constraint does not replace a good backup`() throws {
    let store = try TemporaryStore.filled()
    let path = try store.elsewhere("backup")
    _ = try store.upkeep.backUp(to: path)
    try store.settle()
    let good = try Data(contentsOf: URL(filePath: path))
    var bytes = try store.bytes()
    // 'rev >= 0' becomes 'rev >= 8'.
    for start in offsets(of: Array("rev >= 0".utf8), in: bytes) { bytes[start + 7] = UInt8(ascii: "8") }
    try store.replace(bytes)
    let fault = try fault { _ = try store.upkeep.backUp(to: path) }
    #expect(fault?.code == .storeDamaged && fault?.remedy == .takeDamaged)
    #expect(fault?.message.contains("is not what dm makes it") == true)
    #expect(try Data(contentsOf: URL(filePath: path)) == good)
    #expect(try store.namesElsewhere == ["backup"])
  }

  /// Words of the schema's text, each with a damaged word that replaces it.
  static let flips = [
    ("length(", "lxngth("), ("created_at", "cxeated_at"), ("TABLE \"message", "TABLE \"mxssage"), ("CHECK", "CHxCK"),
    ("sender", "sxnder"), ("REFERENCES user", "REFERENCES usxr"), ("STRICT", "STRIxT"), ("unicode61", "unicxde61"),
    ("columnsize", "cxlumnsize"), ("USING fts5", "USING ftx5"),
  ]

  @Test(arguments: flips.indices)
  func `with damaged schema text an action works or reports damage, and a check finds the damage`(_ index: Int) throws {
    let (word, other) = Self.flips[index]
    let acts: [(TemporaryStore) throws -> Void] = [
      { _ = try $0.messenger("bob").everything(in: "alice") }, { try $0.messenger("bob").say("x", to: "alice") },
      { _ = try $0.upkeep.backUp(to: $0.elsewhere("backup")) }, { _ = try $0.upkeep.purge() },
      { _ = try $0.upkeep.repair() }, { try $0.upkeep.dump().forEach { _ in } }, { _ = try $0.upkeep.statistics() },
    ]
    var found = 0
    for act in acts {
      let store = try TemporaryStore.filled()
      try store.settle()
      var bytes = try store.bytes()
      for offset in offsets(of: Array(word.utf8), in: bytes) {
        bytes.replaceSubrange(offset..<(offset + word.utf8.count), with: other.utf8)
      }
      try store.replace(bytes)
      let fault = try fault { try act(store) }
      #expect([nil, .storeDamaged].contains(fault?.code), "\(fault?.message ?? "")")
      found += fault == nil ? 0 : 1
      #expect(try !store.upkeep.check(deep: false).findings.isEmpty)
    }
    #expect(found > 0, "the damage made none of the actions fail")
  }

  @Test func `a write that conflicts with inconsistent rows reports a damaged store`() throws {
    let store = try TemporaryStore.filled()
    try store.execute("UPDATE conversation SET last_seq = last_seq - 1")
    #expect(try code { try store.messenger("alice").say("x", to: "bob") } == .storeDamaged)
  }

  @Test func `an invalid SQL statement is an internal error with the message of SQLite`() throws {
    let store = try TemporaryStore()
    let mistake = try fault { try store.execute("SELEKT 1") }
    #expect(mistake?.code == .internal)
    #expect(mistake?.message.contains("syntax error") == true)
    #expect(try fault { try store.execute("SELECT txet FROM message") }?.message.contains("txet") == true)
  }
}
