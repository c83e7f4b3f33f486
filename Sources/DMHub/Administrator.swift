package import DMKit
package import DMModel
internal import DMSystem

/// What the administrator of a hub does, with a connection of their own to its database.
package final class Administrator {
  private let connection: PQConnection

  /// - Parameter database: what libpq takes for a database: its name, a connection string, or a URI
  ///   (postgresql.org/docs/current/libpq-connect.html, section 34.1.1). What it leaves open is taken from the
  ///   environment, as psql(1) does.
  /// - Throws: `HubFault`.
  package init(_ database: String) throws {
    connection = try PQConnection([("dbname", database), ("application_name", "dm")], expandsName: true)
  }

  // MARK: Installing

  /// Makes the tables and functions of the newest version; what is there already stays.
  ///
  /// - Parameters:
  ///   - address: how members reach the hub, a host with or without a port; nil to leave it as it is.
  ///   - authority: the certificate of the authority that has signed the hub's, in PEM.
  /// - Returns: the version before, 0 for none, and the one now.
  /// - Throws: `HubFault`, `store_too_new` for a hub of a newer version.
  package func install(address: String?, authority: String?) throws -> (before: Int, now: Int) {
    let before = try version()
    guard before <= HubSchema.steps.count else {
      throw DMError(.storeTooNew, "the hub is of version \(before), newer than this program; install a newer dm")
    }
    for (index, step) in HubSchema.steps.enumerated().dropFirst(before) {
      let script = step.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
      try connection.execute(
        "BEGIN; SET LOCAL lock_timeout = '2s';\n\(script)\nUPDATE dm.hub SET schema = \(index + 1); COMMIT;")
    }
    if address != nil || authority != nil {
      _ = try connection.rows(
        "UPDATE dm.hub SET address = coalesce($1, address), authority = coalesce($2, authority)", [address, authority]
      ) { _ in }
    }
    return (before, HubSchema.steps.count)
  }

  private func version() throws -> Int {
    let isThere = try connection.rows("SELECT to_regclass('dm.hub') IS NOT NULL") { try $0.flag(0) }
    guard isThere == [true] else { return 0 }
    return try connection.rows("SELECT schema FROM dm.hub") { Int(try $0.integer(0)) }.first ?? 0
  }

  /// - Throws: `no_hub` for a database without a hub.
  private func installedVersion() throws -> Int {
    let version = try version()
    guard version > 0 else { throw DMError(.noHub, "the database holds no hub; install one first") }
    return version
  }

  // MARK: People

  /// Invites somebody, or another machine of somebody who is there.
  ///
  /// - Parameter days: how long the invitation holds.
  /// - Throws: `HubFault`, `no_hub` for a database without a hub.
  package func invite(_ handle: Handle, days: Int) throws -> Invitation {
    try handle.checkNew()
    _ = try installedVersion()
    let password = Credentials.randomPassword()
    // The name of the role is not part of a verifier of SCRAM.
    let verifier = try connection.verifier(of: password, for: "")
    try dropLogins()
    let login = try connection.rows(
      "SELECT dm.invite($1, $2, $3::integer)", [handle.description, verifier, String(days)]
    ) { try $0.text(0) }
    let (address, authority) =
      try connection.rows("SELECT address, authority FROM dm.hub") {
        ($0.optionalText(0), $0.optionalText(1))
      }.first ?? (nil, nil)
    let database = try connection.rows("SELECT current_database()") { try $0.text(0) }
    guard let user = login.first, let name = database.first else {
      throw HubFault.damaged("the hub has not answered to the invitation")
    }
    let (host, port) = Self.parts(of: address) ?? (connection.host, nil)
    return Invitation(
      host: host, port: port ?? connection.port, database: name, user: user, password: password, authority: authority)
  }

  /// The host and the port of an address, which has brackets around an IPv6 address.
  static func parts(of address: String?) -> (host: String, port: String?)? {
    guard let address, !address.isEmpty else { return nil }
    if address.hasPrefix("["), let end = address.firstIndex(of: "]") {
      let port = address[address.index(after: end)...].dropFirst()
      return (String(address[address.index(after: address.startIndex)..<end]), port.isEmpty ? nil : String(port))
    }
    let parts = address.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    return parts.count == 2 ? (String(parts[0]), String(parts[1])) : (address, nil)
  }

  /// The persons in the order of their handles, each with their machines.
  ///
  /// - Throws: `HubFault`.
  package func people() throws -> [HubLogin] {
    try connection.rows(
      "SELECT handle, role::text, label, invited_until, joined_at, seen_at, is_disabled FROM dm.logins()"
    ) { row in
      HubLogin(
        handle: try row.text(0), login: row.optionalText(1), label: row.optionalText(2),
        invitedUntil: row.optionalTimestamp(3), joinedAt: row.optionalTimestamp(4), seenAt: row.optionalTimestamp(5),
        isDisabled: try row.flag(6))
    }
  }

  /// Lets a person in no more, or one of their machines; their connections end.
  ///
  /// - Parameter name: a handle, or the name of a login.
  /// - Returns: the logins that are revoked.
  /// - Throws: `HubFault`, `unknown_user`.
  package func revoke(_ name: String) throws -> [String] {
    let logins = try connection.rows("SELECT dm.revoke($1)::text", [name]) { try $0.text(0) }
    guard !logins.isEmpty else {
      throw DMError(.unknownUser, "nobody on the hub, and no login, is '\(name)'", subject: name)
    }
    // Twice: a connection that was let in before the commit may begin after the first look.
    for _ in 0..<2 {
      for login in logins {
        _ = try connection.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", [login]) {
          _ in
        }
      }
    }
    try dropLogins()
    return logins
  }

  /// Drops the roles of machines that were revoked or have left.
  private func dropLogins() throws { _ = try connection.rows("SELECT dm.drop_logins()") { _ in } }

  // MARK: Looking after it

  /// - Throws: `HubFault`, `no_hub`.
  package func status() throws -> HubServer {
    let version = try installedVersion()
    let rows = try connection.rows(
      """
      SELECT c.persons, c.logins, c.conversations, c.entries, c.bytes,
        (SELECT count(*) FROM pg_stat_activity a
          WHERE a.datname = current_database() AND a.usename IN (SELECT l.role FROM dm.logins() l)),
        (SELECT extract(epoch FROM now() - min(a.xact_start))::bigint FROM pg_stat_activity a
          WHERE a.datname = current_database() AND a.backend_xid IS NOT NULL),
        (SELECT count(*) FROM pg_prepared_xacts p WHERE p.database = current_database()),
        current_setting('server_version_num')::bigint
      FROM dm.counts() c
      """
    ) { row in
      func number(_ column: Int32) throws -> Int { Int(clamping: try row.integer(column)) }
      return HubServer(
        version: version, persons: try number(0), logins: try number(1), connections: try number(5),
        conversations: try number(2), entries: try number(3), bytes: try number(4),
        oldestWriteSeconds: row.optionalInteger(6).map { Int(clamping: $0) },
        preparedTransactions: try number(7), serverVersion: try number(8))
    }
    guard let status = rows.first else { throw HubFault.damaged("the hub does not say how it is") }
    return status
  }

  /// Ends the connections of members who hold a transaction with writes open for over ten seconds.
  ///
  /// - Returns: their number.
  /// - Throws: `HubFault`.
  package func unstick() throws -> Int {
    try connection.rows("SELECT dm.unstick()") { Int(try $0.integer(0)) }.first ?? 0
  }
}
