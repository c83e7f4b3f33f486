import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// Hubs with invalid answers, with a newer version, in shared or specially configured databases, or restored.
struct HubFormTests {
  @Test(arguments: [
    ("entries of no kind", "-5::smallint", "conv", "at"),
    ("entries that nobody asked for", "kind", "gen_random_uuid()", "at"),
    ("times without end", "kind", "conv", "'infinity'::timestamptz"),
  ])
  func `invalid answers of a hub are reported as a damaged hub and not stored`(
    what: String, kind: String, conversation: String, time: String
  ) throws {
    let hub = try HubFixture()
    let (alice, bob) = (try hub.machine("alice"), try hub.machine("bob"))
    try bob.done("dm-send", ["alice", "hello"])
    try bob.sync()
    try hub.sql(
      """
      ALTER FUNCTION dm1.pull RENAME TO pull_before;
      CREATE FUNCTION dm1.pull(convs uuid[], revs bigint[], marks uuid[], most integer)
      RETURNS TABLE (conv uuid, rev bigint, seq bigint, at timestamptz, actor bigint, machine uuid, kind smallint, id uuid,
        nonce uuid, mark uuid, expires_at timestamptz, meta jsonb, payload bytea)
      LANGUAGE sql SECURITY DEFINER AS $$
        SELECT \(conversation), rev, seq, \(time), actor, machine, \(kind), id, nonce, mark, expires_at, meta, payload
        FROM dm1.pull_before(convs, revs, marks, most) $$;
      GRANT EXECUTE ON FUNCTION dm1.pull TO dm_member
      """)
    let synced = try alice.run("dm-sync")
    #expect(synced.status == .exit(78), "\(what): \(synced.stderr)")
    #expect(try alice.done("dm-list").records.isEmpty)
    try alice.done("dm-doctor", ["check", "--deep"])
    try hub.sql("DROP FUNCTION dm1.pull; ALTER FUNCTION dm1.pull_before RENAME TO pull")
    try alice.sync()
    #expect(try alice.texts("bob") == ["1 hello"])
  }

  @Test func `every dm-hub action refuses a hub of a newer version, and does not change it`() throws {
    let hub = try HubFixture()
    try hub.sql("UPDATE dm.hub SET schema = schema + 1")
    for words in [
      ["install"], ["check"], ["invite", "bob"], ["people"], ["reports"], ["limit"], ["status"], ["sweep"], ["unstick"],
      ["move", "hub.example.org"], ["forget", "bob", "--force"],
      ["revoke", "bob"],
      ["uninstall", "--force"],
    ] {
      let refused = try hub.run(words)
      #expect(refused.status == .exit(78) && refused.stderr.contains("newer"), "\(words): \(refused.stderr)")
    }
    #expect(try hub.sql("SELECT count(*) FROM dm.person") == "0\n")
  }

  @Test(arguments: [
    "default_transaction_isolation = 'serializable'", "default_transaction_isolation = 'repeatable read'",
    "default_transaction_read_only = on", "standard_conforming_strings = off", "row_security = off",
    "array_nulls = off",
    "idle_session_timeout = '1s'", "client_encoding = 'LATIN1'", "search_path = 'dm1'",
  ])
  func `a hub works in a database that has other default settings`(setting: String) throws {
    let server = try PostgresServer.shared.get()
    let database = try server.database()
    try server.psql("postgres", "ALTER DATABASE \(PostgresServer.name(of: database)) SET \(setting)")
    let hub = try HubFixture(server, in: database)
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    try alice.done("dm-send", ["bob", "héllo \\ 日本 🙂"])
    try alice.sync()
    try alice.done("dm-edit", ["react", "👍", "bob:1"])
    try alice.sync()
    try bob.sync()
    try bob.done("dm-read", ["alice", "--all"])
    try bob.sync()
    #expect(try bob.texts("alice") == ["1 héllo \\ 日本 🙂"])
    #expect(try alice.done("dm-sync", ["pending"]).records.isEmpty)
    try hub.hub(["check"])
    try hub.hub(["revoke", "bob"])
  }

