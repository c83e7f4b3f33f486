import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// Passwords and deleted texts stay secret, and programs that do not sync open no connection.
struct HubSecrecyTests {
  private func password(_ machine: ToolFixture) throws -> String {
    let file = try String(contentsOfFile: machine.store + "/hub", encoding: .utf8)
    return try #require(file.split(separator: "\n").first { $0.hasPrefix("password=") }.map { String($0.dropFirst(9)) })
  }

  @Test func `the password is in a file with mode 600, and in no backup, dump, list or record`() throws {
    let hub = try HubFixture()
    let machine = try hub.machine("alice")
    let password = try password(machine)
    #expect(password.utf8.count == 64)
    let status = try FileManager.default.attributesOfItem(atPath: machine.store + "/hub")
    #expect(status[.posixPermissions] as? Int == 0o600)
    try machine.done("dm-doctor", ["backup", machine.directory + "/backup"])
    let backup = try #require(FileManager.default.contents(atPath: machine.directory + "/backup"))
    let texts =
      try [
        machine.done("dm-doctor", ["dump"]), machine.done("dm-doctor", ["stats"]), machine.done("dm-sync", ["status"]),
        hub.hub(["people"]),
      ].map(\.output) + [Array(backup)]
    for text in texts { #expect(!String(decoding: text, as: UTF8.self).contains(password)) }
    let stored = try String(decoding: Data(contentsOf: URL(filePath: machine.store + "/dm.sqlite")), as: UTF8.self)
    #expect(!stored.contains(password))
    // The server stores a verifier, from which the password cannot be computed.
    #expect(try hub.sql("SELECT rolpassword FROM pg_authid WHERE rolname LIKE 'u\\_%'").contains("SCRAM-SHA-256$"))
    #expect(try !hub.sql("SELECT rolpassword FROM pg_authid").contains(password))
  }

  @Test func `deleted and replaced texts cannot be guessed from the data on a hub`() throws {
    let hub = try HubFixture()
    let alice = try hub.machine("alice")
    for text in ["pin 4711", "salary 5200", "code 93"] { try alice.done("dm-send", ["alice", text]) }
    try alice.sync()
    try alice.done("dm-edit", ["react", "🍕", "alice:1"])
    try alice.done("dm-edit", ["delete", "--for-everyone", "alice:1"])
    for text in ["salary 1", "salary 2"] { try alice.done("dm-edit", ["text", "alice:2", text]) }
    try alice.sync()
    // Of the first two messages, the hub keeps only the last edit, whose text is still visible.
    let kept =
      "SELECT kind || ' of ' || seq FROM dm.entry WHERE request IS NOT NULL AND kind IN (0, 16, 18) AND seq < 3"
    #expect(try hub.sql(kept) == "16 of 2\n")
    try hub.sql("UPDATE dm.entry SET expires_at = now() - interval '1 s' WHERE seq = 3")
    try alice.done("dm-send", ["alice", "later"])
    try alice.sync()
    #expect(try hub.sql("SELECT count(*) FROM dm.entry WHERE seq = 3 AND num_nonnulls(request, payload) > 0") == "0\n")
    let columns = try hub.sql("SELECT attname FROM pg_attribute WHERE attrelid = 'dm.entry'::regclass AND attnum > 0")
    #expect(!columns.contains("digest"))
  }

  @Test func `a credentials file that other users can read is refused`() throws {
    let machine = try HubFixture().machine("alice")
    try machine.done("chmod", ["644", machine.store + "/hub"])
    let refused = try machine.run("dm-sync")
    #expect(refused.status == .exit(77) && refused.stderr.contains("chmod 600"), "\(refused.stderr)")
    try machine.done("chmod", ["600", machine.store + "/hub"])
    try machine.done("dm-sync")
  }

  @Test func `PG environment variables do not change the user or hub of a machine`() throws {
    let machine = try HubFixture().machine("alice")
    for (name, value) in [("PGUSER", "postgres"), ("PGHOST", "192.0.2.1"), ("PGPASSWORD", "x"), ("PGDATABASE", "x")] {
      machine.set(name, value)
    }
    #expect(try machine.sync().record["user"]?.string == "alice")
  }

  @Test(arguments: [["backup", "copied"], ["dump"]])
  func `a store that was restored from a backup or a dump can join only the same hub, as the same user`(
    words: [String]
  ) throws {
    let hub = try HubFixture()
    let alice = try hub.machine("alice")
    try alice.done("dm-send", ["alice", "a note"])
    let dumped = try alice.shell("cd '\(alice.directory)'; exec dm-doctor \(words.joined(separator: " "))").output
    let path = alice.directory + "/copied"
    if words == ["dump"] { try Data(dumped).write(to: URL(filePath: path)) }
    let copy = try ToolFixture()
    copy.set("DM_SYNC", "off")
    try copy.done("dm-doctor", ["restore", path])
    try copy.done("dm-doctor", ["check", "--deep"])
    let lost = try copy.run("dm-sync")
    #expect(lost.status == .exit(66) && lost.stderr.contains("dm-sync join"), "\(lost.stderr)")
    #expect(try copy.run("dm-sync", ["join", hub.invite("bob")]).status == .exit(78))
    #expect(try copy.run("dm-sync", ["join", HubFixture().invite("alice")]).status == .exit(78))
    #expect(try copy.done("dm-sync", ["join", hub.invite("alice")]).record["user"]?.string == "alice")
    try copy.sync()
    // The message may have been sent or dropped after the backup, so it is not sent without a command.
    #expect(try copy.done("dm-tail", ["--peek", "alice"]).record["failure"]?.string == "restored")
    try copy.done("dm-sync", ["retry"])
    try copy.sync()
    #expect(try copy.texts("alice") == ["1 a note"])
  }

  @Test(arguments: [
    ("dm-send", ["bob", "hello"]), ("dm-list", []), ("dm-tail", ["bob"]), ("dm-edit", ["react", "👍", "bob:1"]),
    ("dm-conversation", ["create", "bob"]), ("dm-search", ["hello"]),
  ])
  func `a program that does not sync opens no socket`(program: String, words: [String]) throws {
    let hub = try HubFixture()
    let bob = try hub.machine("bob")
    let machine = try hub.machine("alice")
    try machine.done("dm-send", ["bob", "hello"])
    try machine.sync()
    try bob.sync()
    let trace = machine.directory + "/trace"
    try machine.done("strace", ["-f", "-o", trace, "-e", "trace=socket,connect", program] + words)
    let calls = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
    // getpwuid(3) tries to connect to a local socket of nscd(8), a cache of names.
    #expect(calls.filter { $0.contains("AF_INET") || $0.contains("connect(") && !$0.contains("/nscd/") } == [])
  }

  @Test(arguments: ["dm"] + ToolFixture.programs + ToolFixture.hubPrograms)
  func `no program links libpq or libssl`(program: String) throws {
    let libraries = try ToolFixture().done("ldd", [ToolFixture.executable(program)]).stdout
    #expect(!libraries.contains("libpq") && !libraries.contains("libssl"), "\(libraries)")
  }

  @Test func `a revoked user is disconnected, sees the reason, and cannot connect again`() throws {
    let hub = try HubFixture()
    let bob = try hub.machine("bob")
    let follower = try LiveProcess(bob, "dm-sync", ["-f"], stdin: .null)
    defer { follower.process.send(SIGKILL) }
    while try follower.record()["state"]?.string != "live" {}
    try hub.hub(["revoke", "bob"])
    while try follower.record()["state"]?.string != "refused" {}
    follower.process.send(SIGKILL)
    _ = follower.process.wait(seconds: 10)
    #expect(try bob.run("dm-sync").status == .exit(77))
    let sent = try bob.run("dm-send", ["bob", "to myself"])
    #expect(sent.status == .exit(77) && sent.stderr.contains("dm-sync status"), "\(sent.stderr)")
    #expect(try hub.hub(["people"]).record["is_disabled"]?.bool == true)
    // After a new invitation, they are the same person.
    #expect(try bob.done("dm-sync", ["join", hub.invite("bob")]).record["state"]?.string != "refused")
    try bob.done("dm-send", ["bob", "to myself"])
    try bob.sync()
  }

  @Test func `a store that has left its hub is read-only`() throws {
    let hub = try HubFixture()
    let alice = try hub.machine("alice")
    try alice.done("dm-send", ["alice", "a note"])
    try alice.sync()
    try alice.done("dm-sync", ["leave"])
    #expect(!FileManager.default.fileExists(atPath: alice.store + "/hub"))
    #expect(try alice.texts("alice") == ["1 a note"])
    #expect(try alice.run("dm-send", ["alice", "more"]).status == .exit(77))
    #expect(try alice.done("dm-sync", ["status"]).record["state"]?.string == "left")
    #expect(try hub.hub(["people"]).record["login"] == nil)
  }
}
