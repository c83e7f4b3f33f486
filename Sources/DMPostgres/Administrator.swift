internal import DMKit
package import DMModel
internal import DMSync
internal import DMSystem

/// The commands of a hub's administrator, which run over a connection to the hub's database.
package final class Administrator {
  let connection: PQConnection

  /// - Parameter database: a database name, a connection string or a URI, in the forms that libpq accepts
  ///   (postgresql.org/docs/current/libpq-connect.html, section 34.1.1). Parameters that the text does not set come
  ///   from the environment, as with psql(1).
  /// - Throws: `HubFault`.
  package init(_ database: String) throws {
    connection = try PQConnection([("dbname", database), ("application_name", "dm")], expandsName: true)
    connection.quotesServer = true
    try connection.run([PQConnection.settings(and: ["lock_timeout": "2s", "statement_timeout": "0"])])
  }

  /// Runs `body` up to five times: after a lock timeout, ends members' connections that may hold up the transactions of
  /// others, and tries again; after a serialization failure or a deadlock, only tries again.
  func persist<Value>(_ body: () throws -> Value) throws -> Value {
    var left = 5
    while true {
      do {
        return try body()
      } catch let fault as HubFault {
        left -= 1
        switch fault {
        case .locked where left > 0: _ = try unstick(after: "0.5 seconds")
        case .again where left > 0: continue
        default: throw fault
        }
      }
    }
  }

  /// Runs all statements of a script in one transaction.
  func transact(_ script: String) throws {
    try persist {
      do {
        try connection.execute("BEGIN;\n\(script)\nCOMMIT;")
      } catch {
        // A failed transaction stays open until it is rolled back.
        try connection.execute("ROLLBACK")
        throw error
      }
    }
  }

  /// The version of the hub in the database; 0 if the database has no hub.
  ///
  /// - Throws: `HubFault`, `store_too_new` for a hub that is newer than this program.
  func version() throws -> Int {
    let isThere = try connection.rows("SELECT to_regclass('dm.hub') IS NOT NULL") { try $0.flag(0) }
    guard isThere == [true] else { return 0 }
    let version = try connection.rows("SELECT schema FROM dm.hub") { Int(try $0.integer(0)) }.first ?? 0
    guard version <= HubSchema.steps.count else {
      throw DMError(.storeTooNew, "the hub is of version \(version), newer than this program; install a newer dm")
    }
    return version
  }

  /// The version of the hub, which must be the version that this program installs.
  ///
  /// - Parameter isUninstalled: whether to accept also an older hub, because the caller removes it.
  /// - Throws: `no_hub` for a database without a hub, `hub_mismatch` for a hub that is older than this program.
  @discardableResult func installedVersion(isUninstalled: Bool = false) throws -> Int {
    let version = try version()
    guard version > 0 else { throw DMError(.noHub, "the database holds no hub; install one first") }
    guard version == HubSchema.steps.count || isUninstalled else {
      throw DMError(
        .hubMismatch, "the hub is of version \(version), older than this program; install it again; all data stays")
    }
    return version
  }

  /// - Throws: `no_hub` for a hub that was moved, because changes made here would not reach its new server.
  func refuseMoved() throws {
    let moved = try connection.rows("SELECT moved_to FROM dm.hub") { $0.optionalText(0) }.first ?? nil
    guard let moved else { return }
    throw DMError(.noHub, "the hub was moved to '\(moved)'; do this there", subject: moved)
  }

  // MARK: Maintenance

  /// The messages that members reported, without closed reports, the oldest report first.
  ///
  /// - Throws: `HubFault`, `no_hub`.
  package func reports() throws -> [Report] {
    try installedVersion()
    return try connection.rows(
      """
      SELECT r.message, r.conv, r.seq, s.handle, p.handle, r.reason, r.payload, r.at FROM dm.report r
      JOIN dm.person s ON s.id = r.sender JOIN dm.person p ON p.id = r.reporter
      WHERE r.closed_at IS NULL ORDER BY r.id
      """
    ) { row in
      Report(
        messageID: try row.identifier(0), conversationID: try row.identifier(1), seq: Int(clamping: try row.integer(2)),
        sender: Handle(stored: try row.text(3)), user: Handle(stored: try row.text(4)), reason: row.optionalText(5),
        text: HubPayload.text(row.bytes(6))?.text, reportedAt: try row.timestamp(7))
    }
  }

  /// Closes the reports of a message, and deletes their copies of the message; nil closes all reports.
  ///
  /// - Returns: the number of reports that were open.
  /// - Throws: `HubFault`, `no_hub`.
  package func closeReports(of message: Identifier?) throws -> Int {
    try installedVersion()
    try refuseMoved()
    let counts = try persist {
      try connection.rows(
        """
        WITH open AS (SELECT r.id, r.reporter, r.payload FROM dm.report r
          WHERE r.closed_at IS NULL AND ($1::uuid IS NULL OR r.message = $1::uuid) FOR UPDATE),
        closed AS (UPDATE dm.report r SET closed_at = now(), payload = NULL FROM open o WHERE r.id = o.id),
        freed AS (UPDATE dm.person p SET kept = p.kept - o.bytes FROM (
          SELECT reporter, sum(octet_length(payload)) AS bytes FROM open GROUP BY reporter) o
          WHERE p.id = o.reporter AND o.bytes > 0)
        SELECT count(*) FROM open
        """, [message?.description]
      ) { Int(clamping: try $0.integer(0)) }
    }
    return counts.first ?? 0
  }

  /// - Throws: `HubFault`, `no_hub`.
  package func status() throws -> HubServer {
    let version = try installedVersion()
    let rows = try connection.rows(
      """
      SELECT c.persons, c.logins, c.logins_today, c.conversations, c.entries, c.bytes, c.reports, c.connections,
        c.all_connections, c.connection_limit::bigint, current_setting('server_version_num')::bigint,
        (SELECT extract(epoch FROM now() - least(c.oldest_write, min(a.xact_start)))::bigint FROM pg_stat_activity a
          WHERE a.backend_xid IS NOT NULL AND a.pid <> pg_backend_pid()),
        (SELECT count(*) FROM pg_prepared_xacts p WHERE p.database = current_database()),
        (100 * c.notices)::bigint, c.lacks_standby, (SELECT count(*) FROM pg_stat_replication),
        (SELECT extract(epoch FROM max(r.replay_lag))::bigint FROM pg_stat_replication r), c.moved_to
      FROM dm.counts() c
      """
    ) { row in
      func number(_ column: Int32) throws -> Int { Int(clamping: try row.integer(column)) }
      func seconds(_ column: Int32) -> Int? { row.optionalInteger(column).map { Int(clamping: $0) } }
      return HubServer(
        version: version, serverVersion: try number(10), movedTo: row.optionalText(17),
        size: HubServer.Size(
          persons: try number(0), logins: try number(1), loginsToday: try number(2), conversations: try number(3),
          entries: try number(4), bytes: try number(5), reports: try number(6)),
        load: HubServer.Load(
          connections: try number(7), allConnections: try number(8), connectionLimit: try number(9),
          oldestWriteSeconds: seconds(11), preparedTransactions: try number(12), noticePercent: try number(13),
          lacksStandby: try row.flag(14), standbys: try number(15), standbySeconds: seconds(16)))
    }
    guard let status = rows.first else { throw HubFault.damaged("the hub has not returned its state") }
    return status
  }

  /// The limits that are set on a hub.
  ///
  /// - Throws: `HubFault`, `no_hub`.
  package func limits() throws -> [HubLimit] {
    try installedVersion()
    let bytes = try connection.rows("SELECT hourly_bytes, hourly_file_bytes, person_bytes FROM dm.hub") {
      [
        HubLimit.bytesPerHour(Int(clamping: try $0.integer(0))),
        HubLimit.fileBytesPerHour(Int(clamping: try $0.integer(1))),
      ]
        + ($0.optionalInteger(2).map { [.bytesPerPerson(Int(clamping: $0))] } ?? [])
    }
    let acts = try connection.rows("SELECT act, per_minute::bigint FROM dm.act_limit ORDER BY act") {
      HubLimit.act(try $0.text(0), perMinute: Int(clamping: try $0.integer(1)))
    }
    return bytes.joined() + acts
  }

  /// Sets limits, which apply to each member from their next push or upload on.
  ///
  /// - Parameters:
  ///   - limits: the limits to set. A limit of bytes is at least 1 MiB; a limit of an act is from 1 to 1,000,000 in a
  ///     minute.
  ///   - unlimited: the acts whose limits are removed.
  ///   - keepsAll: whether to remove the limit on how many bytes the hub stores for each person.
  /// - Throws: `HubFault`, `no_hub`.
  package func limit(_ limits: [HubLimit], unlimited: [String] = [], keepsAll: Bool = false) throws {
    try installedVersion()
    if !limits.isEmpty || !unlimited.isEmpty || keepsAll { try refuseMoved() }
    func set(_ sql: String, _ values: String...) throws { _ = try connection.rows(sql, values) { _ in } }
    for limit in limits {
      if let bytes = limit.bytesPerHour { try set("UPDATE dm.hub SET hourly_bytes = $1::bigint", String(bytes)) }
      if let bytes = limit.fileBytesPerHour {
        try set("UPDATE dm.hub SET hourly_file_bytes = $1::bigint", String(bytes))
      }
      if let bytes = limit.bytesPerPerson { try set("SELECT dm.limit_disk($1::bigint)", String(bytes)) }
      guard let act = limit.act, let perMinute = limit.perMinute else { continue }
      try set(
        "INSERT INTO dm.act_limit (act, per_minute) VALUES ($1, $2::integer) "
          + "ON CONFLICT (act) DO UPDATE SET per_minute = excluded.per_minute", act, String(perMinute))
    }
    if keepsAll { try set("SELECT dm.limit_disk(NULL)") }
    for act in unlimited { try set("DELETE FROM dm.act_limit WHERE act = $1", act) }
  }

  /// Erases the texts of all expired messages, and the files that are no longer used.
  ///
  /// Conversations that another transaction has locked are skipped. Each push of a member erases in the same way, but
  /// at most a hundred messages.
  ///
  /// - Returns: the number of erased messages.
  /// - Throws: `HubFault`, `no_hub`.
  package func sweep() throws -> Int {
    try installedVersion()
    var total = 0
    while true {
      let count = try connection.rows("SELECT dm.sweep()::bigint") { Int(clamping: try $0.integer(0)) }.first ?? 0
      total += count
      if count == 0 { break }
    }
    while try connection.rows("SELECT dm.sweep_file()", [], { try $0.flag(0) }) == [true] {}
    return total
  }

  /// Ends members' connections that may hold up the transactions of others, such as those with a transaction that has
  /// been idle for over ten seconds.
  ///
  /// - Returns: the number of connections that were ended.
  /// - Throws: `HubFault`, `no_hub`.
  package func unstick() throws -> Int {
    try installedVersion()
    return try unstick(after: "10 seconds")
  }

  private func unstick(after age: String) throws -> Int {
    try connection.rows("SELECT dm.unstick($1::interval)", [age]) { Int(try $0.integer(0)) }.first ?? 0
  }

  // MARK: Moving

  /// Sends members to another address of the hub; if `address` is nil, cancels the move.
  ///
  /// After a move, the hub accepts no changes on this server, and the connections that members had are ended. A member
  /// that connects again gets the address.
  ///
  /// - Parameter authority: the certificate, in PEM, of the authority that signed the new server's certificate; nil if
  ///   the authority stays the same.
  /// - Throws: `HubFault`, `no_hub`.
  package func move(to address: HubAddress?, authority: String?) throws {
    try installedVersion()
    _ = try persist {
      try connection.rows("SELECT dm.move($1, $2)", [address?.withPort.description, authority]) { _ in }
    }
    // The function is called twice, because a connection that the server accepted before the first call may become
    // visible only after that call.
    for _ in 0..<2 { _ = try connection.rows("SELECT dm.end_all_connections()") { _ in } }
  }
}
