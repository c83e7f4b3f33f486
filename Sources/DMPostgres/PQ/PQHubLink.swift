internal import DMJSON
internal import DMKit
package import DMModel
internal import DMStore
package import DMSync
internal import DMSystem

/// A link to a hub: PostgreSQL with the functions of the schema `dm1`.
package final class PQHubLink: HubLink {
  /// Calls `connect` with the settings for the address at which the hub is now.
  private let opening: (_ connect: (PQConnection.Settings) throws -> PQGreeting) throws -> PQGreeting
  private let label: String
  private let bell: Watch?
  private let live: Watch?
  private var connection: PQConnection?
  /// The channel on which hints arrive; nil if this link cannot start and stop listening, as through a pooler.
  private var channel: String?
  /// Whether the hub supports own states.
  private var hasOwnStates = false
  /// Statements that are sent together with the next ones, which saves a round trip.
  var postponed: [PQConnection.Statement] = []
  /// How many comparisons in a row had the same horizon although conversations had changed.
  private var standing = 0

  /// Makes a link that reads the store's credentials again for each connection, and follows a hub that was moved.
  ///
  /// - Parameter watchesStore: whether waits end when a program queues an operation or changes a signal.
  package convenience init(_ location: StoreLocation, watchesStore: Bool = true) {
    let relocation = Relocation(location)
    // A folder that does not exist cannot be watched.
    _ = createFolder(location.live)
    self.init(
      label: hostName(), bell: watchesStore ? location.bell : nil, live: watchesStore ? location.live : nil,
      opening: relocation.opened)
  }

  /// Makes a link that connects with the given settings, and does not follow a hub that was moved.
  convenience init(label: String, _ settings: @escaping () throws -> PQConnection.Settings) {
    self.init(label: label, bell: nil, live: nil) { connect in try connect(settings()) }
  }

  private init(
    label: String, bell: String?, live: String?,
    opening: @escaping ((PQConnection.Settings) throws -> PQGreeting) throws -> PQGreeting
  ) {
    self.opening = opening
    self.label = label
    self.bell = bell.map(Watch.init)
    self.live = live.map(Watch.init)
  }

  private func open(_ connection: PQConnection?) throws -> PQConnection {
    guard let connection else { throw HubFault.lost("the connection is closed") }
    return connection
  }

  package func close() {
    (connection, channel) = (nil, nil)
    postponed = []
  }

  /// Runs the postponed statements and then the given ones, in one round trip.
  @discardableResult func run(_ statements: [PQConnection.Statement]) throws -> Bool {
    let connection = try open(connection)
    defer { postponed = [] }
    return try connection.run(postponed + statements)
  }

  func rows<Value>(_ sql: String, _ values: [String?], _ make: @escaping (PQRow) throws -> Value) throws
    -> [Value]
  {
    var rows: [Value] = []
    try run([PQConnection.Statement(sql, values) { rows.append(try make($0)) }])
    return rows
  }

  // MARK: Calls

  package func open() throws -> HubHello {
    close()
    var opened = try opening(greeted)
    // The name becomes part of the statement, because LISTEN takes no parameters. A hub's channels have only lower-case
    // letters, digits and underscores.
    guard opened.channel.utf8.allSatisfy(isNameByte) else { throw HubFault.damaged("the hub names an invalid channel") }
    if opened.hello.pollSeconds == nil, !opened.hello.isStandby {
      if opened.isDirect {
        channel = opened.channel
      } else if try !listens(opened) {
        opened.hello.isPooled = true
        opened.hello.pollSeconds = 2
      }
    }
    connection = opened.connection
    hasOwnStates = opened.hello.hasOwnStates
    return opened.hello
  }

  private func greeted(_ settings: PQConnection.Settings) throws -> PQGreeting {
    try PQGreeting.first(of: settings, label: label)
  }

  package func listen(_ isOn: Bool) throws {
    guard let channel else { return }
    postponed.append(PQConnection.Statement("\(isOn ? "LISTEN" : "UNLISTEN") \(channel)"))
  }

  /// Listens for hints through a pooler; false if no hint can arrive, because the pooler runs each transaction on
  /// another server connection.
  ///
  /// Hints arrive only if the pooler reserves a server connection for this machine. A second connection tests that.
  private func listens(_ opened: PQGreeting) throws -> Bool {
    try opened.connection.run([PQConnection.Statement("LISTEN \(opened.channel)")])
    try opening(greeted).connection.run([PQConnection.Statement("NOTIFY \(opened.channel)")])
    var awaited = [Awaited(opened.connection.descriptor, for: .reading)]
    let end = monotonicMicroseconds() + 2_000_000
    while try opened.connection.notifications().isEmpty {
      guard waitForAny(of: &awaited, until: end) || monotonicMicroseconds() < end else { return false }
    }
    return true
  }

  package func compare(since horizon: String?) throws -> HubComparison {
    var comparison: (horizon: String, peopleRev: Int64, ownRev: Int64)?
    let ownRev = hasOwnStates ? "(SELECT dm1.own_rev())" : "0"
    var conversations: [HubComparison.Conversation] = []
    try run([
      PQConnection.Statement(
        "SELECT h.horizon::text, h.people_rev, \(ownRev), c.* FROM dm1.changed($1::xid8) h "
          + "LEFT JOIN LATERAL unnest(h.conv, h.rev, h.mark, h.sees) c ON true", [horizon]
      ) { row in
        comparison = (try row.text(0), try row.integer(1), try row.integer(2))
        guard let id = row.optionalIdentifier(3), let sees = row.optionalText(6).flatMap({ VisibleRevs($0) }) else {
          return
        }
        conversations.append(
          HubComparison.Conversation(id: id, rev: try row.integer(4), mark: row.optionalIdentifier(5), sees: sees))
      }
    ])
    guard let comparison else { throw HubFault.damaged("the hub has not answered the comparison") }
    // While a transaction stays open, the horizon does not move, and each comparison lists all later changes again.
    standing = comparison.horizon == horizon && !conversations.isEmpty ? standing + 1 : 0
    if standing >= 2 {
      standing = 0
      try unstick()
    }
    return HubComparison(
      horizon: comparison.horizon, peopleRev: comparison.peopleRev, ownRev: comparison.ownRev,
      conversations: conversations)
  }

  /// Asks the hub to end the members' connections that may block other members, such as those with a transaction that
  /// has been open for over ten seconds.
  func unstick() throws { try run([PQConnection.Statement("SELECT dm1.unstick()")]) }

  package func exchange(
    _ operations: [HubOperation], pulling: [HubPull], limit: Int, _ batch: (HubBatch) throws -> Void
  ) throws -> [HubAnswer] {
    var answers: [HubAnswer] = []
    var statements = pushing(operations) { answers.append(try HubAnswer($0)) }
    // The batches are passed on after all have arrived, so that the store is not locked while this process waits for
    // the network.
    let pulled = PulledBatches(pulling)
    if !pulling.isEmpty { statements.append(self.pulling(pulling, limit, into: pulled)) }
    let fault = Result { try run(statements) }
    switch fault {
    // If `wake` failed, an open transaction of a member may have filled the server's queue of notifications.
    case .success(let isWhole): if !isWhole { try unstick() }
    case .failure(HubFault.locked(let text, _)):
      try unstick()
      throw HubFault.locked(text, try busy(among: operations))
    case .failure(let error): guard error is HubFault else { throw error }
    }
    if pulling.isEmpty || answers.count == operations.count { try pulled.finished().forEach(batch) }
    _ = try fault.get()
    guard answers.count == operations.count else {
      throw HubFault.damaged("the hub has not answered every operation")
    }
    return answers
  }

  /// The statements that push operations, and then notify the members of the conversations.
  private func pushing(
    _ operations: [HubOperation], _ answer: @escaping (PQRow) throws -> Void
  ) -> [PQConnection.Statement] {
    if operations.isEmpty { return [] }
    let push = PQConnection.Statement(
      "SELECT conv, id, rev, duplicate, error, retry_at FROM dm1.push($1::jsonb)", [operations.pushed], row: answer)
    let moved = Set(operations.filter(\.isAnnounced).compactMap(\.conversation)).sorted()
    if moved.isEmpty { return [push] }
    // `wake` may fail without an error here: the push is done by then, and the next comparison of each machine finds
    // the entries.
    var wake = PQConnection.Statement("SELECT dm1.wake($1::uuid[])", [array(moved.map(\.description))])
    wake.mayFail = true
    return [push, wake]
  }

  /// The columns that `HubEntry` reads.
  static let entry = "conv, rev, seq, at, actor, machine, kind, id, nonce, mark, expires_at, meta, payload"

  private func pulling(_ pulls: [HubPull], _ limit: Int, into pulled: PulledBatches) -> PQConnection.Statement {
    PQConnection.Statement(
      "SELECT \(Self.entry) FROM dm1.pull($1::uuid[], $2::bigint[], $3::uuid[], $4::integer)",
      [
        array(pulls.map(\.conversation.description)), array(pulls.map { String($0.rev) }),
        array(pulls.map { $0.mark?.description ?? "NULL" }), String(limit),
      ], row: pulled.add)
  }

  /// The conversations of these operations that other transactions have locked at present.
  private func busy(among operations: [HubOperation]) throws -> Set<Identifier> {
    let conversations = Set(operations.compactMap(\.conversation)).map(\.description)
    return Set(
      try rows("SELECT * FROM dm1.busy($1::uuid[])", [array(conversations)]) { try $0.identifier(0) })
  }

  package func people(after rev: Int64) throws -> [HubPerson] {
    try rows(
      "SELECT id, handle, profile, shows_presence, created_at, rev, is_disabled FROM dm1.people($1::bigint, 1000)",
      [String(rev)]
    ) { row in
      HubPerson(
        id: try row.integer(0), handle: try row.text(1), profile: row.bytes(2), showsPresence: try row.flag(3),
        createdAt: try row.timestamp(4), rev: try row.integer(5), isDisabled: try row.flag(6))
    }
  }

  package func members(of conversation: Identifier) throws -> [HubMember] {
    try rows(
      "SELECT person, is_owner, since FROM dm1.members($1::uuid)", [conversation.description]
    ) { HubMember(person: try $0.integer(0), isOwner: try $0.flag(1), since: try $0.integer(2)) }
  }

  package func signals(_ own: HubSignals) throws -> [HubSignal] {
    var hidden = JSONWriter()
    hidden.array { json in for handle in own.hiddenFrom ?? [] { json.value(handle.description) } }
    return try rows(
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

  /// Tells the hub that the sign-up is complete.
  func joined() throws { try run([PQConnection.Statement("SELECT dm1.joined()")]) }

  /// Removes this machine's login from the hub.
  package func goodbye() throws { try run([PQConnection.Statement("SELECT dm1.goodbye()")]) }

  // MARK: Waiting

  package func wait(for duration: Duration) throws -> HubHint {
    if !postponed.isEmpty { try run([]) }
    let connection = try open(connection)
    var hint = HubHint()
    try take(connection.notifications(), into: &hint)
    if !hint.conversations.isEmpty || hint.hasOwnStates { return hint }
    var awaited = [connection.descriptor, bell?.descriptor, live?.descriptor].map { Awaited($0, for: .reading) }
    // If the bell or the signals cannot be watched, the wait ends within five seconds.
    let cannotWatch = [bell, live].contains { $0.map { $0.descriptor == nil } ?? false }
    let longest = cannotWatch ? min(duration.microseconds, 5_000_000) : duration.microseconds
    if waitForAny(of: &awaited, until: monotonicMicroseconds() + longest) {
      if awaited[1].isReady {
        bell?.drain()
        hint.isRung = true
      }
      if awaited[2].isReady {
        live?.drain()
        hint.isSignalled = true
      }
      if awaited[0].isReady { try take(connection.notifications(), into: &hint) }
    }
    return hint
  }

  private func take(_ notifications: [String], into hint: inout HubHint) {
    for text in notifications {
      if text == "o" { hint.hasOwnStates = true }
      if text.hasPrefix("c "), let id = Identifier(String(text.dropFirst(2))) { hint.conversations.insert(id) }
    }
  }
}

private func isNameByte(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
  default: false
  }
}

/// A PostgreSQL array literal of values that need no quotes.
func array(_ values: [String]) -> String { "{\(values.joined(separator: ","))}" }
