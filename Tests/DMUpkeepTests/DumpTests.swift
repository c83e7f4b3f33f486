import DMJSON
import FoundationEssentials
import Testing

@testable import DMKit
@testable import DMStore
@testable import DMSystem
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

struct DumpTests {
  @Test
  func `a spool is created beside the store, or else in the spare folder; if both fail, the result is an error`()
    throws
  {
    let folder = try TemporaryFolder()
    let fault = try fault { try Spool(in: folder.path + "/absent", orElse: nil) }
    #expect(fault?.code == .cannotCreate)
    #expect(fault?.message.contains("TMPDIR") == true)
    #expect(try code { try Spool(in: folder.path + "/absent", orElse: "/nonexistent") } == .cannotCreate)
    #expect(try Spool(in: folder.path + "/absent", orElse: folder.path).spareFolder == folder.path)
    #expect(try Spool(in: folder.path, orElse: "/nonexistent").spareFolder == nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }

  private func dump(_ store: TemporaryStore) throws -> [String] {
    let dump = try store.upkeep.dump()
    var bytes: [UInt8] = []
    try dump.forEach { bytes += $0 }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private func restore(_ lines: [String], into store: TemporaryStore, ending: String = "\n") throws -> Restored {
    try store.createFolder()
    let path = store.location.directory + "-dump"
    try Data((lines.joined(separator: "\n") + ending).utf8).write(to: URL(filePath: path))
    defer { removeFile(path) }
    return try store.upkeep.restore(file: path)
  }

  private func removeFile(_ path: String) {
    do { try FileManager.default.removeItem(atPath: path) } catch { Issue.record("\(error)") }
  }

  private func checkNothingIsLeft(_ store: TemporaryStore, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let folder = folder(of: store.location.directory)
    let name = fileName(of: store.location.directory)
    #expect(try store.names == [], sourceLocation: sourceLocation)
    #expect(name.hasPrefix("dm-test"), sourceLocation: sourceLocation)
    #expect(FileManager.default.fileExists(atPath: folder), sourceLocation: sourceLocation)
  }

  @Test func `a store that was restored from a dump dumps the same lines`() throws {
    let store = try TemporaryStore.filled()
    _ = try store.messenger("bob").messages(in: ConversationReference("alice"), limit: 3)
    let lines = try dump(store)
    let other = try TemporaryStore(users: [])
    let restored = try restore(lines, into: other)
    #expect(restored.messageCount == 42)
    #expect(try dump(other).dropFirst() == lines.dropFirst())
    #expect(try other.findings() == [])
    #expect(try other.texts("SELECT hex(uuid) FROM store") != store.texts("SELECT hex(uuid) FROM store"))
    #expect(try other.messenger("bob").say("goes on", to: "alice").seq == 21)
  }

  @Test func `every kind of column value is read back unchanged`() throws {
    let values: [SQLiteValue] = [
      .integer(0), .integer(.max), .integer(.min), .integer(1 << 53), .integer(-(1 << 53)), .integer((1 << 53) - 1),
      .real(0.1), .real(-1e300), .real(.infinity), .text([]), .text(Array("a\u{0}b".utf8)), .text([0xFF, 0x41]),
      .text(Array("\u{1}\u{2028}\"\\\n\u{85}é日\u{1F600}".utf8)), .blob([]), .blob([0, 1, 254, 255]),
      .text(Array("{\"blob\":\"00\"}".utf8)), .text(Array("e\u{301}".utf8)),
    ]
    for value in values {
      var json = JSONWriter()
      json.object { $0.member("a \"name\"", value) }
      let read = try object(json.bytes).members
      #expect(read.map(\.name) == ["a \"name\""])
      #expect(try SQLiteValue(dumped: #require(read.first?.value)) == value, "\(value)")
    }
    var json = JSONWriter()
    json.object { $0.member("absent", .null) }
    #expect(String(decoding: json.bytes, as: UTF8.self) == "{}")
  }

  @Test func `a dump without its end is refused, and no files are left behind`() throws {
    let lines = try dump(TemporaryStore.filled())
    for count in [1, 2, lines.count / 2, lines.count - 1] {
      let other = try TemporaryStore(users: [])
      #expect(try code { try restore(Array(lines[..<count]), into: other) } == .unfinishedLine)
      try checkNothingIsLeft(other)
    }
    let other = try TemporaryStore(users: [])
    #expect(try code { try restore(lines, into: other, ending: "") } == .unfinishedLine)
    #expect(
      try code { try restore(lines.filter { !$0.contains("\"unique7") && !$0.contains(" unique7x") }, into: other) }
        == .badField)
    try checkNothingIsLeft(other)
  }

  @Test(arguments: [
    ("no JSON", "line 2: not JSON"), (#"{"type":"row"}"#, "line 2: not a row"),
    (#"{"type":"row","table":"none","values":{"id":1}}"#, "line 2: there is no table 'none'"),
    (#"{"type":"row","table":"store","values":{"uuid":{"blob":"00"}}}"#, "line 2: there is no table 'store'"),
    (#"{"type":"row","table":"sqlite_schema","values":{"name":"x"}}"#, "line 2: there is no table"),
    (#"{"type":"row","table":"user","values":{"id":1,"\" evil":1}}"#, "line 2: the table 'user' has no column"),
    (#"{"type":"row","table":"user","values":{"id":[1]}}"#, "line 2: 'id' is not a value"),
    (#"{"type":"row","table":"user","values":{"id":{"blob":"0g"}}}"#, "line 2: 'id' is not a value"),
    (#"{"type":"row","table":"user","values":{"id":1}}"#, "line 2: the row does not fit"),
    (#"{"type":"row","table":"user","values":{"id":"text"}}"#, "line 2: the row does not fit"),
    (#"{"type":"row","table":"user","values":{}}"#, "line 2: the row is empty"),
  ])
  func `the error for an invalid line has its line number`(line: String, message: String) throws {
    let lines = try dump(TemporaryStore())
    let other = try TemporaryStore(users: [])
    let fault = try fault { try restore([lines[0], line] + lines.dropFirst(), into: other) }
    #expect(fault?.message.hasPrefix(message) == true, "\(fault?.message ?? "none")")
    try checkNothingIsLeft(other)
  }

  @Test func `a dump with a changed message text is refused`() throws {
    var lines = try dump(TemporaryStore.filled())
    let index = try #require(lines.firstIndex { $0.contains("unique4x") })
    lines[index] = lines[index].replacing("unique4x", with: "unique5x")
    let other = try TemporaryStore(users: [])
    #expect(try code { try restore(lines, into: other) } == .storeDamaged)
    try checkNothingIsLeft(other)
  }

  @Test func `a dump whose row refers to a missing row is refused`() throws {
    let lines = try dump(TemporaryStore.filled()).filter { !$0.contains(#""handle":"carol""#) }
    let end = #"{"type":"dump_end","rows":\#(lines.count - 2)}"#
    let other = try TemporaryStore(users: [])
    #expect(try code { try restore(lines.dropLast() + [end], into: other) } == .badField)
    try checkNothingIsLeft(other)
  }

  @Test func `a dump of a newer schema is refused`() throws {
    var lines = try dump(TemporaryStore())
    lines[0] = lines[0].replacing(
      "\"schema\":\(Migration.version)", with: "\"schema\":\(Migration.version + 1)")
    let other = try TemporaryStore(users: [])
    #expect(try code { try restore(lines, into: other) } == .storeTooNew)
  }
}
