internal import DMKit
package import DMModel
internal import DMSync
internal import DMSystem

/// The operations of a hub's administrator, over their own connection to its database.
package final class Administrator {
  let connection: PQConnection

  /// - Parameter database: a database name, a connection string or a URI, as libpq
  ///   takes it (postgresql.org/docs/current/libpq-connect.html, section 34.1.1).
  ///   Parameters that it leaves out are taken from the environment, as with psql(1).
  /// - Throws: `HubFault`.
  package init(_ database: String) throws {
    connection = try PQConnection([("dbname", database), ("application_name", "dm")], expandsName: true)
    connection.quotesServer = true
    try connection.run([PQConnection.settings(and: ["lock_timeout": "2s", "statement_timeout": "0"])])
  }

  /// Runs `body`; if it fails because of a lock, ends the connections of members that block others, and runs it again.
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
        // Rolls back, because a failed transaction stays open.
        try connection.execute("ROLLBACK")
        throw error
      }
    }
  }

  /// The version of the hub, 0 for none.
  ///
  /// - Throws: `HubFault`, `store_too_new` for a hub that this program does not know.
  func version() throws -> Int {
    let isThere = try connection.rows("SELECT to_regclass('dm.hub') IS NOT NULL") { try $0.flag(0) }
    guard isThere == [true] else { return 0 }
    let version = try connection.rows("SELECT schema FROM dm.hub") { Int(try $0.integer(0)) }.first ?? 0
    guard version <= HubSchema.steps.count else {
      throw DMError(.storeTooNew, "the hub is of version \(version), newer than this program; install a newer dm")
    }
    return version
  }

  /// - Throws: `no_hub` for a database without a hub.
  @discardableResult func installedVersion() throws -> Int {
    let version = try version()
    guard version > 0 else { throw DMError(.noHub, "the database holds no hub; install one first") }
    return version
  }

  // MARK: People

  /// Invites a new person, or another machine of a person.
  ///
  /// - Parameter days: how long the invitation is valid.
  /// - Throws: `HubFault`, `no_hub` for a database without a hub.
  package func invite(_ handle: Handle, days: Int) throws -> Invitation {
    try handle.checkNew()
    try installedVersion()
    let password = Credentials.randomPassword()
    // A SCRAM verifier does not depend on the role's name, which may therefore be empty.
    let verifier = try connection.verifier(of: password, for: "")
    try dropLogins()
    let login = try persist {
      try connection.rows("SELECT dm.invite($1, $2, $3::integer)", [handle.description, verifier, String(days)]) {
        try $0.text(0)
      }
    }
    let (address, authority) =
      try connection.rows("SELECT address, authority FROM dm.hub") {
        ($0.optionalText(0), $0.optionalText(1))
      }.first ?? (nil, nil)
    let database = try connection.rows("SELECT current_database()") { try $0.text(0) }
    guard let user = login.first, let name = database.first else {
      throw HubFault.damaged("the hub has not answered to the invitation")
    }
    let reached = try address.map(HubAddress.init) ?? HubAddress(host: connection.host, port: nil)
    return Invitation(
      host: reached.host, port: reached.port ?? connection.port, database: name, user: user, password: password,
      authority: authority)
  }

  /// The persons in the order of their handles, each with their machines.
  ///
  /// - Throws: `HubFault`, `no_hub` for a database without a hub.
  package func people() throws -> [HubLogin] {
    try installedVersion()
    return try connection.rows(
      "SELECT handle, role::text, label, invited_until, joined_at, seen_at, is_disabled FROM dm.logins()"
    ) { row in
      HubLogin(
        handle: try row.text(0), login: row.optionalText(1), label: row.optionalText(2),
        invitedUntil: try row.optionalTimestamp(3), joinedAt: try row.optionalTimestamp(4),
        seenAt: try row.optionalTimestamp(5), isDisabled: try row.flag(6))
    }
  }

  /// Revokes the access of a person or of one of their machines, and ends their connections.
  ///
  /// The logins are locked out first, because their open connections can hold locks on the rows.
  ///
  /// - Parameter name: a handle, or the name of a login.
  /// - Throws: `HubFault`, `no_hub`, `unknown_user`.
  package func revoke(_ name: String) throws {
    try installedVersion()
    try connection.rows("SELECT dm.logins_of($1)::text", [name], { try $0.text(0) }).forEach(lockOut)
    guard try persist({ try connection.rows("SELECT dm.expel($1)", [name]) { try $0.flag(0) } }) == [true] else {
      throw DMError(.unknownUser, "nobody on the hub, and no login, is '\(name)'", subject: name)
    }
    try dropLogins()
  }

  /// Prevents a login from connecting, and ends its connections.
  ///
  /// The login's connections can hold the lock of its role, and it can make new ones as long as it may connect.
  func lockOut(_ login: String) throws {
    guard try connection.rows("SELECT dm.has_role($1)", [login], { try $0.flag(0) }) == [true] else { return }
    let role = try connection.identifier(login)
    func end() throws { _ = try connection.rows("SELECT dm.end_connections($1)", [login]) { _ in } }
    try persist {
      try end()
      try connection.run([PQConnection.Statement("ALTER ROLE \(role) NOLOGIN")])
    }
    // Calls `end` twice, because a connection that the server accepted earlier may start after the first call.
    for _ in 0..<2 { try end() }
  }

  /// Drops the roles of machines that were revoked or have left.
  ///
  /// A role that cannot be dropped now is dropped later; meanwhile it can do no harm.
  private func dropLogins() throws {
    // A former login may still be connected and hold a lock, so `persist` is needed.
    let former = try persist { try connection.rows("SELECT dm.former_logins()::text") { try $0.text(0) } }
    try former.forEach(lockOut)
    _ = try persist { try connection.rows("SELECT dm.drop_logins()") { _ in } }
  }

  // MARK: Looking after it

  /// The messages that members reported, the oldest report first.
  ///
  /// - Throws: `HubFault`, `no_hub`.
  package func reports() throws -> [Report] {
    try installedVersion()
    return try connection.rows(
      """
      SELECT r.message, r.conv, r.seq, s.handle, p.handle, r.reason, r.payload, r.at FROM dm.report r
      JOIN dm.person s ON s.id = r.sender JOIN dm.person p ON p.id = r.reporter ORDER BY r.id
      """
    ) { row in
      Report(
        messageID: try row.identifier(0), conversationID: try row.identifier(1), seq: Int(clamping: try row.integer(2)),
        sender: Handle(stored: try row.text(3)), user: Handle(stored: try row.text(4)), reason: row.optionalText(5),
        text: HubPayload.text(row.bytes(6))?.text, reportedAt: try row.timestamp(7))
    }
  }

  /// - Throws: `HubFault`, `no_hub`.
  package func status() throws -> HubServer {
    let version = try installedVersion()
    let rows = try connection.rows(
      """
      SELECT c.persons, c.logins, c.conversations, c.entries, c.bytes, c.connections, c.connection_limit::bigint,
        (SELECT extract(epoch FROM now() - least(c.oldest_write, min(a.xact_start)))::bigint FROM pg_stat_activity a
          WHERE a.backend_xid IS NOT NULL AND a.pid <> pg_backend_pid()),
        (SELECT count(*) FROM pg_prepared_xacts p WHERE p.database = current_database()),
        current_setting('server_version_num')::bigint
      FROM dm.counts() c
      """
    ) { row in
      func number(_ column: Int32) throws -> Int { Int(clamping: try row.integer(column)) }
      return HubServer(
        version: version, persons: try number(0), logins: try number(1), connections: try number(5),
        connectionLimit: try number(6), conversations: try number(2), entries: try number(3), bytes: try number(4),
        oldestWriteSeconds: row.optionalInteger(7).map { Int(clamping: $0) },
        preparedTransactions: try number(8), serverVersion: try number(9))
    }
    guard let status = rows.first else { throw HubFault.damaged("the hub does not say how it is") }
    return status
  }

  /// The limits of a hub; acts that are not among them have none.
  ///
  /// - Throws: `HubFault`, `no_hub`.
  package func limits() throws -> [HubLimit] {
    try installedVersion()
    let bytes = try connection.rows("SELECT hourly_bytes FROM dm.hub") { Int(clamping: try $0.integer(0)) }
    let acts = try connection.rows("SELECT act, per_minute::bigint FROM dm.act_limit ORDER BY act") {
      (try $0.text(0), Int(clamping: try $0.integer(1)))
    }
    return bytes.map { HubLimit(act: nil, perMinute: nil, bytesPerHour: $0) }
      + acts.map { HubLimit(act: $0.0, perMinute: $0.1, bytesPerHour: nil) }
  }

  /// Sets limits, which members notice at their next push.
  ///
  /// - Parameters:
  ///   - bytesPerHour: at least 1 MiB; nil to leave it as it is.
  ///   - acts: for each act how often a person may do it in a minute, from 1 to 1,000,000; nil for no limit.
  /// - Throws: `HubFault`, `no_hub`.
  package func limit(bytesPerHour: Int?, acts: [(act: String, perMinute: Int?)]) throws {
    try installedVersion()
    if let bytesPerHour {
      _ = try connection.rows("UPDATE dm.hub SET hourly_bytes = $1::bigint", [String(bytesPerHour)]) { _ in }
    }
    for (act, perMinute) in acts {
      guard let perMinute else {
        _ = try connection.rows("DELETE FROM dm.act_limit WHERE act = $1", [act]) { _ in }
        continue
      }
      _ = try connection.rows(
        "INSERT INTO dm.act_limit (act, per_minute) VALUES ($1, $2::integer) "
          + "ON CONFLICT (act) DO UPDATE SET per_minute = excluded.per_minute",
        [act, String(perMinute)]
      ) { _ in }
    }
  }

  /// Erases the texts of all expired messages, except in conversations that others have locked.
  ///
  /// Pushes of members do this, too, for a hundred messages each.
  ///
  /// - Returns: the number of messages.
  /// - Throws: `HubFault`, `no_hub`.
  package func sweep() throws -> Int {
    try installedVersion()
    var total = 0
    while true {
      let count = try connection.rows("SELECT dm.sweep()::bigint") { Int(clamping: try $0.integer(0)) }.first ?? 0
      total += count
      if count == 0 { return total }
    }
  }

  /// Ends the connections of members that may block others, such as with a transaction open for over ten seconds.
  ///
  /// - Returns: their number.
  /// - Throws: `HubFault`, `no_hub`.
  package func unstick() throws -> Int {
    try installedVersion()
    return try unstick(after: "10 seconds")
  }

  private func unstick(after age: String) throws -> Int {
    try connection.rows("SELECT dm.unstick($1::interval)", [age]) { Int(try $0.integer(0)) }.first ?? 0
  }
}
