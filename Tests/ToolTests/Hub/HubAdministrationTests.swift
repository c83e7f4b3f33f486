import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// Limits and faults of a hub, as members and the administrator notice them.
struct HubAdministrationTests {
  @Test func `a person at the limit of stored bytes can react and delete, and then send again`() throws {
    let hub = try HubFixture()
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    let limits = try hub.hub(["limit", "--disk", "1M"]).records
    #expect(limits.last?["bytes_per_person"]?.int == 1 << 20)
    let large = String(repeating: "x", count: 60_000)
    for _ in 1...17 { try alice.done("dm-send", ["bob"], stdin: .bytes(Array(large.utf8))) }
    try alice.sync()
    try alice.done("dm-send", ["bob"], stdin: .bytes(Array(large.utf8)))
    let full = try alice.run("dm-sync")
    #expect(full.status == .exit(73), "\(full.stderr)")
    try bob.sync()
    try bob.done("dm-send", ["alice", "hello"])
    try bob.sync()
    _ = try alice.run("dm-sync")
    try alice.done("dm-edit", ["react", "👍", "bob:18"])
    try alice.done("dm-edit", ["delete", "--for-everyone", "bob:1"])
    _ = try alice.run("dm-sync")
    #expect(try hub.sql("SELECT count(*) FROM dm.entry WHERE kind = 17") == "1\n")
    try hub.sql("UPDATE dm.person SET counted_at = counted_at - interval '11 minutes'")
    try alice.done("dm-sync", ["retry"])
    try alice.sync()
    #expect(try hub.sql("SELECT count(*) FROM dm.entry WHERE kind = 18") == "1\n")
    #expect(try alice.done("dm-sync", ["status"]).record["queued_count"]?.int == 0)
    #expect(try hub.hub(["limit", "--disk", "none", "--text"]).stdout.hasSuffix("of files in an hour\n"))
  }

  @Test func `dm-sync reports that the hub's disk is full, retries, and succeeds when it has room`() throws {
    let hub = try HubFixture()
    let (alice, _) = (try hub.machine("alice"), try hub.machine("bob"))
    try alice.sync()
    try hub.sql(
      """
      CREATE FUNCTION dm.full() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END $$;
      CREATE TRIGGER no_room BEFORE INSERT ON dm.entry EXECUTE FUNCTION dm.full()
      """)
    let follower = try LiveProcess(alice, "dm-sync", ["-f"], stdin: .null)
    while try follower.record()["state"]?.string != "live" {}
    try alice.done("dm-send", ["bob", "hello"])
    var status = try follower.record()
    while status["attempts"]?.int ?? 0 < 3 { status = try follower.record() }
    #expect(status["state"]?.string == "waiting" && status["fault"]?.string == "the disk of the hub is full")
    let beside = try alice.run("dm-sync")
    #expect(beside.status == .exit(69), "\(beside.stdout)\(beside.stderr)")
    try hub.sql("DROP TRIGGER no_room ON dm.entry")
    try alice.sync()
    #expect(try alice.done("dm-sync", ["status"]).record["queued_count"]?.int == 0)
    follower.process.send(SIGKILL)
  }

  @Test func `dm-hub status ends with 78 for a fault that the administrator must correct`() throws {
    let server = try PostgresServer()
    let hub = try HubFixture(server)
    #expect(try hub.hub(["status"]).record["problems"]?.array.isEmpty == true)
    try server.psql("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'")
    try server.psql("postgres", "SELECT pg_reload_conf()")
    try Torture.wait(until: "the setting holds") {
      try server.psql("postgres", "SHOW synchronous_standby_names") == "*\n"
    }
    let waiting = try hub.run(["status", "--text"])
    #expect(
      waiting.status == .exit(78) && waiting.stdout.contains("problem: commits wait for a standby"), "\(waiting.stdout)"
    )
    #expect(waiting.stderr.contains("1 problem"), "\(waiting.stderr)")
    try server.psql("postgres", "ALTER SYSTEM RESET synchronous_standby_names")
    try server.psql("postgres", "SELECT pg_reload_conf()")
    // A hub of an older version must be updated first.
    try hub.sql("UPDATE dm.hub SET schema = 2")
    let older = try hub.run(["status"])
    #expect(
      older.status == .exit(78) && older.stderr.contains("is of version 2, older than this program"), "\(older.stderr)")
  }
}
