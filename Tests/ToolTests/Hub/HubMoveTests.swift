import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// A hub that moves to another server or is restored, and a person who is erased.
struct HubMoveTests {
  /// Copies a hub with its logins to another server, as dm-hub(8) shows it.
  private func copy(_ hub: HubFixture, to server: PostgresServer, with tools: ToolFixture) throws -> String {
    let name = PostgresServer.name(of: hub.database)
    let target = server.administrator(of: String(name))
    let (roles, dump) = ("\(tools.directory)/roles.sql", "\(tools.directory)/messages.dump")
    try tools.done("\(hub.server.binaries)/pg_dumpall", ["--roles-only", "-d", hub.database, "-f", roles])
    try tools.done("\(hub.server.binaries)/pg_dump", ["-Fc", "-f", dump, "-d", hub.database])
    _ = try tools.run("\(server.binaries)/psql", ["-qX", "-d", server.administrator(of: "postgres"), "-f", roles])
    try server.psql("postgres", "CREATE DATABASE \(name)")
    try tools.done("\(server.binaries)/pg_restore", ["-d", target, dump])
    return target
  }

  private func state(of machine: ToolFixture) throws -> JSON { try machine.done("dm-sync", ["status"]).record }

  @Test func `members follow a hub to another server by themselves, and nothing is lost or doubled`() throws {
    let hub = try HubFixture(PostgresServer())
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    try alice.done("dm-send", ["bob", "one"])
    for machine in [alice, bob] { try machine.sync() }
    // This connection is open when the hub moves.
    let follower = try LiveProcess(bob, "dm-sync", ["-f"], stdin: .null)
    while try follower.record()["state"]?.string != "live" {}
    let new = try PostgresServer()
    let moved = try hub.hub(["move", "127.0.0.1:\(new.port)"]).record
    #expect(moved["moved_to"]?.string == "127.0.0.1:\(new.port)")
    // The follower may connect once more, to get the address, while the move is answered.
    try Torture.wait(until: "the follower has left the old server") {
      try hub.hub(["status"]).record["connection_count"]?.int == 0
    }
    // The old server accepts nothing more, and the hub is not on the new server yet.
    try alice.done("dm-send", ["bob", "two"])
    let unreachable = try alice.run("dm-sync")
    #expect(unreachable.status == .exit(69) && unreachable.stderr.contains("it moves to '127.0.0.1:"))
    #expect(try state(of: alice)["queued_count"]?.int == 1)
    #expect(try hub.sql("SELECT count(*) FROM dm.entry WHERE kind = 0") == "1\n")
    let pushed = try alice.run("psql", ["-X", "-d", alice.connection(), "-c", "SELECT dm1.push('[]')"])
    #expect(pushed.stderr.contains("the hub was moved"), "\(pushed.stderr)")
    for words in [["invite", "carol"], ["revoke", "bob"], ["forget", "bob", "--force"], ["limit", "say=1"]] {
      let refused = try hub.run(words)
      #expect(refused.status == .exit(66) && refused.stderr.contains("moved to"), "\(words): \(refused.stderr)")
    }
    // The move goes on after VACUUM FULL, which gives a table new files, and after another connection.
    try hub.sql("VACUUM FULL dm.conversation")
    #expect(try alice.run("dm-sync").status == .exit(69))

    let there = try HubFixture(new, ["--public", "127.0.0.1:\(new.port)"], in: copy(hub, to: new, with: alice))
    #expect(try there.hub(["check"]).records.allSatisfy { $0["is_note"]?.bool == true })
    #expect(try there.hub(["status"]).record["moved_to"] == nil)
    try alice.sync()
    while try follower.record()["state"]?.string != "live" {}
    while try bob.texts("alice").count < 2 { _ = try follower.record() }
    #expect(try bob.texts("alice") == ["1 one", "2 two"] && alice.texts("bob") == ["1 one", "2 two"])
    for machine in [alice, bob] {
      #expect(try machine.credentials("port") == "\(new.port)" && machine.credentials("host") == "127.0.0.1")
      #expect(!FileManager.default.fileExists(atPath: "\(machine.store)/hub.moved"))
      try machine.done("dm-doctor", ["check", "--deep"])
    }
    follower.process.send(SIGKILL)
  }

