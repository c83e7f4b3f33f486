import Testing

@testable import DMKit
@testable import DMModel
@testable import DMPostgres
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

/// A hub on a real server, in a database of its own.
final class PostgresHub {
  let server: PostgresServer
  let database: String
  let administrator: Administrator

  init() throws {
    server = try PostgresServer.shared.get()
    database = try server.database()
    administrator = try Administrator(database)
    _ = try administrator.install(address: nil, authority: nil, isShared: false)
  }

  /// The rows of the result of a query of the administrator, as lines.
  func query(_ sql: String) throws -> [String] {
    try server.psql(database, sql).split(separator: "\n").map(String.init)
  }

  /// Adds a machine of a person, which signs up, and returns its link.
  func link(_ handle: String) throws -> PQHubLink {
    let invitation = try administrator.invite(Handle(handle), days: 1)
    let link = PQHubLink(label: "test") { try Credentials(invitation).settings() }
    _ = try link.open()
    try link.joined()
    return link
  }
}

struct PostgresTests {
  @Test func `a comparison does not read all members of each group, even if statistics are old`()
    throws
  {
    let hub = try PostgresHub()
    let (alice, _) = (try Attacker(hub, "alice"), try Attacker(hub, "bob"))
    for table in ["member", "conversation", "entry"] {
      _ = try hub.server.psql(hub.database, "ALTER TABLE dm.\(table) SET (autovacuum_enabled = false)")
    }
    // When the statistics are collected, there is one conversation with many messages.
    let direct = Identifier.random(.direct("alice", "bob"))
    let messages = (0..<500).map { HubOperation.say("\($0)", in: direct) }
    #expect(try alice.push([HubOperation(.begin, conversation: direct, handles: ["bob"])] + messages).count == 501)
    _ = try hub.server.psql(hub.database, "ANALYZE")
    for _ in 0..<4 {
      let groups = (0..<250).map { _ in
        HubOperation(.group, conversation: .random(.group(by: "alice")), handles: ["bob"], payload: "{}")
      }
      #expect(try alice.push(groups).allSatisfy { $0.fault == nil })
    }
    let login = try #require(alice.settings.first { $0.name == "user" }?.value)
    let rows = try hub.server.psql(
      hub.database,
      """
      BEGIN; SET SESSION AUTHORIZATION \(login); SELECT array_length(conv, 1) FROM dm1.changed(NULL);
      SELECT count(*) FROM (SELECT array_agg(k) AS convs FROM (SELECT unnest(conv) k FROM dm1.changed(NULL)) z) c,
        dm1.pull(c.convs, array_fill(1::bigint, ARRAY[1001]), array_fill(NULL::uuid, ARRAY[1001]), 1000);
      RESET SESSION AUTHORIZATION; SELECT coalesce(sum(seq_tup_read), 0) FROM pg_stat_xact_user_tables; COMMIT
      """
    ).split(separator: "\n").compactMap { Int($0) }
    #expect(rows.count == 3 && rows[0] == 1001 && rows[1] == 500 && rows[2] < 100_000, "\(rows)")
  }

  @Test func `a link returns the handle of its user, and delivers a message to another person`() throws {
    let hub = try PostgresHub()
    let (alice, bob) = (try hub.link("alice"), try hub.link("bob"))
    #expect(try alice.open().handle == "alice")
    let conversation = Identifier.random(.direct("alice", "bob"))
    var begin = HubOperation(.begin, nonce: .random, conversation: conversation)
    begin.arguments.handles = [Handle(typed: "bob")]
    let say = HubOperation(
      .say, nonce: .random, conversation: conversation, id: .random,
      payload: HubPayload.text(HubPayload.Text(text: "hello")).bytes)
    let answers = try alice.exchange([begin, say], pulling: [], limit: 10) { _ in }
    #expect(answers.map(\.fault) == [nil, nil] && answers.map(\.rev) == [1, 2])
    #expect(try bob.compare(since: nil).conversations.map(\.id) == [conversation])
    var entries: [HubEntry] = []
    _ = try bob.exchange([], pulling: [HubPull(conversation: conversation, rev: 0, mark: nil)], limit: 10) { batch in
      if case .entries(let new) = batch { entries += new }
    }
    #expect(entries.map(\.kind) == [.begun, .message])
    #expect(entries.last?.payload == say.payload && entries.last?.id == say.id)
    #expect(try bob.people(after: 0).map(\.handle) == ["alice", "bob"])
  }