  @Test func `install needs --shared for a database with other data, and uninstall keeps this data`() throws {
    let server = try PostgresServer.shared.get()
    let database = try server.database()
    let role = "report_\(PostgresServer.name(of: database))"
    try server.psql(
      database, "CREATE TABLE orders AS SELECT 7 AS id; CREATE ROLE \(role) LOGIN; GRANT SELECT ON orders TO \(role)")
    func theirs() throws -> String {
      try server.psql(database, "SET SESSION AUTHORIZATION \(role); SELECT id FROM public.orders")
    }
    let refused = try HubFixture.install(in: database)
    #expect(refused.status == .exit(73) && refused.stderr.contains("public.orders"), "\(refused.stderr)")
    #expect(try server.psql(database, "SELECT to_regclass('dm.hub') IS NULL") == "t\n")
    let hub = try HubFixture(server, ["--shared"], in: database)
    #expect(try theirs() == "7\n")
    #expect(
      try server.psql(database, "SELECT has_database_privilege('\(role)', current_database(), 'connect')") == "t\n")
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    try alice.done("dm-send", ["bob", "hello"])
    try alice.sync()
    try bob.sync()
    #expect(try bob.texts("alice") == ["1 hello"])
    #expect(try hub.hub(["check"]).stdout.contains("others use this database"))
    #expect(try hub.run(["uninstall"]).status == .exit(64))
    try hub.hub(["uninstall", "--force"])
    #expect(try server.psql(database, "SELECT count(*) FROM pg_namespace WHERE nspname IN ('dm', 'dm1')") == "0\n")
    #expect(try theirs() == "7\n")
    #expect(try alice.run("dm-sync").status == .exit(77))
  }

  @Test func `a copy of a hub on the same server does not touch the logins of the original`() throws {
    let hub = try HubFixture()
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    let copy = try hub.server.database()
    let file = "\(alice.directory)/hub.dump"
    try alice.done("pg_dump", ["-Fc", "-f", file, "-d", hub.database])
    try alice.done("pg_restore", ["-d", copy, file])
    let second = try HubFixture(hub.server, in: copy)
    #expect(try second.run(["check"]).stdout.contains("belongs to another database of the server"))
    try second.sql("UPDATE dm.login SET joined_at = NULL, invited_until = now() - interval '2 days' WHERE true")
    _ = try second.invite("carol")
    try second.hub(["revoke", "bob"])
    try second.hub(["uninstall", "--force"])
    try alice.done("dm-send", ["bob", "still here"])
    try alice.sync()
    try bob.sync()
    #expect(try bob.texts("alice") == ["1 still here"])
    try hub.hub(["check"])
  }

  @Test func `install updates a hub of the first version while members write to it`() throws {
    let hub = try HubFixture()
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    try hub.sql(
      """
      -- The first version had no reports and could not move, and perhaps had other functions.
      DO $$ BEGIN
        EXECUTE replace(pg_get_functiondef('dm.refuse_moved'::regproc), 'h.moved_to is not null', 'false');
        EXECUTE replace(replace(
          pg_get_functiondef('dm1.hello'::regproc), 'at.moved_to is not null', 'false'), ', ''own_states'', ''stamps''', '');
        EXECUTE regexp_replace(pg_get_functiondef('dm1.push'::regproc), 'select .select e.expires_at .*into has_expired, has_files;', '');
      END $$;
      DROP FUNCTION dm.counts, dm.is_forgotten, dm.kept, dm1.moved, dm.sees_file, dm.attach, dm.erase, dm.keep_own;
      DROP FUNCTION dm.detach, dm1.machines, dm1.own_rev, dm1.own_states, dm1.wake_own, dm1.restamp; DROP TABLE dm.own_state;
      DROP TABLE dm.attached, dm.chunk, dm.file, dm.detached, dm.pinned; ALTER TABLE dm.login DROP COLUMN stamp;
      ALTER TABLE dm.hub DROP moved_to, DROP moved_authority, DROP moved_from, DROP person_bytes, DROP hourly_file_bytes;
      ALTER TABLE dm.person DROP COLUMN kept, DROP COLUMN counted_at, DROP COLUMN forgotten_at, DROP COLUMN own_rev;
      DROP TABLE dm.report, dm.typing, dm.presence, dm.act_limit, dm.done_act; UPDATE dm.hub SET schema = 1;
      CREATE FUNCTION dm.spend(bigint, bigint) RETURNS timestamptz LANGUAGE sql RETURN now();
      CREATE OR REPLACE FUNCTION dm.spend(p_person bigint, operations jsonb, OUT allowed bigint, OUT later timestamptz,
        OUT is_full boolean) LANGUAGE sql RETURN row(jsonb_array_length(operations)::bigint, NULL::timestamptz, false);
      CREATE OR REPLACE FUNCTION dm.connection_limit() RETURNS integer LANGUAGE sql STABLE RETURN 1000;
      """)
    try alice.done("dm-send", ["bob", "begin"])
    try alice.sync()
    let follower = try LiveProcess(alice, "dm-sync", ["-f"], stdin: .null)
    defer { follower.process.send(SIGKILL) }
    let count = 400
    let writer = try alice.start("sh", ["-c", "for n in $(seq \(count)); do dm-send -q bob \"$n\" || exit; done"])
    try Torture.wait(until: "members write") {
      try hub.sql("SELECT count(*) > 20 FROM dm.entry") == "t\n"
    }
    let installed = try hub.hub(["install"])
    #expect(try installed.stderr == "" && hub.hub(["check"]).output.isEmpty)
    #expect(try writer.finish().status == .exit(0))
    try Torture.wait(until: "all is there") {
      try hub.sql("SELECT count(*) FROM dm.entry WHERE kind = 0") == "\(count + 1)\n"
    }
    try bob.sync()
    try bob.done("dm-edit", ["report", "alice:1"])
    try bob.sync()
    #expect(try hub.hub(["reports"]).record["text"]?.string == "begin")
    #expect(try hub.sql("SELECT schema FROM dm.hub") == "8\n")
    #expect(try alice.done("dm-sync", ["pending"]).output.isEmpty)
  }

  @Test func `installations at the same time wait for each other`() throws {
    let hub = try HubFixture()
    let install = "dm-hub --db '\(hub.database)' install"
    let outcome = try ToolFixture().shell(
      "pids=; for n in 1 2 3 4; do \(install) & pids=\"$pids $!\"; done; for pid in $pids; do wait $pid || exit; done")
    #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    #expect(try hub.hub(["check"]).output.isEmpty)
  }

  @Test func `uninstall works after a role was dropped, and restores the privileges of all users`() throws {
    let hub = try HubFixture()
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    try bob.done("dm-sync", ["leave"])
    try hub.sql("REVOKE dm_member FROM \(alice.credentials("user")); DROP ROLE \(alice.credentials("user"))")
    try hub.hub(["uninstall", "--force"])
    #expect(
      try hub.sql(
        "SELECT bool_and(has_function_privilege('pg_monitor', p.oid, 'execute')) FROM pg_proc p WHERE proname IN ('pg_advisory_lock', 'pg_notify', 'lo_create')"
      ) == "t\n")
    #expect(
      try hub.sql(
        "SELECT count(*) FROM pg_roles WHERE shobj_description(oid, 'pg_authid') = 'dm-hub ' || (SELECT oid FROM pg_database WHERE datname = current_database())"
      ) == "0\n")
  }

  @Test func `a linked store refuses the invitation of another user, and is not changed`() throws {
    let hub = try HubFixture()
    let (alice, bob) = (try hub.machine("alice"), try ToolFixture())
    let token = try hub.invite("bob")
    try Data("kept".utf8).write(to: URL(filePath: "\(alice.store)/hub.crt"))
    let refused = try alice.run("dm-sync", ["join"], stdin: .bytes(Array((token + "\n").utf8)))
    #expect(refused.status == .exit(78) && refused.stderr.contains("linked to another hub or as another person"))
    #expect(try String(contentsOfFile: "\(alice.store)/hub.crt", encoding: .utf8) == "kept")
    unlink("\(alice.store)/hub.crt")
    try alice.sync()
    try alice.done("dm-send", ["bob", "hello"])
    try bob.done("dm-sync", ["join"], stdin: .bytes(Array((token + "\n").utf8)))
  }

  @Test func `check reports the owners and privileges that a dump loses, and install restores them`() throws {
    let hub = try HubFixture()
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    let name = PostgresServer.name(of: hub.database)
    try alice.done("dm-send", ["bob", "hello"])
    try alice.sync()
    for (loss, said) in [
      ("ALTER FUNCTION dm1.pull(uuid[], bigint[], uuid[], integer) OWNER TO postgres", "dm1.pull"),
      ("ALTER TABLE dm.entry OWNER TO postgres", "dm.entry"), ("ALTER SCHEMA dm OWNER TO postgres", "schema dm"),
      ("ALTER TABLE dm.entry DISABLE ROW LEVEL SECURITY", "row level security"),
      ("REVOKE EXECUTE ON FUNCTION dm1.push FROM dm_member", "dm1.push"),
      ("GRANT EXECUTE ON FUNCTION dm.unstick TO PUBLIC", "everybody may call dm.unstick"),
      ("GRANT SELECT ON dm.report TO PUBLIC", "everybody may read or change the table dm.report"),
      ("GRANT INSERT ON dm.entry TO dm_read", "dm_read may read or change the table dm.entry"),
      ("GRANT USAGE ON SCHEMA dm TO dm_member", "dm_member may use the schema dm"),
      ("GRANT ALL ON DATABASE \(name) TO PUBLIC", "every role of the server"),
      ("REVOKE CONNECT ON DATABASE \(name) FROM dm_member", "dm_member may not connect"),
      (
        "DO $$ BEGIN EXECUTE (SELECT format('REVOKE %I FROM dm_owner', min(role)) FROM dm.login); END $$",
        "cannot be ended"
      ),
    ] {
      try hub.sql(loss)
      let checked = try hub.run(["check"])
      #expect(checked.status == .exit(78) && checked.stdout.contains(said), "\(loss): \(checked.stdout)")
      try hub.hub(["install"])
      #expect(try hub.hub(["check"]).records.isEmpty, "\(loss)")
    }
    try bob.sync()
    #expect(try bob.texts("alice") == ["1 hello"])
    // install also reports a fault that it cannot repair.
    try hub.sql("DO $$ BEGIN EXECUTE (SELECT format('ALTER ROLE %I NOLOGIN', min(role)) FROM dm.login); END $$")
    #expect(try hub.hub(["install"]).stderr.contains("invite them again"))
  }

  @Test func `a restore into the same database is noticed, and no acknowledged message is lost`() throws {
    let hub = try HubFixture()
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    try alice.done("dm-send", ["bob", "one"])
    try alice.sync()
    try bob.sync()
    let file = "\(alice.directory)/hub.dump"
    try alice.done("pg_dump", ["-Fc", "-f", file, "-d", hub.database])
    try alice.done("dm-send", ["bob", "two"])
    try alice.sync()
    try alice.done("pg_restore", ["--clean", "--if-exists", "-d", hub.database, file])
    try hub.hub(["install"])
    for _ in 1...2 { for machine in [alice, bob] { try machine.sync() } }
    #expect(try bob.texts("alice") == ["1 one", "2 two"])
  }
}
