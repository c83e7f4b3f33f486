import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// Hubs on each version of PostgreSQL, with an administrator who may create roles and databases, but is not a
/// superuser.
struct HubServersTests {
  /// A server of a version, and the connection string of an administrator for their own database.
  private func administered(_ version: Int?) throws -> (server: PostgresServer, database: String) {
    // Not every installed version was built with TLS.
    let server = try version.map { try PostgresServer(version: $0) { _ in ["ssl=off"] } } ?? PostgresServer()
    try server.psql("postgres", "CREATE ROLE adm LOGIN PASSWORD 'x' CREATEROLE CREATEDB")
    let database = server.administrator(of: "postgres").replacing("user=postgres", with: "user=adm password=x")
    try server.psql(database, "CREATE DATABASE messages")
    return (server, database.replacing("dbname=postgres", with: "dbname=messages"))
  }

  @Test(arguments: [nil, 16, 17, 18])
  func `an administrator who is not a superuser can run a hub`(version: Int?) throws {
    let (server, database) = try administered(version)
    let hub = try HubFixture(server, in: database)
    #expect(try hub.hub(["check"]).records.allSatisfy { $0["is_note"]?.bool == true })
    let machines = try ["ann", "bob", "cyd"].map { try hub.machine($0) }
    let (ann, bob, cyd) = (machines[0], machines[1], machines[2])
    for machine in machines { try machine.sync() }
    try ann.done("dm-send", ["bob", "héllo"])
    try ann.done("dm-conversation", ["create", "--title", "ops", "bob", "cyd"])
    try ann.done("dm-send", ["+ops", "all"])
    for machine in machines { try machine.sync() }
    try bob.done("dm-edit", ["react", "🙂", "ann:1"])
    try ann.done("dm-edit", ["text", "bob:1", "hello"])
    try ann.done("dm-conversation", ["remove", "+ops", "cyd"])
    for _ in 1...2 { for machine in machines { try machine.sync() } }
    #expect(try bob.texts("ann") == ["1 hello"])
    #expect(try cyd.texts("+ops").last?.hasSuffix("user_left") == true)
    let status = try hub.hub(["status"]).record
    #expect(status["person_count"]?.int == 3 && status["server_version"]?.int.map { $0 / 10_000 } == version ?? 15)
    // The administrator can end the connections of a member who keeps a transaction open, and of a revoked member.
    let login = try cyd.credentials("user")
    func connections() throws -> String {
      try server.psql("postgres", "SELECT count(*) FROM pg_stat_activity WHERE usename = '\(login)'")
    }
    let held = try cyd.hold("BEGIN; SELECT dm1.push('[]') \\g /dev/null")
    #expect(try hub.sql("SELECT dm.unstick('0 seconds')") == "1\n" && connections() == "0\n")
    let follower = try LiveProcess(cyd, "dm-sync", ["-f"], stdin: .null)
    while try follower.record()["state"]?.string != "live" {}
    let connected = try hub.processes(of: login)
    try hub.hub(["revoke", "cyd"])
    #expect(try hub.running(connected) == 0)
    #expect(try server.psql("postgres", "SELECT count(*) FROM pg_roles WHERE rolname = '\(login)'") == "0\n")
    while try follower.record()["state"]?.string != "refused" {}
    for process in [held, follower] { process.process.send(SIGKILL) }
    try hub.hub(["unstick"])
    try hub.hub(["install"])
    try hub.hub(["uninstall", "--force"])
    #expect(try server.psql("postgres", "SELECT count(*) FROM pg_roles WHERE rolname ~ '^(dm|u)_'") == "0\n")
  }

  @Test func `install repairs a hub that was moved by dump and restore without a superuser`() throws {
    let (old, database) = try administered(17)
    let hub = try HubFixture(old, in: database)
    let (bob, ann) = (try hub.machine("bob"), try hub.machine("ann"))
    try ann.done("dm-send", ["bob", "hello"])
    try ann.sync()
    try bob.sync()
    let (new, target) = try administered(17)
    let file = "\(ann.directory)/dump"
    let roles = "\(ann.directory)/roles"
    try ann.done("\(old.binaries)/pg_dumpall", ["--roles-only", "--no-role-passwords", "-d", database, "-f", roles])
    try ann.done("\(old.binaries)/pg_dump", ["-Fc", "-f", file, "-d", database])
    // Both commands report errors, because a superuser is among the roles, and some privileges cannot be granted.
    _ = try ann.run("\(new.binaries)/psql", ["-qX", "-d", target, "-f", roles])
    _ = try ann.run("\(new.binaries)/pg_restore", ["-d", target, file])
    let moved = try HubFixture(new, in: target)
    let said = try moved.run(["check"])
    #expect(said.status == .exit(78) && said.stdout.contains("invite them again"), "\(said.stdout)")
    #expect(!said.stdout.contains("belongs to"), "\(said.stdout)")
    for machine in [bob, ann] {
      let user = machine === bob ? "bob" : "ann"
      try machine.done("dm-sync", ["join", try moved.invite(user)])
    }
    for old in try moved.hub(["people"]).records.compactMap({ $0["login"]?.string }) {
      let machines = try [bob, ann].map { try $0.credentials("user") }
      if !machines.contains(old) { try moved.hub(["revoke", old]) }
    }
    #expect(try moved.hub(["check"]).records.allSatisfy { $0["is_note"]?.bool == true })
    try bob.done("dm-send", ["ann", "moved"])
    for machine in [bob, ann] { try machine.sync() }
    #expect(try ann.texts("bob") == ["1 hello", "2 moved"])
  }
}