  @Test func `a sweep erases all expired messages, and no others`() throws {
    let hub = try PostgresHub()
    let alice = try hub.link("alice")
    let group = Identifier.random(.group(by: "alice"))
    var operations = [HubOperation(.group, conversation: group)]
    for number in 0..<250 {
      var fleeting = HubOperation.say("fleeting \(number)", in: group)
      fleeting.arguments.lifetime = 3_600_000_000
      operations.append(fleeting)
    }
    operations.append(.say("lasting", in: group))
    #expect(try alice.exchange(operations, pulling: [], limit: 1) { _ in }.allSatisfy { $0.fault == nil })
    #expect(try hub.administrator.sweep() == 0)
    _ = try hub.query("UPDATE dm.entry SET expires_at = now() - interval '1 s' WHERE expires_at IS NOT NULL")
    #expect(try hub.administrator.sweep() == 250 && hub.administrator.sweep() == 0)
    #expect(try hub.query("SELECT count(*) FROM dm.entry WHERE kind = 0 AND payload IS NOT NULL") == ["1"])
  }

  @Test func `a later push of any member erases expired messages`() throws {
    let hub = try PostgresHub()
    let (alice, bob) = (try hub.link("alice"), try hub.link("bob"))
    let conversation = Identifier.random(.direct("alice", "bob"))
    var begin = HubOperation(.begin, nonce: .random, conversation: conversation)
    begin.arguments.handles = [Handle(typed: "bob")]
    var fleeting = HubOperation.say("fleeting", in: conversation)
    fleeting.arguments.lifetime = 1_000_000
    var edit = HubOperation(.edit, conversation: conversation)
    (edit.id, edit.seq) = (fleeting.id, 1)
    edit.payload = HubPayload.text(HubPayload.Text(text: "fleeting, too")).bytes
    let lasting = HubOperation.say("lasting", in: conversation)
    let answers = try alice.exchange([begin, fleeting, edit, lasting], pulling: [], limit: 1) { _ in }
    #expect(answers.allSatisfy { $0.fault == nil })
    let words = { try hub.query("SELECT id FROM dm.entry WHERE kind = 0 AND payload IS NOT NULL").count }
    #expect(try words() == 2)
    let deadline = ContinuousClock.now + .seconds(20)
    repeat {
      _ = try bob.exchange([HubOperation(.profile, conversation: nil, payload: "{}")], pulling: [], limit: 1) { _ in }
    } while try words() != 1 && ContinuousClock.now < deadline
    #expect(try words() == 1)
    let left = try hub.query("SELECT convert_from(payload, 'UTF8') FROM dm.entry").joined()
    #expect(left.contains("lasting") && !left.contains("fleeting"))
  }

  @Test func `expired messages are not returned, even before they are erased`() throws {
    let hub = try PostgresHub()
    let (alice, bob) = (try hub.link("alice"), try hub.link("bob"))
    let conversation = Identifier.random(.direct("alice", "bob"))
    var begin = HubOperation(.begin, conversation: conversation)
    begin.arguments.handles = [Handle(typed: "bob")]
    var fleeting = HubOperation.say("fleeting", in: conversation)
    fleeting.arguments.lifetime = 1_000_000
    var react = HubOperation(.react, conversation: conversation, payload: "{\"v\":1,\"emoji\":\"x\"}")
    (react.id, react.seq) = (fleeting.id, 1)
    let answers = try alice.exchange([begin, fleeting, react], pulling: [], limit: 1) { _ in }
    #expect(answers.allSatisfy { $0.fault == nil })
    func payloads() throws -> [[UInt8]] {
      var entries: [HubEntry] = []
      _ = try bob.exchange([], pulling: [HubPull(conversation: conversation, rev: 0, mark: nil)], limit: 10) { batch in
        if case .entries(let new) = batch { entries += new }
      }
      return entries.compactMap(\.payload)
    }
    let deadline = ContinuousClock.now + .seconds(20)
    while try !payloads().isEmpty, ContinuousClock.now < deadline {}
    #expect(try payloads().isEmpty)
    #expect(try hub.query("SELECT id FROM dm.entry WHERE payload IS NOT NULL").count == 2)
    var late = HubOperation(.react, conversation: conversation, payload: "{}")
    (late.id, late.seq) = (react.id, react.seq)
    let refused = try alice.exchange([late], pulling: [], limit: 1) { _ in }
    #expect(refused.map(\.fault) == ["unknown_message"])
  }

