import Foundation
import JSONSupport
import Testing

/// How far a consumer is behind, as dm-tail --consumers says.
@Suite struct BehindCountTests {
  @Test func `behind_count does not count messages that the stream does not print`() throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    try f.done("dm-tail", ["--consumer", "c", "--cursor", "start"], as: "bob")
    for text in ["1", "2", "3", "4"] { try f.done("dm-send", ["bob", text], as: "alice") }
    func behind() throws -> Int? { try f.done("dm-tail", ["--consumers"], as: "bob").record["behind_count"]?.int }
    #expect(try behind() == 4)
    try f.done("dm-edit", ["delete", "bob:1", "--for-everyone"], as: "alice")
    #expect(try behind() == 3)
    try f.done("dm-edit", ["delete", "alice:2"], as: "bob")
    #expect(try behind() == 2)
    _ = try f.sql("UPDATE message SET expires_at = 1 WHERE seq = 3")
    #expect(try behind() == 1)
    let records = try f.done("dm-tail", ["--consumer", "c", "--events", "message"], as: "bob").records
    #expect(records.compactMap { $0["text"]?.string } == ["4"])
    try f.done("dm-user", ["block", "alice"], as: "bob")
    #expect(try behind() == 0)
  }
}
