import Glibc
import JSONSupport
import Testing

@testable import TestSupport

/// Two machines of one person.
struct OwnMachinesTests {
  @Test func `pins, mutes, names, read marks and drafts are the same on both machines of a person`() throws {
    let hub = try HubFixture()
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    let second = try hub.machine("bob")
    for text in ["one", "two", "three"] { try alice.done("dm-send", ["bob", text]) }
    for machine in [alice, bob, second] { try machine.sync() }
    try bob.done("dm-conversation", ["pin", "alice"])
    try bob.done("dm-conversation", ["mute", "alice"])
    try bob.done("dm-conversation", ["name", "alice", "work"])
    try bob.done("dm-conversation", ["draft", "alice", "half a sentence"])
    try bob.done("dm-read", ["--private", "alice", "2"])
    try bob.sync()
    try second.sync()
    let listed = try second.done("dm-list", ["--json"]).record
    #expect(listed["is_pinned"]?.bool == true && listed["is_muted"]?.bool == true)
    #expect(listed["own_name"]?.string == "work" && listed["draft_text"]?.string == "half a sentence")
    #expect(listed["unread_count"]?.int == 2)
    try second.done("dm-user", ["block", "alice"])
    try second.sync()
    try bob.sync()
    #expect(try bob.done("dm-user", ["blocked"]).record["handle"]?.string == "alice")
    for machine in [bob, second] { try machine.done("dm-doctor", ["check", "--deep"]) }
  }

  @Test func `a change starts the sync process, and a follower on the other machine shows it`() throws {
    let hub = try HubFixture()
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    let second = try hub.machine("bob")
    try alice.done("dm-send", ["bob", "hello"])
    for machine in [alice, bob, second] { try machine.sync() }
    let carriers = [Carriers(bob), Carriers(second)]
    for machine in [bob, second] { machine.set("DM_SYNC", nil) }
    let follower = try LiveProcess(second, "dm-list", ["-f", "--json"], stdin: .null)
    _ = try follower.line()
    try bob.done("dm-conversation", ["pin", "alice"])
    var line = try follower.line()
    while let next = line, !next.contains("\"is_pinned\":true") { line = try follower.line() }
    #expect(line != nil)
    follower.process.send(SIGTERM)
    for carrier in carriers { try carrier.end() }
  }

  @Test func `a machine that joins or synchronizes once leaves no process behind`() throws {
    let hub = try HubFixture()
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    let second = try ToolFixture()
    let carriers = Carriers(second)
    try second.done("dm-sync", ["join"], stdin: .bytes(Array((hub.invite("bob") + "\n").utf8)))
    try alice.done("dm-send", ["bob", "hello"])
    try alice.sync()
    try bob.sync()
    try bob.done("dm-conversation", ["pin", "alice"])
    try bob.sync()
    try second.sync()
    #expect(carriers.processes.isEmpty)
    second.set("DM_SYNC", "off")
    #expect(try second.done("dm-list", ["--json"]).record["is_pinned"]?.bool == true)
  }

  @Test func `a person can list their machines and revoke a lost one, but no machine of others`() throws {
    let hub = try HubFixture()
    let (alice, first, second) = (try hub.machine("alice"), try hub.machine("bob"), try hub.machine("bob"))
    let machines = try first.done("dm-sync", ["machines"]).records
    #expect(machines.map { $0["is_this"]?.bool } == [true, false])
    let lost = try #require(machines.last?["id"]?.string)
    let other = try #require(alice.done("dm-sync", ["machines"]).record["id"]?.string)
    for (word, reason) in [
      (other, "you have no machine '\(other)'"), ("x", "you have no machine 'x'"),
      (machines[0]["label"]?.string ?? "", "2 of your machines are called"),
    ] {
      let refused = try first.run("dm-sync", ["revoke", word])
      #expect(refused.status == .exit(65) && refused.stderr.contains(reason), "\(refused.stderr)")
    }
    let own = try first.run("dm-sync", ["revoke", machines[0]["id"]?.string ?? ""])
    #expect(own.status == .exit(77) && own.stderr.contains("'dm-sync leave'"), "\(own.stderr)")
    let follower = try LiveProcess(second, "dm-sync", ["-f"], stdin: .null)
    while let line = try follower.line(), !line.contains("\"live\"") {}
    try first.done("dm-sync", ["network", "offline"])
    #expect(try first.run("dm-sync", ["machines"]).status == .exit(69))
    try first.done("dm-sync", ["network", "normal"])
    #expect(try first.done("dm-sync", ["revoke", String(lost.prefix(8))]).record["is_connected"]?.bool == true)
    while let line = try follower.line(), !line.contains("\"refused\"") {}
    follower.process.send(SIGTERM)
    #expect(try second.run("dm-sync").status == .exit(77))
    #expect(try first.done("dm-sync", ["machines"]).records.count == 1)
    #expect(try hub.hub(["check"]).output.isEmpty)
    try hub.hub(["invite", "carol"])
    #expect(try hub.hub(["check"]).output.isEmpty)
    try first.done("dm-send", ["alice", "still here"])
    try first.sync()
  }

  @Test func `two stores with the same login are reported, and a new invitation gives the copy its own login`()
    throws
  {
    let hub = try HubFixture()
    let alice = try hub.machine("alice")
    for _ in 1...2 { try alice.sync() }
    let copy = try ToolFixture()
    copy.set("DM_SYNC", "off")
    try alice.done("cp", ["-a", alice.store, copy.store])
    for machine in [copy, alice] {
      let fault = try machine.sync().record["fault"]?.string ?? ""
      // The hub accepts the store that connects first, which is the copy.
      #expect(fault.hasPrefix("another store uses the login of this machine") == (machine === alice), "\(fault)")
    }
    let status = try copy.sync().record
    #expect(status["fault"]?.string != nil && status["color"]?.string == "yellow")
    #expect(try alice.done("dm-sync", ["machines"]).records.count == 1)
    try copy.done("dm-sync", ["join", hub.invite("alice")])
    for machine in [copy, alice, copy] { try machine.sync() }
    #expect(try copy.sync().record["fault"] == nil)
    #expect(try alice.done("dm-sync", ["machines"]).records.count == 2)
  }

  @Test func `after a restore of the hub or a restart of its server, no store is reported as a copy`() throws {
    let hub = try HubFixture(PostgresServer())
    let alice = try hub.machine("alice")
    for _ in 1...2 { try alice.sync() }
    let dump = alice.directory + "/dump"
    try alice.done("pg_dump", ["-Fc", "-f", dump, "-d", hub.database])
    for _ in 1...2 { #expect(try alice.sync().record["fault"] == nil) }
    try hub.server.restart()
    for _ in 1...2 { #expect(try alice.sync().record["fault"] == nil) }
    try hub.restore(from: dump, with: alice)
    for _ in 1...2 { #expect(try alice.sync().record["fault"] == nil) }
  }
}
