import Foundation
import JSONSupport
import Testing

/// A user's own names for conversations, and the groups that a title can refer to.
@Suite struct OwnNameTests {
  private func fixture() throws -> ToolFixture {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob", "carol")
    return f
  }

  private func group(_ f: ToolFixture, _ title: String, by user: String, with others: String...) throws -> String {
    try #require(
      try f.done("dm-conversation", ["create", "--title", title] + others, as: user).record["id"]?.string)
  }

  @Test func `an own name has precedence over titles, and a direct conversation can have an own name`() throws {
    let f = try fixture()
    let first = try group(f, "ops", by: "alice", with: "bob")
    let named = try f.done("dm-conversation", ["name", first, "+work"], as: "bob").record
    #expect(named["own_name"]?.string == "work" && named["name"]?.string == "work" && named["title"]?.string == "ops")
    _ = try group(f, "work", by: "carol", with: "bob")
    #expect(try f.done("dm-send", ["+work", "x"], as: "bob").record["conversation_id"]?.string == first)
    try f.done("dm-send", ["bob", "hi"], as: "carol")
    try f.done("dm-conversation", ["name", "carol", "c"], as: "bob")
    #expect(try f.done("dm-tail", ["+c"], as: "bob").record["text"]?.string == "hi")
    #expect(
      try f.done("dm-tail", ["+ops", "-n", "1"], as: "bob").record["text"]?.string == "x", "the title still works")
    #expect(try f.done("dm-list", ["--text"], as: "bob").stdout.contains("  +c  "))
  }

  @Test func `an own name is private and appears only in the events of the user who gave it`() throws {
    let f = try fixture()
    let id = try group(f, "ops", by: "alice", with: "bob")
    let cursors = try ["alice", "bob"].map { user in
      try #require(try f.done("dm-tail", ["--cursor", "now"], as: user).record["cursor"]?.string)
    }
    try f.done("dm-conversation", ["name", "+ops", "mine"], as: "bob")
    let received = try zip(["alice", "bob"], cursors).map { user, cursor in
      try f.done("dm-tail", ["--cursor", cursor, "--events", "all"], as: user).records.compactMap {
        $0["type"]?.string == "conversation_updated" ? $0["own_name"]?.string ?? "-" : nil
      }
    }
    #expect(received == [[], ["mine"]])
    #expect(try f.done("dm-conversation", ["show", id], as: "alice").record["own_name"] == nil)
    #expect(try f.run("dm-conversation", ["show", "+mine"], as: "alice").status == .exit(66))
    #expect(try f.done("dm-doctor", ["check", "--deep"], as: "bob").status == .exit(0))
  }

  @Test func `an empty own name removes the name, and setting the same name again changes nothing`() throws {
    let f = try fixture()
    let id = try group(f, "ops", by: "alice")
    try f.done("dm-conversation", ["name", "+ops", "mine"], as: "alice")
    #expect(try f.done("dm-conversation", ["name", "+ops", "mine"], as: "alice").output.isEmpty)
    let cleared = try f.done("dm-conversation", ["name", "+mine", ""], as: "alice").record
    #expect(cleared["own_name"] == nil && cleared["id"]?.string == id)
    #expect(try f.done("dm-conversation", ["name", "+ops", ""], as: "alice").output.isEmpty)
    #expect(try f.run("dm-conversation", ["show", "+mine"], as: "alice").status == .exit(66))
  }

  @Test func `an own name is unique for its user, and another user may use the same`() throws {
    let f = try fixture()
    let ids = try ["one", "two"].map { try group(f, $0, by: "alice", with: "bob") }
    try f.done("dm-conversation", ["name", ids[0], "x"], as: "alice")
    try f.done("dm-conversation", ["name", ids[1], "x"], as: "bob")
    let refused = try f.run("dm-conversation", ["name", "+two", "x"], as: "alice")
    #expect(refused.status == .exit(73))
    #expect(refused.stderr.contains("'x'") && refused.stderr.contains("'one'"), "\(refused.stderr)")
    for bad in ["a\nb", String(repeating: "x", count: 257)] {
      #expect(try f.run("dm-conversation", ["name", "+two", bad], as: "alice").status == .exit(65))
    }
  }

  @Test func `an own name still refers to its group if another group gets that title, even for a former member`() throws
  {
    let f = try fixture()
    let first = try group(f, "ops", by: "alice", with: "bob")
    try f.done("dm-conversation", ["name", "+ops", "ops"], as: "bob")
    _ = try group(f, "ops", by: "carol", with: "bob")
    #expect(try f.done("dm-send", ["+ops", "alert"], as: "bob").record["conversation_id"]?.string == first)
    try f.done("dm-conversation", ["title", first, "old"], as: "alice")
    #expect(try f.done("dm-send", ["+ops", "alert"], as: "bob").record["conversation_id"]?.string == first)
    try f.done("dm-conversation", ["remove", first, "bob"], as: "alice")
    #expect(
      try f.run("dm-send", ["+ops", "alert"], as: "bob").status == .exit(77),
      "the message must not go to the other group")
    #expect(try f.done("dm-tail", ["+ops", "-n", "2"], as: "bob").records[0]["text"]?.string == "alert")
  }

  @Test func `the error for an ambiguous title lists the id, the members and the last activity of each group`() throws {
    let f = try fixture()
    let ids = [try group(f, "ops", by: "alice", with: "bob"), try group(f, "ops", by: "carol", with: "bob")]
    let refused = try f.run("dm-send", ["+ops", "alert"], as: "bob")
    #expect(refused.status == .exit(66))
    for part in ids + ["(alice, bob; last active 20", "(bob, carol; last active 20", "dm-conversation name"] {
      #expect(refused.stderr.contains(part), "\(refused.stderr)")
    }
    for _ in 1...5 { _ = try group(f, "ops", by: "carol", with: "bob") }
    let many = try f.run("dm-send", ["+ops", "alert"], as: "bob").stderr
    #expect(many.contains("7 groups") && many.components(separatedBy: "last active").count == 4, "\(many)")
  }

  @Test func `create --if-absent finds the group with that title, or else creates it`() throws {
    let f = try fixture()
    let create = ["create", "--title", "ops", "--if-absent"]
    let first = try f.done("dm-conversation", create + ["bob"], as: "alice").record
    let again = try f.done("dm-conversation", create + ["bob"], as: "alice").record
    #expect(first["id"] != nil && again["id"] == first["id"])
    #expect(try f.done("dm-list", as: "alice").records.count == 1)
    _ = try group(f, "ops", by: "alice")
    #expect(try f.run("dm-conversation", create, as: "alice").status == .exit(66), "two groups have this title")
    try f.done("dm-conversation", ["leave", "+ops"], as: "bob")
    let own = try f.done("dm-conversation", create, as: "bob").record
    #expect(own["id"] != first["id"] && own["my_role"]?.string == "owner", "a group that was left does not count")
  }

  @Test func `create --if-absent fails if another user created the group with the title, or it lacks a given member`()
    throws
  {
    let f = try fixture()
    let theirs = try group(f, "ops", by: "carol", with: "alice", "bob")
    let create = ["create", "--title", "ops", "--if-absent", "bob"]
    let refused = try f.run("dm-conversation", create, as: "alice")
    #expect(refused.status == .exit(73) && refused.stderr.contains(theirs), "\(refused.stderr)")
    let mine = try f.done("dm-conversation", ["create", "--title", "ops", "carol"], as: "alice").record
    #expect(try f.run("dm-conversation", create, as: "alice").status == .exit(73), "bob is not in it")
    try f.done("dm-conversation", ["add", "-q", #require(mine["id"]?.string), "bob"], as: "alice")
    #expect(
      try f.done("dm-conversation", create, as: "alice").record["id"] == mine["id"], "carol's group does not count")
    // Another user may leave a group so that this user becomes its owner, or import a group with this user as its
    // creator.
    let left = try group(f, "rel", by: "carol", with: "alice", "bob")
    try f.done("dm-conversation", ["leave", left], as: "carol")
    let rel = ["create", "--title", "rel", "--if-absent", "bob"]
    #expect(try f.run("dm-conversation", rel, as: "alice").status == .exit(73))
    let line =
      #"{"type":"conversation","id":"00000000-0000-4000-8000-0000000000ac","is_group":true,"title":"imported","#
      + #""creator":"alice","participants":["alice","bob","carol"]}"#
    try f.done("dm-import", as: "carol", stdin: Input(lines: [line]))
    let imported = ["create", "--title", "imported", "--if-absent", "bob"]
    #expect(try f.run("dm-conversation", imported, as: "alice").status == .exit(73))
    // A group to which the user has given an own name counts, even if another user created it.
    try f.done("dm-conversation", ["name", theirs, "watch"], as: "alice")
    let named = ["create", "--title", "watch", "--if-absent"]
    #expect(try f.done("dm-conversation", named, as: "alice").record["id"]?.string == theirs)
    let own = try group(f, "alone", by: "alice")
    try f.done("dm-conversation", ["name", own, "solo"], as: "alice")
    let solo = ["create", "--title", "solo", "--if-absent", "bob"]
    #expect(try f.run("dm-conversation", solo, as: "alice").status == .exit(73), "bob is not in it")
  }

  @Test func `create with several users and no title makes a group, and --if-absent finds it again`()
    throws
  {
    let f = try fixture()
    let group = try f.done("dm-conversation", ["create", "bob", "carol"], as: "alice").record
    #expect(group["is_group"]?.bool == true && group["title"] == nil)
    _ = try f.done("dm-conversation", ["create", "--title", "ops", "bob", "carol"], as: "alice")
    let found = try f.done("dm-conversation", ["create", "alice", "carol", "--if-absent"], as: "bob").record
    #expect(found["id"] == group["id"])
    let other = try f.done("dm-conversation", ["create", "bob", "alice", "bob", "--if-absent"], as: "alice").record
    #expect(other["is_group"]?.bool == false, "two people have a direct conversation")
    let announced = try f.done("dm-tail", [#require(group["id"]?.string), "--text"], as: "bob").stdout
    #expect(announced.contains("created the group --"), "\(announced)")
    try f.done("dm-conversation", ["create", "bob", "carol"], as: "alice")
    #expect(try f.run("dm-conversation", ["create", "bob", "carol", "--if-absent"], as: "alice").status == .exit(66))
  }

  @Test func `dm-user add --if-absent prints the existing user and changes nothing`() throws {
    let f = try fixture()
    let before = try f.done("dm-user", ["add", "--if-absent", "dave", "--bio", "new"], as: "alice").record
    #expect(before["bio"]?.string == "new")
    let after = try f.done("dm-user", ["add", "dave", "--if-absent", "--bio", "other"], as: "alice").record
    #expect(after == before)
    #expect(try f.run("dm-user", ["add", "dave"], as: "alice").status == .exit(73))
  }
}
