import Glibc
import JSONSupport
import Testing

@testable import TestSupport

/// A standby that takes over from the server of a hub.
struct HubPromotionTests {
  @Test func `a promoted standby that lacks the last messages gets each of them again once`() throws {
    let hub = try HubFixture(PostgresServer())
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    try alice.done("dm-send", ["bob", "one"])
    for machine in [alice, bob] { try machine.sync() }
    let standby = try PostgresServer(standbyOf: hub.server)
    let database = standby.administrator(of: String(PostgresServer.name(of: hub.database)))
    func wait(until condition: String) throws {
      try Torture.wait(until: condition) { try standby.psql(database, "SELECT \(condition)") == "t\n" }
    }
    // The three entries are the beginning of the conversation, the message, and its delivery.
    try wait(until: "count(*) = 3 FROM dm.entry")
    try standby.psql(database, "ALTER SYSTEM SET primary_conninfo = ''")
    try standby.psql(database, "SELECT pg_reload_conf()")
    try wait(until: "count(*) = 0 FROM pg_stat_wal_receiver")
    // From here on, the standby gets no changes.
    try bob.done("dm-send", ["alice", "two"])
    for machine in [bob, alice] { try machine.sync() }
    #expect(try alice.texts("bob") == ["1 one", "2 two"])
    for machine in [alice, bob] { try machine.redirect(to: standby.port) }
    try alice.done("dm-send", ["bob", "three"])
    for machine in [alice, bob] { try machine.sync() }
    let waiting = try alice.done("dm-sync", ["status"]).record
    #expect(waiting["queued_count"]?.int == 1)
    #expect(waiting["fault"]?.string?.contains("standby") == true, "\(waiting)")
    #expect(try alice.texts("bob") == ["1 one", "2 two", "- three"])
    let follower = try LiveProcess(bob, "dm-sync", ["-f"], stdin: .null)
    var status = try follower.record()
    while status["state"]?.string != "live" { status = try follower.record() }
    #expect(status["color"]?.string == "yellow")
    try standby.psql(database, "SELECT pg_promote()")
    // The sync process that runs connects again, because only a new connection shows that the standby is a primary.
    #expect(try bob.sync().record["color"]?.string == "green")
    follower.process.send(SIGKILL)
    _ = follower.process.wait(seconds: 10)
    for machine in [alice, bob, alice, bob] { try machine.sync() }
    #expect(Set(try alice.texts("bob").map { $0.dropFirst(2) }) == ["one", "two", "three"])
    #expect(try alice.texts("bob").first == "1 one" && alice.texts("bob").count == 3)
    #expect(try alice.texts("bob") == bob.texts("alice"))
    for machine in [alice, bob] {
      #expect(try machine.done("dm-sync", ["status"]).record["queued_count"]?.int == 0)
      try machine.done("dm-doctor", ["check", "--deep"])
    }
  }

  @Test func `a machine finds the primary among several hosts, also after a host that never answers`() throws {
    let hub = try HubFixture(PostgresServer())
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    try alice.done("dm-send", ["bob", "one"])
    for machine in [alice, bob] { try machine.sync() }
    let standby = try PostgresServer(standbyOf: hub.server)
    // The kernel accepts connections to this port, but no program answers.
    let (dark, port) = try PostgresServer.boundSocket()
    defer { close(dark) }
    #expect(listen(dark, 16) == 0)
    for machine in [alice, bob] {
      try machine.changeCredentials { name, value in
        name == "host"
          ? "127.0.0.1,127.0.0.1,127.0.0.1"
          : name == "port" ? "\(port),\(standby.port),\(hub.server.port)" : value
      }
    }
    try alice.done("dm-send", ["bob", "two"])
    for machine in [alice, bob] { try machine.sync() }
    #expect(try bob.texts("alice") == ["1 one", "2 two"])
    // Without a primary, the standby can be read.
    let none = try PostgresServer.freePort()
    try bob.changeCredentials { $0 == "port" ? "\(port),\(standby.port),\(none)" : $1 }
    try bob.done("dm-send", ["alice", "three"])
    #expect(try bob.sync().record["fault"]?.string?.contains("standby") == true)
  }
}
