import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// The programs on stores that are linked to a hub.
struct LinkedProgramTests {
  @Test func `a message waits without a number, gets one from the hub, and reaches the other machine`() throws {
    let hub = try HubFixture()
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    let sent = try alice.done("dm-send", ["bob", "hello"]).record
    #expect(sent["status"]?.string == "sending" && sent["seq"] == nil)
    #expect(sent["ref"]?.string == "dm:\(sent["id"]?.string ?? "")")
    #expect(try alice.done("dm-send", ["--text", "bob", "again"]).stdout.hasSuffix(" (queued)\n"))
    #expect(try alice.texts("bob") == ["- hello", "- again"])
    #expect(try alice.done("dm-list").record["last_message"]?["text"]?.string == "again")
    let pending = try alice.done("dm-sync", ["pending"]).records
    #expect(pending.compactMap { $0["act"]?.string } == ["begin", "say", "say"])
    #expect(pending.compactMap { $0["text"]?.string } == ["hello", "again"])
    try alice.sync()
    try bob.sync()
    #expect(try alice.texts("bob") == ["1 hello", "2 again"])
    #expect(try bob.texts("alice") == ["1 hello", "2 again"])
    #expect(try bob.done("dm-list", ["--unread"]).record["unread_count"]?.int == 2)
    #expect(try alice.done("dm-sync", ["pending"]).records.isEmpty)
    for machine in [alice, bob] { try machine.done("dm-doctor", ["check", "--deep"]) }
  }

  @Test func `delivery and read receipts of one machine are seen on the other`() throws {
    let hub = try HubFixture()
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    try alice.done("dm-send", ["bob", "hello"])
    func status() throws -> String? {
      try alice.sync()
      return try alice.done("dm-tail", ["--peek", "-n", "1", "bob"]).record["status"]?.string
    }
    #expect(try status() == "sent")
    // Bob's machine has the message; nothing has printed it yet.
    try bob.sync()
    #expect(try status() == "delivered")
    try bob.done("dm-user", ["block", "alice"])
    try alice.done("dm-send", ["bob", "again"])
    try alice.sync()
    try bob.sync()
    #expect(try status() == "sent")
    try bob.done("dm-user", ["unblock", "alice"])
    try bob.done("dm-read", ["alice", "--all"])
    try bob.sync()
    #expect(try status() == "read")
    #expect(try bob.done("dm-list").record["unread_count"]?.int == 0)
  }

  @Test func `groups have the same announcements, members and titles on all machines`() throws {
    let hub = try HubFixture()
    let machines = try ["alice", "bob", "carol"].map { try hub.machine($0) }
    let (alice, bob, carol) = (machines[0], machines[1], machines[2])
    // Carol joined after the others had been compared with the hub, so all are compared again.
    for machine in machines { try machine.sync() }
    try alice.done("dm-conversation", ["create", "--title", "ops", "bob"])
    try alice.done("dm-send", ["+ops", "before"])
    try alice.sync()
    let queued = try alice.done("dm-conversation", ["add", "+ops", "carol"])
    #expect(queued.stderr.contains("queued"))
    try alice.sync()
    try alice.done("dm-conversation", ["title", "+ops", "opera"])
    try alice.done("dm-send", ["+ops", "after"])
    for machine in machines + machines { try machine.sync() }
    let all = ["1 conversation_created", "2 before", "3 user_joined", "4 title_changed", "5 after"]
    #expect(try alice.texts("+opera") == all && bob.texts("+opera") == all)
    #expect(try carol.texts("+opera") == ["3 user_joined", "4 title_changed", "5 after"])
    try bob.done("dm-conversation", ["leave", "+opera"])
    for machine in machines + machines { try machine.sync() }
    let participants = try carol.done("dm-conversation", ["show", "+opera"]).record["participants"]
    #expect(Set(participants?.array.compactMap(\.string) ?? []) == ["alice", "carol"])
    for machine in machines { try machine.done("dm-doctor", ["check", "--deep"]) }
  }

