import Testing

@testable import DMKit
@testable import DMModel
@testable import DMPostgres
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

/// Attacks of members, former members and strangers with SQL of their own, on a real server.
///
/// Alice and Bob have a conversation with a secret; Mallory is a member of the hub, and was removed from a group.
struct AttackTests {
  let hub: PostgresHub
  let alice: Attacker
  let bob: Attacker
  let mallory: Attacker
  let direct = Identifier.random(.direct("alice", "bob"))
  let group = Identifier.random(.group(by: "alice"))
  let secret = Identifier.random

  init() throws {
    hub = try PostgresHub()
    alice = try Attacker(hub, "alice")
    bob = try Attacker(hub, "bob")
    mallory = try Attacker(hub, "mallory")
    let begin = HubOperation(.begin, conversation: direct, handles: ["bob"])
    let make = HubOperation(.group, conversation: group, handles: ["bob", "mallory"], payload: "{}")
    let words = [begin, make, .say("the secret", in: direct, id: secret), .say("seen", in: group)]
    #expect(try alice.push(words).map(\.fault) == [nil, nil, nil, nil])
    let remove = HubOperation(.remove, conversation: group, handles: ["mallory"])
    #expect(try alice.push([remove, .say("unseen", in: group)]).map(\.fault) == [nil, nil])
  }

  /// Statements that a login may not run: SQLSTATE 42501.
  static let denied: [String] = [
    // The tables.
    "SELECT * FROM dm.entry", "SELECT * FROM dm.login", "SELECT * FROM dm.member", "SELECT handle FROM dm.person",
    "SELECT * FROM dm.hub", "SELECT * FROM dm.conversation", "SELECT * FROM dm.report", "SELECT * FROM dm.typing",
    "SELECT * FROM dm.presence", "INSERT INTO dm.entry DEFAULT VALUES",
    "UPDATE dm.person SET handle = 'x'", "DELETE FROM dm.entry", "TRUNCATE dm.entry CASCADE",
    "UPDATE dm.hub SET hourly_bytes = 1048576", "COPY dm.entry TO STDOUT", "COPY dm.entry FROM STDIN",
    "SELECT id FROM dm.conversation FOR UPDATE", "DO $$ BEGIN LOCK TABLE dm.entry IN ACCESS SHARE MODE; END $$",
    // Objects that a member would create in the database.
    "CREATE VIEW public.v AS SELECT 1", "CREATE TEMP TABLE t (i integer)", "CREATE SCHEMA mallory",
    "CREATE FUNCTION pg_temp.f() RETURNS integer LANGUAGE sql RETURN 1", "CREATE EXTENSION pgcrypto SCHEMA dm1",
    "CREATE OR REPLACE FUNCTION dm.me() RETURNS bigint LANGUAGE sql AS 'SELECT 1'",
    "CREATE FUNCTION dm1.f() RETURNS integer LANGUAGE sql RETURN 1", "CREATE PUBLICATION p FOR ALL TABLES",
    // The functions that members may not call.
    "SELECT dm.me()", "SELECT dm.my_login()", "SELECT dm.spend(1, '[]')", "SELECT dm.unstick('0 s')",
    "SELECT * FROM dm.logins()", "SELECT * FROM dm.counts()", "SELECT dm.invite('x', 'y', 1)",
    "SELECT dm.end_connections('x')", "SELECT dm.logins_of('bob')", "SELECT dm.drop_logins()",
    "SELECT dm.forget_login('x')", "SELECT dm.enter('x', 'y', 1)", "SELECT dm.expel('bob')",
    "SELECT dm.random_number()", "SELECT dm.notice_move()",
    "SELECT dm.perform(NULL, '{}')", "SELECT dm.append(NULL, 0)", "SELECT dm.open_log(NULL, '{}', 1)",
    // Other roles.
    "SET ROLE dm_owner", "SET ROLE dm_read", "SET SESSION AUTHORIZATION postgres", "GRANT dm_owner TO CURRENT_USER",
    "ALTER ROLE postgres PASSWORD 'x'", "ALTER ROLE CURRENT_USER SUPERUSER", "ALTER ROLE CURRENT_USER CREATEROLE",
    "ALTER ROLE CURRENT_USER CONNECTION LIMIT -1", "CREATE ROLE x", "SELECT * FROM pg_authid",
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'postgres' AND datname IS NOT NULL",
    "SELECT rolpassword FROM pg_authid",
    // The server and its files.
    "SELECT pg_read_file('/etc/passwd')", "COPY (SELECT 1) TO PROGRAM 'id'", "COPY (SELECT 1) TO '/tmp/x'",
    "SELECT lo_import('/etc/passwd')", "SELECT lo_create(0)", "SELECT lo_from_bytea(0, 'x')",
    "ALTER SYSTEM SET fsync = off", "SELECT pg_advisory_lock(1)", "SELECT pg_try_advisory_xact_lock(1, 2)",
    "SELECT pg_notify('x', 'y')", "SELECT pg_logical_emit_message(false, 'x', 'y')", "SELECT pg_export_snapshot()",
    "SET temp_file_limit = -1", "ALTER ROLE CURRENT_USER RESET temp_file_limit",
    "SELECT pg_reload_conf()", "SELECT pg_switch_wal()", "SELECT * FROM pg_statistic",
    "SET session_preload_libraries = 'x'", "SET log_statement = 'none'",
  ]