  @Test func `members do not follow a move to a different hub that has the same logins`() throws {
    let hub = try HubFixture(PostgresServer())
    let alice = try hub.machine("alice")
    let new = try PostgresServer()
    let there = try HubFixture(new, in: copy(hub, to: new, with: alice))
    try there.sql("UPDATE dm.hub SET uuid = gen_random_uuid()")
    try hub.hub(["move", "127.0.0.1:\(new.port)"])
    let refused = try alice.run("dm-sync")
    #expect(refused.status == .exit(69) && refused.stderr.contains("another hub is there"), "\(refused.stderr)")
    #expect(try alice.credentials("port") == "\(hub.server.port)")
  }

  @Test func `a machine that missed two moves finds the hub`() throws {
    let hub = try HubFixture(PostgresServer())
    let alice = try hub.machine("alice")
    var (last, servers) = (hub, [hub.server])
    for _ in 1...2 {
      let new = try PostgresServer()
      try last.hub(["move", "127.0.0.1:\(new.port)"])
      let target = try copy(last, to: new, with: alice)
      // The servers of a test run are copies of one folder, so they look like the same server.
      last = try HubFixture(new, ["--public", "127.0.0.1:\(new.port)"], in: target)
      servers.append(new)
    }
    try alice.done("dm-send", ["alice", "a note"])
    try alice.sync()
    #expect(try alice.credentials("port") == "\(servers[2].port)")
    for wrong in ["a:1,b:2", "[::1]x2", "hub:1:2"] {
      #expect(try last.run(["move", wrong]).status == .exit(65), "\(wrong)")
    }
  }

  @Test func `members stay at the old server when a move is cancelled`() throws {
    let hub = try HubFixture(PostgresServer())
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    let port = try PostgresServer.freePort()
    try hub.hub(["move", "127.0.0.1:\(port)"])
    try alice.done("dm-send", ["bob", "hello"])
    #expect(try alice.run("dm-sync").status == .exit(69))
    #expect(FileManager.default.fileExists(atPath: "\(alice.store)/hub.moved"))
    try hub.hub(["move", "--cancel"])
    for machine in [alice, bob] { try machine.sync() }
    #expect(try bob.texts("alice") == ["1 hello"])
    #expect(!FileManager.default.fileExists(atPath: "\(alice.store)/hub.moved"))
    #expect(try alice.credentials("port") == "\(hub.server.port)")
  }

  @Test func `a member whose hub has a new address reaches it with dm-sync move, which refuses another hub`() throws {
    let hub = try HubFixture(PostgresServer())
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    try alice.done("dm-send", ["bob", "one"])
    for machine in [alice, bob] { try machine.sync() }
    let new = try PostgresServer()
    let there = try HubFixture(new, in: copy(hub, to: new, with: alice))
    for machine in [alice, bob] { try machine.redirect(to: PostgresServer.freePort()) }
    try alice.done("dm-send", ["bob", "two"])
    let other = try PostgresServer()
    try HubFixture(other, in: copy(hub, to: other, with: alice)).sql("UPDATE dm.hub SET uuid = gen_random_uuid()")
    let foreign = try alice.run("dm-sync", ["move", "127.0.0.1:\(other.port)"])
    #expect(foreign.status == .exit(69) && foreign.stderr.contains("another hub is there"), "\(foreign.stderr)")
    #expect(try alice.credentials("port") != "\(other.port)")
    let nobody = try alice.run("dm-sync", ["move", "127.0.0.1:\(PostgresServer.freePort())"])
    #expect(nobody.status == .exit(69), "\(nobody.stderr)")
    for machine in [alice, bob] {
      let moved = try machine.done("dm-sync", ["move", "127.0.0.1:\(new.port)"]).record
      #expect(moved["color"]?.string == "green", "\(moved)")
    }
    #expect(try bob.texts("alice") == ["1 one", "2 two"])
    #expect(try there.hub(["check"]).records.allSatisfy { $0["is_note"]?.bool == true })
    #expect(try alice.run("dm-sync", ["move"]).status == .exit(64))
  }

