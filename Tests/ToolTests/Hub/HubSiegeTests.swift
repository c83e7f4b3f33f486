import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// A member who holds locks with their own SQL does not stop the other members or the administrator.
struct HubSiegeTests {
  let hub: HubFixture
  let alice: ToolFixture
  let mallory: ToolFixture
  /// The login of Mallory's machine.
  let login: String

  init() throws {
    hub = try HubFixture()
    (alice, mallory) = (try hub.machine("alice"), try hub.machine("mallory"))
    try mallory.done("dm-send", ["alice", "hello"])
    try mallory.sync()
    try alice.sync()
    login = try mallory.credentials("user")
  }

  private func hold(_ statements: String) throws -> LiveProcess { try mallory.hold(statements) }

  /// SQL that pushes an operation in a transaction and does not commit.
  private func held(_ operation: String) -> String {
    "BEGIN; SELECT count(*) FROM dm1.push('[{\"nonce\":\"\(UUID())\",\(operation)}]') \\g /dev/null"
  }

  private func conversation() throws -> String {
    try hub.sql("SELECT id FROM dm.conversation LIMIT 1").trimmingCharacters(in: .newlines)
  }

  @Test func `each dm-hub action works while a member holds all locks that a member can get`() throws {
    let say = #""op":"say","conv":"\#(try conversation())","id":"\#(UUID())","payload":"e30=""#
    let processes = try [
      held(say + #"},{"nonce":"\#(UUID())","op":"profile","payload":"e30=""#),
      "BEGIN; ALTER ROLE CURRENT_USER SET work_mem = '5MB';",
      "BEGIN; LISTEN x; SELECT 1 \\g /dev/null",
    ].map { try hold($0) }
    defer { for process in processes { process.process.send(SIGKILL) } }
    #expect(try hub.hub(["status"]).record["connection_count"]?.int == processes.count)
    #expect(try hub.hub(["people"]).records.count == 2)
    try hub.hub(["check"])
    try hub.hub(["install"])
    #expect(try hub.invite("carol").hasPrefix("dm1:"))
    try hub.hub(["unstick"])
    let again = try hold("BEGIN; LISTEN x; ALTER ROLE CURRENT_USER SET work_mem = '5MB'; SELECT 1 \\g /dev/null")
    defer { again.process.send(SIGKILL) }
    let connected = try hub.processes(of: login)
    try hub.hub(["revoke", "mallory"])
    #expect(try hub.running(connected) == 0)
    #expect(try hub.sql("SELECT count(*) FROM pg_roles WHERE rolname = '\(login)'") == "0\n")
  }

  @Test func `messages to other conversations are pushed while a member holds the lock of one`() throws {
    let say = #""op":"say","conv":"\#(try conversation())","id":"\#(UUID())","payload":"e30=""#
    let bob = try hub.machine("bob")
    try alice.sync()
    try alice.done("dm-send", ["mallory", "for Mallory"])
    try alice.done("dm-send", ["bob", "for Bob"])
    let holder = try hold(held(say))
    let carrier = try LiveProcess(alice, "dm-sync", ["-f"], stdin: .null)
    defer { carrier.process.send(SIGKILL) }
    while try carrier.record()["queued_count"]?.int != 1 {}
    try bob.sync()
    #expect(try bob.texts("alice") == ["1 for Bob"])
    #expect(try hub.sql("SELECT count(*) FROM pg_stat_activity WHERE usename = '\(login)'") == "1\n")
    #expect(try alice.done("dm-sync", ["status"]).record["queued_count"]?.int == 1)
    holder.process.send(SIGKILL)
    while try carrier.record()["queued_count"]?.int != 0 {}
    try mallory.sync()
    #expect(try mallory.texts("alice").last == "2 for Mallory")
  }

  @Test func `expired messages of other conversations are erased while a member holds the lock of one`() throws {
    let conversation = try conversation()
    let say = #""op":"say","conv":"\#(conversation)","id":"\#(UUID())","payload":"e30=""#
    _ = try hub.machine("bob")
    try alice.sync()
    // More messages than one push erases, all of which expire before the message to bob.
    #expect(try alice.run("sh", ["-c", "seq 120 | dm-send --lines -q mallory"]).status == .exit(0))
    try alice.done("dm-send", ["bob", "goes"])
    try alice.sync()
    try hub.sql(
      """
      UPDATE dm.entry SET expires_at = now() - CASE conv WHEN '\(conversation)' THEN interval '2 h' ELSE interval '1 h' END
      WHERE kind = 0
      """)
    func left(_ sign: String) throws -> String {
      let condition = "expires_at < now() AND payload IS NOT NULL AND conv \(sign) '\(conversation)'"
      return try hub.sql("SELECT count(*) FROM dm.entry WHERE \(condition)")
    }
    #expect(try left("=") == "121\n" && left("<>") == "1\n")
    let holder = try hold(held(say))
    defer { holder.process.send(SIGKILL) }
    try alice.done("dm-send", ["bob", "stays"])
    try alice.sync()
    #expect(try left("=") == "121\n" && left("<>") == "0\n")
  }

  @Test func `dm-hub revoke ends the connections of a machine that has left its hub and still holds locks`() throws {
    let say = #""op":"say","conv":"\#(try conversation())","id":"\#(UUID())","payload":"e30=""#
    let ghost = try hold(held(say + #"},{"nonce":"\#(UUID())","op":"profile","payload":"e30=""#))
    defer { ghost.process.send(SIGKILL) }
    let role = try hold("BEGIN; ALTER ROLE CURRENT_USER SET work_mem = '5MB'; SELECT 1 \\g /dev/null")
    defer { role.process.send(SIGKILL) }
    let connected = try hub.processes(of: login)
    try mallory.done("dm-sync", ["leave"])
    #expect(try hub.run(["revoke", login]).status == .exit(0))
    #expect(try hub.running(connected) == 0)
    #expect(try hub.sql("SELECT count(*) FROM pg_roles WHERE rolname = '\(login)'") == "0\n")
    #expect(try hub.invite("dave").hasPrefix("dm1:"))
    try alice.done("dm-send", ["mallory", "goes"])
    try alice.sync()
    #expect(try alice.done("dm-sync", ["status"]).record["queued_count"]?.int == 0)
  }

  @Test func `a login has at most eight connections, and limits on time and temporary files`() throws {
    let bounds = try hub.sql(
      "SELECT rolconnlimit, array_to_string(rolconfig, ' ') FROM pg_roles WHERE rolname = '\(login)'")
    #expect(
      bounds == "8|statement_timeout=60s idle_in_transaction_session_timeout=10s temp_file_limit=256MB\n")
  }

  @Test func `dm-hub unstick also ends a connection that blocks others and has written nothing`() throws {
    // Without a superuser, install cannot forbid this function.
    try hub.sql("GRANT EXECUTE ON FUNCTION pg_advisory_lock(bigint) TO PUBLIC")
    let locks = try hold("SELECT count(pg_advisory_lock(g)) FROM generate_series(1, 1000) g \\g /dev/null")
    #expect(try hub.hub(["unstick", "--text"]).stdout == "ended 1 connection\n")
    let queue = try hold("LISTEN x; BEGIN; SELECT 1 \\g /dev/null")
    #expect(try hub.sql("SELECT dm.unstick('0 seconds')") == "1\n")
    for process in [locks, queue] { process.process.send(SIGKILL) }
  }

  @Test func `roles with default privileges and roles of expired invitations are dropped`()
    throws
  {
    let owner = try hold("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC;")
    try mallory.done("dm-sync", ["leave"])
    _ = try hub.invite("carol")
    try hub.sql("UPDATE dm.login SET invited_until = now() - interval '2 days' WHERE joined_at IS NULL")
    owner.process.send(SIGKILL)
    _ = owner.process.wait(seconds: 10)
    _ = try hub.invite("dave")
    // Only the roles of Alice and Dave are left.
    #expect(try hub.sql("SELECT count(*) FROM pg_roles r JOIN dm.logins() l ON l.role = r.rolname") == "2\n")
    #expect(try hub.sql("SELECT count(*) FROM pg_roles WHERE rolname = '\(login)'") == "0\n")
    #expect(try hub.sql("SELECT count(*) FROM dm.former_login") == "0\n")
  }
}
