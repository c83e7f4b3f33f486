import Foundation
import JSONSupport
import Testing

/// Negative message numbers, which count back from the last message that the user sees.
@Suite struct NegativeNumberTests {
  /// A group +g in which bob sees only messages 1 to 5 and 7: the others were deleted, expired or sent by a blocked user.
  private func fixture() throws -> ToolFixture {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob", "carol")
    try f.done("dm-conversation", ["create", "--title", "g", "bob", "carol"], as: "alice")
    for text in ["2", "3", "4", "5", "6", "7", "8", "9"] { try f.done("dm-send", ["+g", text], as: "alice") }
    try f.done("dm-send", ["+g", "10", "--expires-in", "1s"], as: "alice")
    try f.done("dm-send", ["+g", "11"], as: "carol")
    try f.done("dm-edit", ["delete", "+g:6", "+g:9", "--for-everyone"], as: "alice")
    try f.done("dm-edit", ["delete", "+g:8"], as: "bob")
    try f.done("dm-user", ["block", "carol"], as: "bob")
    _ = try f.sql("UPDATE message SET expires_at = 1 WHERE seq = 10")
    return f
  }

  private func seqs(_ f: ToolFixture, _ arguments: String...) throws -> [Int] {
    try f.done("dm-tail", arguments, as: "bob").records.compactMap { $0["seq"]?.int }
  }

  @Test func `for negative message numbers, dm-tail counts only the messages that the user sees`() throws {
    let f = try fixture()
    #expect(try seqs(f, "+g") == [1, 2, 3, 4, 5, 7])
    #expect(try seqs(f, "+g", "-1") == [7])
    #expect(try seqs(f, "+g", "-3") == [4])
    #expect(try seqs(f, "+g:-3..") == [4, 5, 7])
    #expect(try seqs(f, "+g:-20..-5") == [1, 2])
    #expect(try seqs(f, "+g:..-6") == [1])
    #expect(try seqs(f, "+g:-7") == [])
    #expect(try seqs(f, "+g", "--since", "-2") == [5, 7])
    #expect(try seqs(f, "+g", "--before", "-2") == [1, 2, 3, 4])
  }

  @Test func `dm-send, dm-edit, dm-read and dm-attach take -1 for the last message that the user sees`() throws {
    let f = try fixture()
    let id = try #require(try f.done("dm-tail", ["+g", "7"], as: "bob").record["id"]?.string)
    #expect(try f.done("dm-edit", ["react", "👍", "+g:-1"], as: "bob").record["message_id"]?.string == id)
    #expect(try f.done("dm-read", ["--dry-run", "+g", "--up-to", "-2"], as: "bob").status == .exit(0))
    try f.done("dm-read", ["+g", "--up-to", "-2"], as: "bob")
    #expect(try seqs(f, "+g", "--unread") == [7])
    try f.done("dm-read", ["+g:-1"], as: "bob")
    #expect(try seqs(f, "+g", "--unread") == [])
    #expect(try f.run("dm-attach", ["--get", "+g:-1"], as: "bob").stderr.contains("carries nothing"))
    let reply = try f.done("dm-send", ["+g", "--reply-to", "-1", "x"], as: "bob").stdout
    #expect(reply.contains(id), "\(reply)")
  }

  @Test func `a negative number beyond the first visible message gives an error with the number of visible ones`()
    throws
  {
    let f = try fixture()
    let refused = try f.run("dm-edit", ["react", "👍", "+g:-7"], as: "bob")
    #expect(refused.status == .exit(66))
    #expect(refused.stderr.contains("'-7'") && refused.stderr.contains("you see 6"), "\(refused.stderr)")
  }
}
