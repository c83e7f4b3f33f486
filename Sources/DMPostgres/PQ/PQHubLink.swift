internal import DMJSON
internal import DMKit
package import DMModel
internal import DMStore
package import DMSync
internal import DMSystem

/// A link to a hub: PostgreSQL with the functions of the schema `dm1`.
package final class PQHubLink: HubLink {
  private let settings: () throws -> [(name: String, value: String)]
  private let label: String
  private let bell: Watch?
  private let live: Watch?
  private var connection: PQConnection?
  /// How many comparisons in a row had the same horizon although conversations had changed.
  private var standing = 0

  /// The link of a store: its credentials are read anew for each connection.
  package convenience init(_ location: StoreLocation) {
    self.init(label: hostName(), bell: location.bell, live: location.live) {
      try Credentials(file: location.hub).settings()
    }
  }

  init(
    label: String, bell: String?, live: String? = nil,
    _ settings: @escaping () throws -> [(name: String, value: String)]
  ) {
    self.settings = settings
    self.label = label
    self.bell = bell.map(Watch.init)
    self.live = live.map(Watch.init)
  }

  private func open(_ connection: PQConnection?) throws -> PQConnection {
    guard let connection else { throw HubFault.lost("the connection is closed") }
    return connection
  }

  package func close() { connection = nil }

  // MARK: Calls

  package func open() throws -> HubHello {
    close()
    let connection = try PQConnection(settings())
    var hello: HubHello?
    var channel = ""
    try connection.run([
      PQConnection.settings(),
      PQConnection.Statement(
        "SELECT hub, epoch, started_at, is_standby, person, handle, machine, now, poll_seconds, people_rev, channel, 'signals' = ANY (features) "
          + "FROM dm1.hello(1, $1)", [label]
      ) { row in
        hello = HubHello(
          hub: try row.identifier(0), epoch: try row.identifier(1), startedAt: try row.timestamp(2),
          isStandby: try row.flag(3), person: try row.integer(4), handle: try row.text(5),
          machine: try row.identifier(6), now: try row.timestamp(7),
          pollSeconds: row.optionalInteger(8).map { Int(clamping: $0) }, peopleRev: try row.integer(9))
        channel = try row.text(10)
        hello?.hasSignals = try row.flag(11)
      },
    ])
    guard var hello else { throw HubFault.damaged("the hub does not say who this is") }
    if hello.pollSeconds == nil, !hello.isStandby, try !listens(connection, to: channel) {
      hello.isPooled = true
      hello.pollSeconds = 2
    }
    self.connection = connection
    return hello
  }

  /// Listens for hints; false if none can arrive, because a pooler gives each transaction another connection.
  private func listens(_ connection: PQConnection, to channel: String) throws -> Bool {
    // The channel's name cannot be a parameter, so it is checked: a hub's channels have only letters, digits and
    // underscores.
    guard channel.utf8.allSatisfy(isNameByte) else { throw HubFault.damaged("the hub names a channel that is none") }
    try connection.run([PQConnection.Statement("LISTEN \(channel)")])
    let isDirect = try connection.rows("SELECT pg_backend_pid() = $1::integer", [String(connection.process)]) {
      try $0.flag(0)
    }
    if isDirect == [true] { return true }
    // A pooler is in between. Unless it reserves this server connection for this machine, notices from another
    // connection do not arrive.
    do {
      let other = try PQConnection(settings())
      try other.run([PQConnection.Statement("NOTIFY \(channel)")])
    }
    var awaited = [Awaited(connection.descriptor, for: .reading)]
    let end = monotonicMicroseconds() + 2_000_000
    while try connection.notifications().isEmpty {
      guard waitForAny(of: &awaited, until: end) || monotonicMicroseconds() < end else { return false }
    }
    return true
  }

  package func compare(since horizon: String?) throws -> HubComparison {
    let connection = try open(connection)
    var comparison: (horizon: String, peopleRev: Int64)?
    var conversations: [HubComparison.Conversation] = []
    try connection.run([
      PQConnection.Statement(
        "SELECT h.horizon::text, h.people_rev, c.* FROM dm1.changed($1::xid8) h "
          + "LEFT JOIN LATERAL unnest(h.conv, h.rev, h.mark, h.sees) c ON true", [horizon]
      ) { row in
        comparison = (try row.text(0), try row.integer(1))
        guard let id = row.optionalIdentifier(2), let sees = row.optionalText(5).flatMap({ VisibleRevs($0) }) else {
          return
        }
        conversations.append(
          HubComparison.Conversation(id: id, rev: try row.integer(3), mark: row.optionalIdentifier(4), sees: sees))
      }
    ])
    guard let comparison else { throw HubFault.damaged("the hub does not say what has moved") }
    // While a transaction stays open, the horizon does not move, and each comparison lists all later changes again.
    standing = comparison.horizon == horizon && !conversations.isEmpty ? standing + 1 : 0
    if standing >= 2 {
      standing = 0
      try unstick()
    }
    return HubComparison(
      horizon: comparison.horizon, peopleRev: comparison.peopleRev, conversations: conversations)
  }

  /// Asks the hub to end the connections of members that may block others, such as with a transaction open for over ten
  /// seconds.
  private func unstick() throws { try open(connection).run([PQConnection.Statement("SELECT dm1.unstick()")]) }

  package func exchange(
    _ operations: [HubOperation], pulling: [HubPull], limit: Int, _ batch: (HubBatch) throws -> Void
  ) throws -> [HubAnswer] {
    var answers: [HubAnswer] = []
    var statements = pushing(operations) { answers.append(try HubAnswer($0)) }
    // Passes batches on only after all have arrived, so that the store is not locked while this process waits for the
    // network.
    let pulled = PulledBatches(pulling)
    if !pulling.isEmpty { statements.append(self.pulling(pulling, limit, into: pulled)) }
    let fault = Result { try open(connection).run(statements) }
    switch fault {
    // If `wake` failed, a member may be filling the server's queue of notices.
    case .success(let isWhole): if !isWhole { try unstick() }
    case .failure(HubFault.locked(let text, _)):
      try unstick()
      throw HubFault.locked(text, try busy(among: operations))
    case .failure(let error): guard error is HubFault else { throw error }
    }
    if pulling.isEmpty || answers.count == operations.count { try pulled.finished().forEach(batch) }
    _ = try fault.get()
    guard answers.count == operations.count else {
      throw HubFault.damaged("the hub has not answered to each operation")
    }
    return answers
  }

  /// The statements that push operations, and then notify the members of their conversations.
  private func pushing(
    _ operations: [HubOperation], _ answer: @escaping (PQRow) throws -> Void
  ) -> [PQConnection.Statement] {
    if operations.isEmpty { return [] }
    let push = PQConnection.Statement(
      "SELECT conv, id, rev, duplicate, error, retry_at FROM dm1.push($1::jsonb)", [operations.pushed], row: answer)
    let moved = Set(operations.compactMap(\.conversation)).sorted()
    if moved.isEmpty { return [push] }
    // `wake` may fail: by then the push is done, and other machines also compare from time to time.
    var wake = PQConnection.Statement("SELECT dm1.wake($1::uuid[])", [array(moved.map(\.description))])
    wake.mayFail = true
    return [push, wake]
  }

  private func pulling(_ pulls: [HubPull], _ limit: Int, into pulled: PulledBatches) -> PQConnection.Statement {
    PQConnection.Statement(
      "SELECT conv, rev, seq, at, actor, machine, kind, id, nonce, mark, expires_at, meta, payload "
        + "FROM dm1.pull($1::uuid[], $2::bigint[], $3::uuid[], $4::integer)",
      [
        array(pulls.map(\.conversation.description)), array(pulls.map { String($0.rev) }),
        array(pulls.map { $0.mark?.description ?? "NULL" }), String(limit),
      ], row: pulled.add)
  }

  /// The conversations of these operations that other transactions have locked now.
  private func busy(among operations: [HubOperation]) throws -> Set<Identifier> {
    let conversations = Set(operations.compactMap(\.conversation)).map(\.description)
    return Set(
      try open(connection).rows("SELECT * FROM dm1.busy($1::uuid[])", [array(conversations)]) { try $0.identifier(0) })
  }

  package func people(after rev: Int64) throws -> [HubPerson] {
    try open(connection).rows(
      "SELECT id, handle, profile, shows_presence, created_at, rev, is_disabled FROM dm1.people($1::bigint, 1000)",
      [String(rev)]
    ) { row in
      HubPerson(
        id: try row.integer(0), handle: try row.text(1), profile: row.bytes(2), showsPresence: try row.flag(3),
        createdAt: try row.timestamp(4), rev: try row.integer(5), isDisabled: try row.flag(6))
    }
  }

  package func members(of conversation: Identifier) throws -> [HubMember] {
    try open(connection).rows(
      "SELECT person, is_owner, since FROM dm1.members($1::uuid)", [conversation.description]
    ) { HubMember(person: try $0.integer(0), isOwner: try $0.flag(1), since: try $0.integer(2)) }
  }

  package func signals(_ own: HubSignals) throws -> [HubSignal] {
    var hidden = JSONWriter()
    hidden.array { json in for handle in own.hiddenFrom ?? [] { json.value(handle.description) } }
    return try open(connection).rows(
      "SELECT conv, person, rest, age FROM dm1.signals($1::uuid[], $2::integer[], $3::uuid[], $4::boolean, "
        + "CASE WHEN $5::jsonb IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text($5::jsonb)) END, $6::uuid[], $7::integer)",
      [
        array(own.typing.map(\.conversation.description)), array(own.typing.map { String($0.rest) }),
        array(own.ended.map(\.description)), own.isPresent ? "true" : "false",
        own.hiddenFrom.map { _ in String(decoding: hidden.bytes, as: UTF8.self) },
        array(own.watched.map(\.description)), own.seenSeconds.map(String.init),
      ]
    ) { row in
      let person = try row.integer(1)
      if let age = row.optionalInteger(3) { return .present(person: person, age: age) }
      return .typing(try row.identifier(0), person: person, rest: try row.integer(2))
    }
  }

  /// Reports to the hub that the sign-up is complete.
  func joined() throws { try open(connection).run([PQConnection.Statement("SELECT dm1.joined()")]) }

  /// Removes this machine's login from the hub.
  package func goodbye() throws { try open(connection).run([PQConnection.Statement("SELECT dm1.goodbye()")]) }

  // MARK: Waiting

  package func wait(for duration: Duration) throws -> HubHint {
    let connection = try open(connection)
    var hint = HubHint(conversations: try hinted(connection))
    if !hint.conversations.isEmpty { return hint }
    var awaited = [connection.descriptor, bell?.descriptor, live?.descriptor].map { Awaited($0, for: .reading) }
    if waitForAny(of: &awaited, until: monotonicMicroseconds() + duration.microseconds) {
      if awaited[1].isReady {
        bell?.drain()
        hint.isRung = true
      }
      if awaited[2].isReady {
        live?.drain()
        hint.isSignalled = true
      }
      if awaited[0].isReady { hint.conversations = try hinted(connection) }
    }
    return hint
  }

  private func hinted(_ connection: PQConnection) throws -> Set<Identifier> {
    Set(try connection.notifications().compactMap { $0.hasPrefix("c ") ? Identifier(String($0.dropFirst(2))) : nil })
  }
}