  @Test func `on a server with lower transaction numbers, comparisons neither miss nor repeat conversations`() throws {
    let hub = try PostgresHub()
    let alice = try hub.link("alice")
    let begin = HubOperation(.group, conversation: .random(.group(by: "alice")), payload: "{}")
    #expect(try alice.exchange([begin], pulling: [], limit: 1) { _ in }.map(\.fault) == [nil])
    // If the horizon of a store is ahead of a hub that was restored, the hub lists all conversations.
    #expect(try alice.compare(since: "9000000000000").conversations.count == 1)
    let epoch = try alice.open().epoch
    _ = try hub.query("UPDATE dm.conversation SET touched = '9000000000000'")
    _ = try hub.query("UPDATE dm.hub SET fingerprint = 'elsewhere'")
    #expect(try alice.open().epoch != epoch)
    // Transactions of other tests on the server advance the horizon.
    let deadline = ContinuousClock.now + .seconds(60)
    var horizon: String?
    while ContinuousClock.now < deadline {
      let comparison = try alice.compare(since: horizon)
      if comparison.conversations.isEmpty { break }
      horizon = comparison.horizon
    }
    #expect(try alice.compare(since: horizon).conversations.isEmpty)
  }

  @Test func `a waiting member ends the connection of a member who holds a transaction open`() throws {
    let hub = try PostgresHub()
    let alice = try hub.link("alice")
    let mallory = try Attacker(hub, "mallory")
    let profile = HubOperation(.profile, conversation: nil, payload: "{}")
    let held = try mallory.connection.literal([profile].pushed)
    try mallory.connection.execute(
      "SET idle_in_transaction_session_timeout = 0; BEGIN; SELECT * FROM dm1.push(\(held))")
    let deadline = ContinuousClock.now + .seconds(60)
    var answers: [HubAnswer] = []
    while answers.isEmpty, ContinuousClock.now < deadline {
      do {
        answers = try alice.exchange([profile], pulling: [], limit: 1) { _ in }
      } catch HubFault.locked {}
    }
    #expect(answers.map(\.fault) == [nil])
    #expect(throws: HubFault.self) { try mallory.connection.execute("SELECT 1") }
  }

  @Test func `the role of a machine that is revoked or has left is dropped`() throws {
    let hub = try PostgresHub()
    let (alice, bob) = (try hub.link("alice"), try hub.link("bob"))
    let logins = try hub.query("SELECT quote_literal(role) FROM dm.login").joined(separator: ",")
    let left = { try hub.query("SELECT rolname FROM pg_roles WHERE rolname IN (\(logins))").count }
    #expect(try left() == 2)
    try hub.administrator.revoke("bob")
    #expect(try left() == 1)
    // A member may not drop a role, so the next call of the administrator drops it.
    try alice.goodbye()
    #expect(try left() == 1)
    _ = try hub.administrator.invite(Handle("carol"), days: 1)
    #expect(try left() == 0)
    #expect(throws: HubFault.self) { try bob.open() }
  }
}

extension Identifier {
  /// Who begins a conversation.
  enum Beginning {
    case direct(String, String)
    case group(by: String)
  }

  /// An id with which these persons may begin a conversation.
  static func random(_ beginning: Beginning) -> Identifier {
    switch beginning {
    case .direct(let one, let other): .direct(Handle(stored: one), Handle(stored: other), at: .now)
    case .group(let handle): .group(begunBy: Handle(stored: handle), at: .now)
    }
  }

  static var random: Identifier { Identifier(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max)) }
}
