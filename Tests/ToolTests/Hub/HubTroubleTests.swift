import Foundation
import Glibc
import JSONSupport
import Testing

@testable import TestSupport

/// A store whose hub has a fault: local work continues, and no message is lost or duplicated.
struct HubTroubleTests {
  /// A fault of a hub, and how dm-sync reports it.
  struct Trouble: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Statements of the administrator; `DATABASE` is the name of the database.
    let sql: String
    let repair: String
    let status: Int32
    let state: String
    let fault: String
  }

  static let troubles = [
    Trouble(
      testDescription: "is full", sql: failing("53100"), repair: "DROP TRIGGER trouble ON dm.entry", status: 69,
      state: "waiting", fault: "full"),
    Trouble(
      testDescription: "is read-only", sql: failing("25006"), repair: "DROP TRIGGER trouble ON dm.entry", status: 69,
      state: "waiting", fault: "25006"),
    Trouble(
      testDescription: "takes no connections, as while it is restored",
      sql: "ALTER DATABASE DATABASE ALLOW_CONNECTIONS false", repair: "ALTER DATABASE DATABASE ALLOW_CONNECTIONS true",
      status: 69, state: "waiting", fault: "not currently accepting connections"),
    Trouble(
      testDescription: "has too many connections", sql: "ALTER DATABASE DATABASE CONNECTION LIMIT 0",
      repair: "ALTER DATABASE DATABASE CONNECTION LIMIT -1", status: 69, state: "waiting", fault: "too many connections"
    ),
    Trouble(
      testDescription: "is busy with a lock", sql: failing("55P03"), repair: "DROP TRIGGER trouble ON dm.entry",
      status: 69, state: "waiting", fault: "55P03"),
    Trouble(
      testDescription: "is not there, as while it is made anew", sql: "ALTER DATABASE DATABASE RENAME TO elsewhere",
      repair: "ALTER DATABASE elsewhere RENAME TO DATABASE", status: 69, state: "waiting", fault: "does not exist"),
    Trouble(
      testDescription: "has no rights yet, as while it is restored",
      sql: "REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA dm1 FROM dm_member",
      repair: "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA dm1 TO dm_member", status: 69, state: "waiting", fault: "42501"),
    Trouble(
      testDescription: "is older than the protocol", sql: "ALTER SCHEMA dm1 RENAME TO dm0",
      repair: "ALTER SCHEMA dm0 RENAME TO dm1", status: 69, state: "waiting", fault: "3F000"),
    Trouble(
      testDescription: "is newer than the protocol",
      sql: """
        ALTER FUNCTION dm1.hello RENAME TO hello_before;
        CREATE FUNCTION dm1.hello(protocol integer, label text, OUT hub uuid, OUT epoch uuid, OUT started_at timestamptz,
          OUT is_standby boolean, OUT person bigint, OUT handle text, OUT machine uuid, OUT now timestamptz,
          OUT poll_seconds integer, OUT people_rev bigint, OUT channel text, OUT features text[]) LANGUAGE plpgsql AS
          $$ BEGIN RAISE EXCEPTION 'protocol 1 is not spoken here' USING ERRCODE = 'DM001'; END $$;
        GRANT EXECUTE ON FUNCTION dm1.hello TO dm_member
        """,
      repair: "DROP FUNCTION dm1.hello; ALTER FUNCTION dm1.hello_before RENAME TO hello", status: 78, state: "waiting",
      fault: "DM001"),
    Trouble(
      testDescription: "is another one",
      sql: "CREATE TABLE trouble AS SELECT uuid FROM dm.hub; UPDATE dm.hub SET uuid = gen_random_uuid()",
      repair: "UPDATE dm.hub SET uuid = (SELECT uuid FROM trouble)", status: 78, state: "waiting", fault: "another one"),
    Trouble(
      testDescription: "knows the person by another name",
      sql: "UPDATE dm.person SET handle = 'eve' WHERE handle = 'alice'",
      repair: "UPDATE dm.person SET handle = 'alice' WHERE handle = 'eve'", status: 78, state: "waiting",
      fault: "another name"),
  ]

  /// SQL that makes the hub fail with an error code when it adds an entry.
  private static func failing(_ code: String) -> String {
    """
    CREATE FUNCTION dm.trouble() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'trouble' USING ERRCODE = '\(code)'; END $$;
    CREATE TRIGGER trouble BEFORE INSERT ON dm.entry FOR EACH ROW EXECUTE FUNCTION dm.trouble()
    """
  }

  @Test(arguments: troubles) func `a failing hub is reported, and nothing is lost`(trouble: Trouble) throws {
    let hub = try HubFixture()
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    try alice.done("dm-send", ["bob", "one"])
    try alice.sync()
    func administer(_ sql: String) throws {
      let name = PostgresServer.name(of: hub.database)
      let text = sql.replacing("DATABASE DATABASE", with: "DATABASE \(name)").replacing(
        "TO DATABASE", with: "TO \(name)")
      // Run from another database, because the hub's database may refuse connections.
      _ = try text == sql ? hub.sql(sql) : hub.server.psql("postgres", text)
    }
    try administer(trouble.sql)
    try alice.done("dm-send", ["bob", "two"])
    for _ in 1...2 {
      let synced = try alice.run("dm-sync")
      #expect(synced.status == .exit(trouble.status), "\(synced.stderr)")
      #expect(synced.output.isEmpty)
      let status = try alice.done("dm-sync", ["status"]).record
      #expect(status["state"]?.string == trouble.state)
      #expect(status["fault"]?.string?.contains(trouble.fault) == true, "\(status)")
      #expect(status["queued_count"]?.int == 1)
    }
    // Local work continues.
    try alice.done("dm-send", ["bob", "three"])
    #expect(try alice.texts("bob") == ["1 one", "- two", "- three"])
    try administer(trouble.repair)
    for machine in [alice, bob] { try machine.sync() }
    #expect(try alice.texts("bob") == ["1 one", "2 two", "3 three"])
    #expect(try bob.texts("alice") == ["1 one", "2 two", "3 three"])
    #expect(try alice.done("dm-sync", ["status"]).record["fault"] == nil)
    for machine in [alice, bob] { try machine.done("dm-doctor", ["check", "--deep"]) }
  }

  @Test func `an error while notifying others does not make the push fail`() throws {
    let hub = try HubFixture()
    let (alice, bob) = (try hub.machine("alice"), try hub.machine("bob"))
    for machine in [alice, bob] { try machine.sync() }
    try hub.sql(
      """
      CREATE OR REPLACE FUNCTION dm1.wake(conversations uuid[]) RETURNS void LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'too many notifications in the NOTIFY queue' USING ERRCODE = '54000'; END $$
      """)
    try alice.done("dm-send", ["bob", "one"])
    try alice.sync()
    #expect(try alice.done("dm-sync", ["pending"]).output.isEmpty)
    try bob.sync()
    #expect(try bob.texts("alice") == ["1 one"])
  }

  @Test func `dm-sync ends with 78 if a conversation lost entries on the hub, and syncs the other conversations`()
    throws
  {
    let hub = try HubFixture()
    let (alice, bob) = (try hub.machine("alice"), try hub.machine("bob"))
    for machine in [alice, bob] { try machine.sync() }
    for text in ["one", "two", "three"] { try alice.done("dm-send", ["bob", text]) }
    for machine in [alice, bob] { try machine.sync() }
    try hub.sql("CREATE TABLE lost AS SELECT * FROM dm.entry WHERE seq = 3; DELETE FROM dm.entry WHERE seq = 3")
    try bob.done("dm-send", ["alice", "four"])
    try bob.done("dm-send", ["bob", "a note"])
    let synced = try bob.run("dm-sync")
    #expect(synced.status == .exit(78) && synced.stderr.contains("'alice'"), "\(synced.stderr)")
    let status = try bob.done("dm-sync", ["status"]).record
    #expect(status["color"]?.string == "red")
    #expect(status["set_aside"]?.array.first?["conversation"]?.string == "alice")
    #expect(status["set_aside"]?.array.first?["code"]?.string == "hub_damaged")
    #expect(try bob.run("dm-doctor", ["check"]).stdout.contains("(hub_damaged)"))
    #expect(try bob.texts("alice").prefix(3) == ["1 one", "2 two", "3 three"])
    #expect(try bob.texts("bob") == ["1 a note"])
    try hub.sql("INSERT INTO dm.entry SELECT * FROM lost")
    for machine in [bob, alice] { try machine.sync() }
    #expect(try bob.texts("alice") == ["1 one", "2 two", "3 three", "4 four"])
    #expect(try alice.texts("bob") == bob.texts("alice"))
    #expect(try bob.done("dm-sync", ["status"]).record["set_aside"] == nil)
    for machine in [alice, bob] { try machine.done("dm-doctor", ["check", "--deep"]) }
  }

  @Test func `a revoked user can still read, and sending is an error`() throws {
    let hub = try HubFixture()
    let alice = try hub.machine("alice")
    _ = try hub.machine("bob")
    try alice.sync()
    try alice.done("dm-send", ["bob", "one"])
    try alice.sync()
    try alice.done("dm-send", ["bob", "two"])
    try hub.hub(["revoke", "alice"])
    #expect(try alice.run("dm-sync").status == .exit(77))
    let follower = try LiveProcess(alice, "dm-sync", ["-f"], stdin: .null)
    defer { follower.process.send(SIGKILL) }
    while try follower.record()["state"]?.string != "refused" {}
    let refused = try alice.run("dm-send", ["bob", "three"])
    #expect(refused.status == .exit(77) && refused.stderr.contains("dm-sync status"), "\(refused.stderr)")
    #expect(try alice.texts("bob") == ["1 one", "- two"])
    #expect(try alice.done("dm-sync", ["status"]).record["color"]?.string == "red")
  }

  @Test func `an invitation that has expired is refused`() throws {
    let hub = try HubFixture()
    let token = try hub.invite("alice")
    try hub.sql("UPDATE dm.login SET invited_until = now() - interval '1 second'")
    let machine = try ToolFixture()
    let joined = try machine.run("dm-sync", ["join", token])
    #expect(joined.status == .exit(77), "\(joined.stderr)")
    #expect(!FileManager.default.fileExists(atPath: machine.store + "/hub"))
  }

  @Test func `a clock that is years off does not affect the order or the times of messages`() throws {
    let hub = try HubFixture()
    let (alice, bob) = (try hub.machine("alice"), try hub.machine("bob"))
    for machine in [alice, bob] { try machine.sync() }
    try alice.done("faketime", ["2037-01-01 10:00:00", "dm-send", "bob", "from the future"])
    try alice.done("faketime", ["2037-01-01 10:00:01", "dm-sync", "-q"])
    #expect(try alice.done("dm-sync", ["status"]).record["clock_offset"] != nil)
    try bob.done("faketime", ["1999-01-01 10:00:00", "dm-sync", "-q"])
    try bob.done("faketime", ["1999-01-01 10:00:01", "dm-send", "alice", "from the past"])
    for machine in [bob, alice] { try machine.sync() }
    #expect(try alice.texts("bob") == ["1 from the future", "2 from the past"])
    // A clock that is ahead does not expire a message that the hub still has.
    try alice.done("dm-send", ["bob", "--expires-in", "1h", "brief"])
    try alice.sync()
    try bob.done("faketime", ["2037-01-01 10:00:00", "dm-sync", "-q"])
    try bob.done("faketime", ["2037-01-01 10:00:01", "dm-read", "alice", "--all"])
    let brief = try bob.done("faketime", ["2037-01-01 10:00:02", "dm-tail", "--peek", "alice", "3"]).stdout
    #expect(brief.contains("brief"))
    try alice.done("dm-edit", ["delete", "--for-everyone", "bob:3"])
    for machine in [alice, bob] { try machine.sync() }
    for machine in [alice, bob] {
      let other = machine === alice ? "bob" : "alice"
      let times = try machine.done("dm-tail", ["--peek", "-n", "all", other]).records.compactMap {
        $0["created_at"]?.string
      }
      #expect(times.count == 2 && times.allSatisfy { $0 > "2020" && $0 < "2036" }, "\(times)")
      try machine.done("dm-doctor", ["check", "--deep"])
    }
  }

  @Test func `a server that speaks another protocol is reported as an unreachable or damaged hub`() throws {
    let hub = try HubFixture()
    let alice = try hub.machine("alice")
    let noise = try Noise()
    try alice.redirect(to: noise.port)
    try alice.done("dm-send", ["alice", "note"])
    for _ in 1...noise.samples.count {
      let synced = try alice.run("dm-sync")
      #expect(synced.status == .exit(69) || synced.status == .exit(78), "\(synced.stderr)")
    }
    #expect(try alice.done("dm-sync", ["status"]).record["queued_count"]?.int ?? 0 > 0)
  }

  @Test func `no message is lost or duplicated when connections end at random times`() throws {
    let hub = try HubFixture()
    let (alice, bob) = (try hub.machine("alice"), try hub.machine("bob"))
    for machine in [alice, bob] { try machine.sync() }
    let carriers = try [alice, bob].map { try LiveProcess($0, "dm-sync", ["-f"], stdin: .null) }
    defer { for carrier in carriers { carrier.process.send(SIGKILL) } }
    for carrier in carriers { while try carrier.record()["state"]?.string != "live" {} }
    var expected: [String] = []
    for round in 1...12 {
      let lines = (1...10).map { "\(round) \($0)" }
      try alice.done("dm-send", ["--lines", "bob"], stdin: Input(lines: lines))
      expected += lines
      try hub.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename LIKE 'u\\_%' AND datname = current_database()"
      )
    }
    try Torture.wait(until: "all have come") {
      for machine in [alice, bob] { _ = try machine.run("dm-sync") }
      return try bob.texts("alice").count >= expected.count
    }
    #expect(try bob.texts("alice") == expected.enumerated().map { "\($0 + 1) \($1)" })
  }
}

/// A server that answers every request with invalid bytes.
private final class Noise: Sendable {
  let port: UInt16
  let samples: [[UInt8]] = [
    [], [UInt8](repeating: 0, count: 64), Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), [UInt8(ascii: "S")],
    [UInt8(ascii: "N")], Array("E\0\0\0\u{7f}garbage".utf8), [UInt8(ascii: "R"), 0, 0, 0, 8, 0, 0, 0, 0],
  ]
  private let listener: Int32

  init() throws {
    let (socket, port) = try PostgresServer.boundSocket()
    (listener, self.port) = (socket, port)
    guard listen(socket, 16) == 0 else { throw SpawnError(description: "nobody can listen at port \(port)") }
    let samples = samples
    Thread.detachNewThread {
      var number = 0
      while case let connection = accept(socket, nil, nil), connection >= 0 {
        let sample = samples[number % samples.count]
        number += 1
        var request = [UInt8](repeating: 0, count: 256)
        _ = read(connection, &request, request.count)
        _ = sample.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
        close(connection)
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }
}