private func isNameByte(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
  default: false
  }
}

/// An array of values that need no quotes, as PostgreSQL reads it.
private func array(_ values: [String]) -> String { "{\(values.joined(separator: ","))}" }

/// The result of a pull, in batches of one conversation each.
private final class PulledBatches {
  private let asked: Set<Identifier>
  private var batches: [HubBatch] = []
  private var entries: [HubEntry] = []

  init(_ pulls: [HubPull]) { asked = Set(pulls.map(\.conversation)) }

  /// - Throws: `HubFault.damaged` for a row of a conversation that was not requested, or with an invalid kind.
  func add(_ row: PQRow) throws {
    let conversation = try row.identifier(0)
    guard asked.contains(conversation) else { throw HubFault.damaged("the hub tells what it was not asked") }
    switch try row.integer(6) {
    case 0...: break
    case -1:
      endBatch()
      return batches.append(.fork(conversation))
    default: throw HubFault.damaged("the hub tells of entries that are none")
    }
    let entry = try HubEntry(row)
    if let last = entries.last, last.conversation != entry.conversation { endBatch() }
    entries.append(entry)
  }

  private func endBatch() {
    if !entries.isEmpty { batches.append(.entries(entries)) }
    entries = []
  }

  func finished() -> [HubBatch] {
    endBatch()
    return batches
  }
}