  @Test func `the messages of a forgotten person are erased in all stores, and their handle is not reused`() throws {
    let hub = try HubFixture()
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    try alice.done("dm-user", ["set", "--display-name", "Alice A."])
    try alice.done("dm-conversation", ["create", "--title", "ops", "bob"])
    for text in ["one", "two"] { try alice.done("dm-send", ["+ops", text]) }
    try alice.done("dm-send", ["bob", "private"])
    try alice.sync()
    try bob.sync()
    try bob.done("dm-send", ["alice", "an answer"])
    try bob.done("dm-send", ["+ops", "mine"])
    try bob.done("dm-edit", ["report", "alice:1", "--reason", "rude"])
    for machine in [bob, alice] { try machine.sync() }
    try alice.done("dm-edit", ["react", "👍", "bob:2"])
    for machine in [alice, bob] { try machine.sync() }
    #expect(try bob.done("dm-tail", ["alice", "2", "--peek"]).record["reactions"] != nil)
    #expect(try hub.run(["forget", "alice"]).status == .exit(64))
    let (keptText, sizeText) = (
      try hub.sql("SELECT kept FROM dm.person WHERE handle = 'bob'"),
      try hub.sql("SELECT sum(octet_length(payload)) FROM dm.report")
    )
    let kept = try #require(Int(keptText.dropLast()))
    let size = try #require(Int(sizeText.dropLast()))
    let erased = try hub.hub(["forget", "alice", "--force"]).record
    #expect(erased["message_count"]?.int == 3 && erased["group_count"]?.int == 1, "\(erased)")
    try bob.sync()
    #expect(try bob.texts("alice") == ["2 an answer"])
    #expect(try bob.texts("+ops") == ["1 conversation_created", "4 mine", "5 user_left"])
    let answer = try bob.done("dm-tail", ["alice", "2", "--peek"]).record
    #expect(answer["reactions"] == nil, "\(answer)")
    #expect(try !bob.done("dm-user", ["show", "alice"]).stdout.contains("Alice A."))
    let report = try hub.hub(["reports"]).record
    #expect(report["text"] == nil && report["sender"]?.string == "alice")
    #expect(try hub.sql("SELECT kept FROM dm.person WHERE handle = 'bob'") == "\(kept - size)\n")
    #expect(
      try hub.sql(
        "SELECT count(*) FROM dm.entry e JOIN dm.person p ON p.id = e.actor "
          + "WHERE p.handle = 'alice' AND e.kind IN (0, 16, 18) AND e.payload IS NOT NULL") == "0\n")
    #expect(try alice.run("dm-sync").status == .exit(77))
    let again = try hub.run(["invite", "alice"])
    #expect(again.status == .exit(73) && again.stderr.contains("forgotten"), "\(again.stderr)")
    // Forgetting the person again changes nothing.
    #expect(try hub.hub(["forget", "alice", "--force"]).record["message_count"]?.int == 0)
    #expect(try hub.run(["forget", "nobody", "--force"]).status == .exit(67))
    try hub.hub(["check"])
    try bob.done("dm-doctor", ["check", "--deep"])
  }

  @Test func `after a restore, the login of a person who was invited after the dump is found and can be revoked`()
    throws
  {
    let hub = try HubFixture(PostgresServer())
    _ = try hub.machine("alice")
    let tools = try ToolFixture()
    let dump = "\(tools.directory)/dump"
    try tools.done("pg_dump", ["-Fc", "-f", dump, "-d", hub.database])
    let carol = try hub.machine("carol")
    let login = try carol.credentials("user")
    try hub.restore(from: dump, with: tools)
    let found = try hub.run(["check"])
    #expect(found.status == .exit(78) && found.stdout.contains("'\(login)'"), "\(found.stdout)")
    try hub.hub(["revoke", login])
    #expect(try hub.hub(["check"]).output.isEmpty)
    #expect(try hub.sql("SELECT count(*) FROM pg_roles WHERE rolname = '\(login)'") == "0\n")
  }
}
