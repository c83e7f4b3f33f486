import Foundation
import Glibc
import JSONSupport
import Testing

@testable import TestSupport

/// The limits of a hub, hubs with few free connections, and hubs behind a pooler.
struct HubLimitsTests {
  @Test func `dm-hub limit sets and prints limits, and refuses invalid ones`() throws {
    let hub = try HubFixture()
    let before = try hub.hub(["limit"]).records
    #expect(before.map { $0["bytes_per_hour"]?.int ?? $0["file_bytes_per_hour"]?.int } == [64 << 20, 1 << 30])
    let set = try hub.hub(["limit", "--hour", "2M", "--files", "3M", "--disk", "none", "say=60", "begin=10"]).records
    #expect(set.map { $0["act"]?.string ?? "" } == ["", "", "begin", "say"])
    #expect(set[0]["bytes_per_hour"]?.int == 2 << 20 && set[1]["file_bytes_per_hour"]?.int == 3 << 20)
    let lines = """
      each person sends at most 2048 KiB in an hour
      each person uploads at most 3072 KiB of files in an hour
      each person does 'say' at most 60 times in a minute

      """
    #expect(try hub.hub(["limit", "begin=none", "--text"]).stdout == lines)
    for wrong in ["say", "say=0", "say=many", "shout=1", "=1"] {
      let refused = try hub.run(["limit", wrong])
      #expect(refused.status == .exit(64) && refused.stderr.contains("'\(wrong)' is not ACT=N"), "\(refused.stderr)")
    }
    for wrong in ["64", "1k", "x"] { #expect(try hub.run(["limit", "--hour", wrong]).status == .exit(64)) }
  }

  @Test func `machines poll in turns if the hub has few free connections`() throws {
    let server = try PostgresServer { _ in ["max_connections=12"] }
    let hub = try HubFixture(server)
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    // Takes eight of the nine connections that are not reserved.
    let others = try (0..<8).map { _ in try alice.holdAsAdministrator(of: hub) }
    let follower = try LiveProcess(alice, "dm-sync", ["-f"], stdin: .null)
    defer { for process in others + [follower] { process.process.send(SIGKILL) } }
    var status = try follower.record()
    while status["state"]?.string != "polling" { status = try follower.record() }
    #expect(status["color"]?.string == "yellow" && status["fault"]?.string?.contains("turns") == true, "\(status)")
    let login = try alice.credentials("user")
    try Torture.wait(until: "the machine lets others in") {
      try hub.sql("SELECT count(*) FROM pg_stat_activity WHERE usename = '\(login)'") == "0\n"
    }
    // A change on this machine is pushed at once.
    try alice.done("dm-send", ["bob", "one"])
    while try follower.record()["queued_count"]?.int != 0 {}
    try bob.sync()
    #expect(try bob.texts("alice") == ["1 one"])
    // When connections are free again, the machine stays connected.
    for other in others { other.process.send(SIGKILL) }
    try Torture.wait(until: "the others are gone") {
      try hub.sql("SELECT count(*) < 3 FROM pg_stat_activity WHERE backend_type = 'client backend'") == "t\n"
    }
    try alice.done("dm-send", ["bob", "two"])
    while try follower.record()["state"]?.string != "live" {}
  }

  @Test func `over the quota, dm-sync reports until when messages wait, and a retry after this time sends them`()
    throws
  {
    let hub = try HubFixture()
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    try hub.sql("UPDATE dm.hub SET hourly_bytes = 1048576")
    let text = String(repeating: "x", count: 60_000)
    for _ in 1...25 { try alice.done("dm-send", ["bob", text]) }
    let synced = try alice.run("dm-sync")
    #expect(synced.status == .exit(73) && synced.stderr.contains("the hub takes no more from you until "))
    let status = try alice.done("dm-sync", ["status"]).record
    #expect(status["state"]?.string == "waiting" && status["color"]?.string == "yellow")
    #expect(status["fault"]?.string?.hasPrefix("over_quota") == true && status["retry_at"]?.string != nil)
    #expect((status["queued_count"]?.int ?? 0) > 0 && status["failed_count"]?.int == 0)
    #expect(try alice.done("dm-sync", ["status", "--text"]).stdout.contains("the rest goes at "))
    let pending = try alice.done("dm-sync", ["pending"]).records
    #expect(pending.count > 1 && pending.allSatisfy { $0["failure"]?.string == "over_quota" })
    #expect(pending.allSatisfy { $0["next_attempt_at"]?.string != nil })
    alice.set("DM_SYNC", nil)
    let carriers = Carriers(alice)
    let waited = try alice.run("dm-send", ["--wait", "bob", "one more"])
    #expect(waited.status == .exit(73) && waited.stderr.contains("takes no more"), "\(waited.stderr)")
    try carriers.end()
    // The first message was pushed and postponed, and the last was not pushed yet. Both can be dropped.
    let waiting = try alice.done("dm-sync", ["pending"]).records.compactMap { $0["id"]?.int }
    for id in [waiting.first, waiting.last] { try alice.done("dm-sync", ["drop", "\(try #require(id))"]) }
    #expect(try alice.done("dm-sync", ["pending"]).records.allSatisfy { $0["act"]?.string == "say" })
    // As if the time for sending again had come.
    try hub.sql("UPDATE dm.hub SET hourly_bytes = 67108864")
    try alice.done("dm-sync", ["retry"])
    try Torture.wait(until: "all are there") {
      try alice.sync()
      try bob.sync()
      return try bob.texts("alice").count == 24
    }
    let after = try alice.done("dm-sync", ["status"]).record
    #expect(after["retry_at"] == nil && after["queued_count"]?.int == 0 && after["color"]?.string == "green")
  }

  @Test func `a message that the hub has postponed is sent when the quota allows it, without a command`() throws {
    let hub = try HubFixture()
    let bob = try hub.machine("bob")
    let (alice, carriers) = try carried(hub, "alice")
    // The quota allows 291 bytes a second, so the message can be sent after about four seconds.
    try hub.sql("UPDATE dm.hub SET hourly_bytes = 1048576; UPDATE dm.person SET spent = 1048576, spent_at = now()")
    try alice.done("dm-send", ["bob", String(repeating: "x", count: 700)])
    try Torture.wait(until: "it is postponed") {
      try alice.done("dm-sync", ["status"]).record["retry_at"]?.string != nil
    }
    try Torture.wait(until: "it is there", seconds: 25) {
      try bob.sync()
      return try bob.done("dm-list", ["--count"]).stdout == "1\n"
    }
    _ = carriers
  }

  @Test(arguments: [("transaction", "polling", "yellow"), ("session", "live", "green")])
  func `behind a pooler a machine polls, unless the pooler is in session mode`(
    mode: String, state: String, color: String
  ) throws {
    let server = try PostgresServer()
    let hub = try HubFixture(server)
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    for machine in [bob, alice] { try machine.sync() }
    let pooler = try Pooler(server, hub, mode)
    try alice.changeCredentials { $0 == "port" ? "\(pooler.port)" : $1 }
    let follower = try LiveProcess(alice, "dm-sync", ["-f"], stdin: .null)
    defer { follower.process.send(SIGKILL) }
    var status = try follower.record()
    while status["state"]?.string != state { status = try follower.record() }
    #expect(status["color"]?.string == color, "\(status)")
    #expect((status["fault"]?.string?.contains("pooler") ?? false) == (state == "polling"))
    try bob.done("dm-send", ["alice", "hello"])
    try bob.sync()
    try Torture.wait(until: "the message is there") {
      try alice.run("dm-tail", ["--peek", "-n", "all", "bob"]).stdout.contains("hello")
    }
    try alice.done("dm-send", ["bob", "hi"])
    try Torture.wait(until: "the answer is on the hub") {
      try hub.sql("SELECT count(*) FROM dm.entry WHERE kind = 0") == "2\n"
    }
  }

  /// PgBouncer in front of a server, on a socket in the server's folder.
  private final class Pooler {
    let port: UInt16
    private let process: Process

    init(_ server: PostgresServer, _ hub: HubFixture, _ mode: String) throws {
      port = try PostgresServer.freePort()
      let logins = try hub.sql(
        "SELECT '\"' || rolname || '\" \"' || rolpassword || '\"' FROM pg_authid WHERE rolname ~ '^u_'")
      let folder = server.folder + "/pooler"
      let name = PostgresServer.name(of: hub.database)
      let configuration = """
        [databases]
        \(name) = host=\(server.folder) port=\(server.port)
        [pgbouncer]
        listen_port = \(port)
        unix_socket_dir = \(server.folder)
        auth_type = scram-sha-256
        auth_file = \(folder)/logins
        pool_mode = \(mode)
        logfile = \(folder)/log
        """
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      for (file, text) in [("logins", logins), ("ini", configuration)] {
        try text.write(toFile: "\(folder)/\(file)", atomically: false, encoding: .utf8)
      }
      let isRoot = geteuid() == 0
      if isRoot, let user = getpwnam("postgres") {
        for path in ["", "/logins", "/ini"] { chown(folder + path, user.pointee.pw_uid, user.pointee.pw_gid) }
      }
      process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      let account = isRoot ? ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] : []
      process.arguments = account + ["/usr/sbin/pgbouncer", "-q", "\(folder)/ini"]
      process.standardError = FileHandle.nullDevice
      try process.run()
      let socket = "\(server.folder)/.s.PGSQL.\(port)"
      try Torture.wait(until: "the pooler listens") { FileManager.default.fileExists(atPath: socket) }
    }

    deinit { process.terminate() }
  }
}

extension ToolFixture {
  /// A connection of the administrator that stays open.
  fileprivate func holdAsAdministrator(of hub: HubFixture) throws -> LiveProcess {
    let process = try LiveProcess(self, "psql", ["-qAtX", "-d", hub.database])
    try process.send("\\echo held")
    try #require(process.line() == "held")
    return process
  }
}