  @Test func `a login may only call the functions for members`() throws {
    for statement in Self.denied {
      let state = try mallory.state(of: statement)
      #expect(state == "42501", "\(statement)")
    }
    // A person who was invited and has not signed up yet may only call `hello` and the functions for the sign-up.
    let stranger = try Attacker(hub, "stranger", joins: false)
    for call in [
      "SELECT * FROM dm1.changed(NULL)", "SELECT * FROM dm1.people(0, 10)", "SELECT dm1.push('[]')",
      "SELECT * FROM dm1.signals('{}', '{}', '{}', true, '{}', '{}', 9)",
      "SELECT * FROM dm1.pull('{}', '{}', '{}', 1)", "SELECT * FROM dm1.page(NULL, 1, 9)", "SELECT dm1.wake('{}')",
      "SELECT dm1.unstick()",
    ] {
      #expect(try stranger.state(of: call) == "DM002", "\(call)")
    }
  }

  @Test func `the hub answers a user about a conversation that they were never in as if it did not exist`() throws {
    for id in [direct, group] {
      let isFormer = id == group
      for act in Outbox.Act.allCases where ![.begin, .group, .profile].contains(act) {
        var operation = HubOperation(act, conversation: id, handles: ["mallory"], payload: "{}")
        (operation.id, operation.seq) = (secret, 1)
        operation.arguments.ranges = [1...5]
        if act == .delivered { operation.arguments.seq = 1 }
        let hidden = try mallory.push([operation])[0]
        if isFormer {
          #expect(
            hidden.fault
              == ([.read, .delivered].contains(act) ? nil : act == .report ? "unknown_message" : "not_allowed"),
            "\(act)")
          #expect(hidden.rev == nil, "\(act)")
          continue
        }
        operation.conversation = .random
        let missing = try mallory.push([operation])[0]
        #expect(hidden.fault == missing.fault && hidden.rev == missing.rev && hidden.id == missing.id, "\(act)")
        #expect(hidden.fault == "unknown_conversation", "\(act)")
      }
    }
    #expect(try mallory.pull(direct) + mallory.link.page(of: direct, 1...9) == [])
    #expect(try mallory.link.members(of: direct) == [])
    #expect(try mallory.link.compare(since: nil).conversations.map(\.id) == [group])
    // Mallory uses the nonce and the id of another member's message.
    let nonce = try #require(alice.pull(direct).last?.nonce)
    let own = Identifier.random(.group(by: "mallory"))
    let words = [HubOperation(.group, conversation: own), .say("x", in: own), .say("x", in: own, id: secret)]
    var again = words[1]
    again = HubOperation(.say, nonce: nonce, conversation: own, id: .random, payload: again.payload)
    let answers = try mallory.push(words + [again])
    #expect(answers.map(\.fault) == [nil, nil, nil, nil])
    #expect(answers[2].id != secret && answers[2].id != nil, "a message whose id is taken gets a new id")
  }

  @Test func `a former member sees no later entry, and cannot notify the members`() throws {
    let before = try mallory.pull(group)
    #expect(before.compactMap(\.payload).contains { String(decoding: $0, as: UTF8.self).contains("seen") })
    #expect(!before.compactMap(\.payload).contains { String(decoding: $0, as: UTF8.self).contains("unseen") })
    let compared = try #require(mallory.link.compare(since: nil).conversations.first)
    #expect(compared.rev == before.last?.rev && !compared.sees.isOpen)
    // Receipts for messages that a former member never saw change nothing; messages that they saw are marked once.
    func read(_ ranges: [SeqRange]) throws -> HubAnswer {
      var operation = HubOperation(.read, conversation: group)
      operation.arguments.ranges = ranges
      return try mallory.push([operation])[0]
    }
    #expect(try read([4...40]).isDuplicate)
    #expect(try !read([1...40]).isDuplicate && read([1...40]).isDuplicate)
    let ranges = try #require(alice.pull(group).last?.meta.ranges)
    #expect(ranges == [1...3])
    let listener = try PQConnection(bob.settings)
    let channel = try hub.server.psql(
      hub.database, "SELECT channel FROM dm.login l JOIN dm.person p ON p.id = l.person WHERE handle = 'bob'")
    try listener.run([PQConnection.Statement("LISTEN \(channel.split(separator: "\n")[0])")])
    try mallory.connection.run([PQConnection.Statement("SELECT dm1.wake(ARRAY['\(group)', '\(direct)']::uuid[])")])
    try listener.run([PQConnection.Statement("SELECT 1")])
    #expect(try listener.notifications() == [])
    try alice.connection.run([PQConnection.Statement("SELECT dm1.wake(ARRAY['\(group)']::uuid[])")])
    try listener.run([PQConnection.Statement("SELECT 1")])
    #expect(try listener.notifications() == ["c \(group)"])
  }

  @Test func `a member without the history gets no earlier text, even after an edit or a reaction`() throws {
    try alice.push([HubOperation(.add, conversation: group, handles: ["mallory"])])
    let message = try #require(alice.pull(group).first { $0.kind == .message })
    var edit = HubOperation(.edit, conversation: group, payload: "{\"v\":1,\"text\":\"edited secret\"}")
    (edit.id, edit.seq) = (message.id, message.seq)
    var react = HubOperation(.react, conversation: group, payload: "{\"v\":1,\"emoji\":\"secret\"}")
    (react.id, react.seq) = (message.id, message.seq)
    let last = try #require(alice.pull(group).last?.seq)
    let unseen = try #require(alice.pull(group).first { $0.seq == last - 1 })
    (edit.id, edit.seq) = (unseen.id, unseen.seq)
    (react.id, react.seq) = (unseen.id, unseen.seq)
    #expect(try alice.push([edit, react]).map(\.fault) == [nil, nil])
    let got = try mallory.pull(group)
    #expect(!got.compactMap(\.payload).contains { String(decoding: $0, as: UTF8.self).contains("secret") })
    #expect(got.filter { $0.kind == .edited || $0.kind == .reaction }.map(\.payload) == [nil, nil])
  }

  @Test func `a user cannot start a conversation with an id that belongs to others`() throws {
    for id in [direct, group, Identifier.random, .random(.group(by: "alice")), .random(.direct("alice", "bob"))] {
      for act in [Outbox.Act.group, .begin] {
        let answer = try mallory.push([HubOperation(act, conversation: id, handles: ["bob"])])[0]
        #expect(answer.fault == "bad_request", "\(act) of \(id)")
      }
    }
    let own = Identifier.random(.direct("mallory", "bob"))
    #expect(try mallory.push([HubOperation(.begin, conversation: own, handles: ["bob"])])[0].fault == nil)
  }

  @Test func `malformed operations are refused, and change nothing`() throws {
    let own = Identifier.random(.group(by: "mallory"))
    #expect(try mallory.push([HubOperation(.group, conversation: own)])[0].fault == nil)
    let start = "{\"nonce\":\"\(Identifier.random)\",\"conv\":\"\(own)\","
    func push(_ members: String) throws -> String {
      let answer = try mallory.answers(to: "[\(start)\(members)}]")
      return answer.first?.fault ?? "done"
    }
    let id = "\"id\":\"\(Identifier.random)\",\"payload\":\"e30=\""
    for members in [
      #""op":"say",\#(id),"ttl":-1"#, #""op":"say",\#(id),"ttl":9223372036854775807"#, #""op":"say","payload":"e30=""#,
      #""op":"say","id":"\#(Identifier.random)""#, #""op":"expire","after":9223372036854775807"#, #""op":"expire""#,
      #""op":"read","ranges":[[0,5]]"#, #""op":"read","ranges":[[5,1]]"#, #""op":"read","ranges":[]"#,
      #""op":"read","ranges":{}"#, #""op":"read","ranges":[[1,9223372036854775807]]"#, #""op":"delivered","seq":0"#,
      #""op":"delivered""#, #""op":"nonsense""#, #""op":"title""#, #""x":1"#,
    ] {
      #expect(try push(members) == "bad_request", "\(members)")
    }
    // An operation that cannot be parsed ends the push; the client then pushes each operation alone.
    for (state, members) in [
      ("22", #""op":"say","id":"no uuid","payload":"e30=""#), ("22", #""op":"say",\#(id),"ttl":"x""#),
      ("22", #""op":"say","id":"\#(Identifier.random)","payload":"***""#),
      ("22", #""op":"delivered","seq":99999999999999999999"#),
    ] {
      let end = try mallory.state(of: "SELECT * FROM dm1.push($1::jsonb)", "[\(start)\(members)}]")
      #expect(end.hasPrefix(state), "\(members): \(end)")
    }
    let nested = String(repeating: "[", count: 20_000) + String(repeating: "]", count: 20_000)
    #expect(try mallory.state(of: "SELECT * FROM dm1.push($1::jsonb)", nested) == "54001")
    let many = "[" + (0...1000).map { _ in "{}" }.joined(separator: ",") + "]"
    #expect(try mallory.state(of: "SELECT * FROM dm1.push($1::jsonb)", many) == "54000")
    let large = HubOperation(
      .say, nonce: .random, conversation: own, id: .random, payload: [UInt8](repeating: 0x20, count: 524_289))
    #expect(try mallory.push([large])[0].fault == "bad_request")
    #expect(try mallory.pull(own).count == 1)
    // Only the operation that is too large is refused.
    let profile = HubOperation(.profile, nonce: .random, payload: [UInt8](repeating: 0x20, count: 65_537))
    #expect(try mallory.push([profile, .say("x", in: own)]).map(\.fault) == ["bad_request", nil])
    // A nonce cannot be used again for another act, even with `lax`.
    let said = HubOperation.say("y", in: own)
    var other = HubOperation(
      .react, nonce: said.nonce, conversation: own, id: said.id, seq: 2, payload: Array("{}".utf8))
    other.arguments.isLax = true
    #expect(try mallory.push([said, other]).map(\.fault) == [nil, "nonce_conflict"])
    // A label that is too long is cut.
    let label = String(repeating: "x", count: 1_000_000)
    #expect(try mallory.state(of: "SELECT * FROM dm1.hello(1, $1)", label) == "ok")
    #expect(try hub.server.psql(hub.database, "SELECT max(octet_length(label)) FROM dm.login") == "64\n")
  }

  @Test func `a person over the quota must wait, and the answer says until when`() throws {
    try hub.server.psql(hub.database, "UPDATE dm.hub SET hourly_bytes = 1048576")
    let own = Identifier.random(.group(by: "mallory"))
    #expect(try mallory.push([HubOperation(.group, conversation: own)])[0].fault == nil)
    func say() throws -> HubAnswer {
      let payload = [UInt8](repeating: 0x20, count: 400_000)
      return try mallory.push([
        HubOperation(.say, nonce: .random, conversation: own, id: .random, payload: payload)
      ])[0]
    }
    #expect(try say().fault == nil)
    let answers = try (0..<2).map { _ in try say() }
    let refused = try #require(answers.first { $0.fault != nil })
    #expect(refused.fault == "over_quota")
    #expect(1..<3_600_000_000 ~= (try #require(refused.retryAt).microseconds) - Timestamp.now.microseconds)
    #expect(try alice.push([.say("x", in: direct)])[0].fault == nil)
  }

  @Test func `a member who returns without history sees reactions only to messages that they see`() throws {
    let first = try #require(try mallory.pull(group).last { $0.kind == .message })
    let unseen = Identifier.random
    try alice.push([.say("for bob", in: group, id: unseen)])
    let hidden = try #require(try alice.pull(group).last)
    let react = { (entry: HubEntry) in
      var operation = HubOperation(.react, conversation: self.group, payload: "{}")
      (operation.id, operation.seq) = (entry.id, entry.seq)
      return operation
    }
    #expect(try bob.push([react(first), react(hidden)]).map(\.fault) == [nil, nil])
    #expect(try alice.push([HubOperation(.add, conversation: group, handles: ["mallory"])])[0].fault == nil)
    let reactions = try mallory.pull(group).filter { $0.kind == .reaction }
    #expect(reactions.map(\.seq) == [first.seq])
    let page = try mallory.link.page(of: group, 1...500)
    #expect(page.filter { $0.kind == .reaction } == reactions && !page.contains { $0.seq == hidden.seq })
  }

  @Test func `a person who was added to a group and removed 512 times is added again only with the history`() throws {
    let add = { HubOperation(.add, conversation: self.group, handles: ["mallory"]) }
    let remove = { HubOperation(.remove, conversation: self.group, handles: ["mallory"]) }
    // Stays without an entry between them would be one range, so a message is sent before each stay.
    for _ in 0..<73 {
      let acts = (0..<7).flatMap { _ in [.say("away", in: group), add(), remove()] }
      #expect(try alice.push(acts).allSatisfy { $0.fault == nil })
    }
    try alice.push([.say("away", in: group)])
    #expect(try alice.push([add()])[0].fault == "not_allowed")
    var whole = add()
    whole.arguments.hasHistory = true
    #expect(try alice.push([whole])[0].fault == nil)
    #expect(try mallory.link.compare(since: nil).conversations.first?.sees == VisibleRevs(from: 1))
  }

  @Test func `a transaction that began before a revocation cannot write after it`() throws {
    let connection = try PQConnection(mallory.settings)
    try connection.run([PQConnection.Statement("SELECT 1")])
    for (call, level) in [
      ("dm1.push('[]')", "REPEATABLE READ"), ("dm1.push('[]')", "SERIALIZABLE"), ("dm1.wake('{}')", "REPEATABLE READ"),
    ] {
      let acts = "BEGIN ISOLATION LEVEL \(level); SELECT * FROM \(call); COMMIT"
      #expect(throws: HubFault.self) { try connection.execute(acts) }
      try connection.execute("ROLLBACK")
    }
    try hub.administrator.revoke("mallory")
    #expect(throws: HubFault.self) { try connection.run([PQConnection.Statement("SELECT 1")]) }
    #expect(throws: HubFault.self) { try PQConnection(mallory.settings) }
  }
}