  @Test func `an operation that the hub refuses counts as failed, and can be listed, retried and given up`() throws {
    let hub = try HubFixture()
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    for machine in [alice, bob] { try machine.sync() }
    try alice.done("dm-conversation", ["create", "--title", "ops", "bob"])
    try alice.sync()
    try bob.sync()
    try alice.done("dm-conversation", ["remove", "+ops", "bob"])
    try alice.sync()
    // Bob's machine does not know yet that Bob was removed.
    let id = try #require(bob.done("dm-send", ["+ops", "too late"]).record["id"]?.string)
    try bob.sync()
    #expect(try bob.done("dm-sync", ["status"]).record["failed_count"]?.int == 1)
    let failed = try #require(bob.done("dm-sync", ["pending"]).records.first { $0["act"]?.string == "say" })
    #expect(failed["state"]?.string == "failed" && failed["failure"]?.string == "not_allowed")
    let message = try #require(bob.done("dm-tail", ["--peek", "+ops"]).records.last)
    #expect(message["status"]?.string == "failed" && message["failure"]?.string == "not_allowed")
    try bob.done("dm-sync", ["retry", id])
    #expect(try bob.done("dm-sync", ["status"]).record["failed_count"]?.int == 0)
    try bob.sync()
    #expect(try bob.run("dm-sync", ["drop", "4711"]).status == .exit(66))
    try bob.done("dm-sync", ["drop", id])
    #expect(try bob.done("dm-sync", ["pending"]).records.isEmpty)
    #expect(try !bob.texts("+ops").contains { $0.contains("too late") })
    for machine in [alice, bob] { try machine.done("dm-doctor", ["check", "--deep"]) }
  }

  @Test func `edits, reactions and deletions are synced, and edits of other users' messages are refused`() throws {
    let hub = try HubFixture()
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    for text in ["one", "two", "three"] { try alice.done("dm-send", ["bob", text]) }
    try alice.sync()
    try bob.sync()
    try alice.done("dm-edit", ["text", "bob:1", "first"])
    try alice.done("dm-edit", ["delete", "--for-everyone", "bob:2"])
    try bob.done("dm-edit", ["react", "👍", "alice:3"])
    #expect(try bob.run("dm-edit", ["text", "alice:3", "mine"]).status == .exit(77))
    for machine in [alice, bob, alice] { try machine.sync() }
    #expect(try bob.texts("alice") == ["1 first", "3 three"])
    let reacted = try #require(alice.done("dm-tail", ["--peek", "bob"]).records.last)
    #expect(reacted["reactions"]?.array.first?["users"]?.array.compactMap(\.string) == ["bob"])
  }

  @Test func `a store on a hub has one user, and refuses imports and new users`() throws {
    let alice = try HubFixture().machine("alice")
    for (program, words) in [
      ("dm-send", ["--as", "eve", "alice", "hello"]), ("dm-user", ["add", "eve"]),
    ] {
      #expect(try alice.run(program, words).status == .exit(77), "\(program) \(words)")
    }
    let line = #"{"conversation":"+irc","sender":"eve","text":"hi","created_at":"2020-01-01T10:00:00Z"}"# + "\n"
    #expect(try alice.run("dm-import", stdin: .bytes(Array(line.utf8))).status == .exit(77))
    #expect(try ToolFixture.filled().run("dm-sync", as: "alice").status == .exit(66))
  }

  @Test func `a store with messages cannot join a hub, and the invitation stays valid`() throws {
    let hub = try HubFixture()
    let token = try hub.invite("alice")
    let used = try ToolFixture.filled()
    let refused = try used.run("dm-sync", ["join", token], as: "alice")
    #expect(refused.status == .exit(73), "\(refused.stderr)")
    let machine = try ToolFixture()
    machine.set("DM_SYNC", "off")
    #expect(try machine.done("dm-sync", ["join", token]).record["user"]?.string == "alice")
    // The invitation can be used only once.
    let other = try ToolFixture()
    #expect(try other.run("dm-sync", ["join", token]).status == .exit(77))
    #expect(try other.run("dm-sync", ["join", "dm1:nonsense"]).status == .exit(65))
    #expect(try ToolFixture().run("dm-sync", ["join"], stdin: .bytes([])).status == .exit(64))
  }
}
