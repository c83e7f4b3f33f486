import Foundation
import JSONSupport
import Testing

/// The conversation record: the names of a conversation, the roles in it, and a preview of its last message.
@Suite struct ConversationRecordTests {
  private func list(_ f: ToolFixture, as user: String) throws -> [JSON] {
    try f.done("dm-list", ["--all"], as: user).records
  }

  @Test func `the field name has the other user's display name, the group's title, or its members if it has no title`()
    throws
  {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob", "carol")
    try f.done("dm-user", ["set", "--display-name", "Bob B."], as: "bob")
    try f.done("dm-send", ["bob", "hi"], as: "alice")
    try f.done("dm-send", ["alice", "a note"], as: "alice")
    try f.done("dm-conversation", ["create", "--title", "ops", "bob"], as: "alice")
    try f.done("dm-conversation", ["create", "bob", "carol"], as: "alice")
    #expect(try list(f, as: "alice").map { $0["name"]?.string } == ["Bob B., carol", "ops", "alice", "Bob B."])
    #expect(try list(f, as: "bob").map { $0["name"]?.string } == ["alice, carol", "ops", "alice"])
    #expect(try list(f, as: "alice").map { $0["title"]?.string } == [nil, "ops", nil, nil])
  }

  @Test func `owners and my_role are shown to members, and a former member sees no owners`() throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    try f.done("dm-conversation", ["create", "--title", "ops", "bob"], as: "alice")
    func seen(_ user: String) throws -> [String?] {
      let group = try f.done("dm-conversation", ["show", "+ops"], as: user).record
      return [group["my_role"]?.string, group["owners"].map { $0.array.compactMap(\.string).joined(separator: " ") }]
    }
    #expect(try seen("alice") == ["owner", "alice"])
    #expect(try seen("bob") == ["member", "alice"])
    try f.done("dm-conversation", ["leave", "+ops"], as: "alice")
    #expect(try seen("bob") == ["owner", "bob"])
    #expect(try seen("alice") == ["former", nil])
    try f.done("dm-send", ["bob", "hi"], as: "alice")
    let direct = try f.done("dm-conversation", ["show", "bob"], as: "alice").record
    #expect(direct["my_role"]?.string == "member")
    #expect(direct["owners"] == nil)
  }

  @Test func `last_message has the first 200 characters of a longer text and says that it is cut`() throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    for (text, shown, isCut) in [
      (String(repeating: "ü", count: 200), 200, nil as Bool?), (String(repeating: "🦊", count: 201), 200, true),
    ] {
      try f.done("dm-send", ["bob", text], as: "alice")
      for call in [("dm-list", []), ("dm-conversation", ["show", "alice"])] {
        let last = try #require(try f.done(call.0, call.1, as: "bob").record["last_message"])
        #expect(last["text"]?.string == String(text.prefix(shown)))
        #expect(last["is_truncated"]?.bool == isCut)
      }
      #expect(try f.done("dm-tail", ["alice", "-n", "1"], as: "bob").record["text"]?.string == text)
    }
  }

  @Test func `records of dm-list have last_activity_at and page_cursor, and conversation_updated records have cursor`()
    throws
  {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    let sent = try f.done("dm-send", ["bob", "hi"], as: "alice").record
    try f.done("dm-send", ["alice", "a note"], as: "alice")
    let list = try list(f, as: "alice")
    #expect(list.allSatisfy { $0["page_cursor"]?.string != nil && $0["cursor"] == nil && $0["last_activity"] == nil })
    #expect(list[1]["last_activity_at"]?.string == sent["created_at"]?.string)
    let next = try f.done("dm-list", ["--after", #require(list[0]["page_cursor"]?.string)], as: "alice").records
    #expect(next.map { $0["id"]?.string } == [list[1]["id"]?.string])
    let records = try f.done("dm-tail", ["--cursor", "start", "--events", "conversation_updated"], as: "bob").records
    let updated = try #require(records.first { $0["type"]?.string == "conversation_updated" })
    #expect(updated["cursor"]?.string != nil && updated["page_cursor"] == nil)
    #expect(updated["name"]?.string == "alice")
  }

  @Test(arguments: ["last_activity_at", "last_activity"])
  func `dm-import accepts last_activity_at and its old name last_activity`(
    _ name: String
  ) throws {
    let f = try ToolFixture()
    try f.addUsers("alice")
    let line =
      #"{"type":"conversation","id":"019aa6e8-7a18-7d0b-8f0e-5b8d1c6f7e21","is_group":true,"title":"old","#
      + #""participants":["alice"],"\#(name)":"2019-03-01T09:00:00Z"}"# + "\n"
    try f.done("dm-import", as: "alice", stdin: .bytes(Array(line.utf8)))
    let group = try f.done("dm-conversation", ["show", "+old"], as: "alice").record
    #expect(group["last_activity_at"]?.string == "2019-03-01T09:00:00.000000Z")
  }

  @Test func `the text of dm-list and dm-conversation shows display names, with the handle to type`() throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob", "carol")
    try f.done("dm-user", ["set", "--display-name", "Bob B."], as: "bob")
    try f.done("dm-send", ["bob", "hi"], as: "alice")
    try f.done("dm-conversation", ["create", "--title", "ops", "bob"], as: "alice")
    let lines = try f.done("dm-list", ["--text"], as: "alice").stdout.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines[0].contains("  +ops  ") && lines[1].contains("  Bob B. (bob)  "), "\(lines)")
    let shown = try f.done("dm-conversation", ["show", "+ops", "--text"], as: "alice").stdout
    #expect(
      shown.contains("participants  alice, Bob B. (bob)\n") && shown.contains("owners        alice\n"), "\(shown)")
    #expect(try f.done("dm-conversation", ["show", "bob", "--text"], as: "alice").stdout.hasPrefix("Bob B. (bob)\n"))
    let presence = try f.done("dm-user", ["presence", "bob", "--text"], as: "alice").stdout
    #expect(presence.hasPrefix("Bob B. (bob)  "), "\(presence)")
  }
}
