internal import DMKit
package import DMModel
internal import DMSync
internal import DMSystem

/// The people of a hub and their machines.
extension Administrator {
  /// Creates an invitation for a new person, or for another machine of a person.
  ///
  /// - Parameter days: how long the invitation is valid.
  /// - Throws: `HubFault`, `no_hub` for a database without a hub.
  package func invite(_ handle: Handle, days: Int) throws -> Invitation {
    try handle.checkNew()
    try installedVersion()
    try refuseMoved()
    let password = Credentials.randomPassword()
    // A SCRAM verifier does not depend on the name of the role, so the name can be empty here.
    let verifier = try connection.verifier(of: password, for: "")
    try dropLogins()
    let forgotten = try connection.rows("SELECT dm.is_forgotten($1)", [handle.description]) { try $0.flag(0) }
    if forgotten == [true] {
      throw DMError(
        .handleTaken, "the person with the handle '\(handle)' was forgotten; choose another handle",
        subject: "\(handle)")
    }
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
      throw HubFault.damaged("the hub has not answered the request for an invitation")
    }
    let reached = try address.map(HubAddress.init) ?? HubAddress(host: connection.host, port: nil)
    return Invitation(
      host: reached.host, port: reached.port ?? connection.port, database: name, user: user, password: password,
      authority: authority)
  }

  /// All machines, and the persons without a machine, in the order of the persons' handles.
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

  /// Revokes the access of a person or of one of their machines, and ends the connections.
  ///
  /// The logins are locked out first, because their open connections can hold locks on the rows to change.
  ///
  /// - Parameter name: a handle, or the name of a login.
  /// - Throws: `HubFault`, `no_hub`, `unknown_user`.
  package func revoke(_ name: String) throws {
    try installedVersion()
    try refuseMoved()
    try connection.rows("SELECT dm.logins_of($1)::text", [name], { try $0.text(0) }).forEach(lockOut)
    guard try persist({ try connection.rows("SELECT dm.expel($1)", [name]) { try $0.flag(0) } }) == [true] else {
      throw DMError(.unknownUser, "the hub has no person and no login '\(name)'", subject: name)
    }
    try dropLogins()
  }

  /// Prevents a login from connecting, and ends its connections.
  ///
  /// The connections are ended first, because one of them can hold a lock on the role. The connections are ended again
  /// after the change of the role, because the login may have opened new connections.
  func lockOut(_ login: String) throws {
    guard try connection.rows("SELECT dm.has_role($1)", [login], { try $0.flag(0) }) == [true] else { return }
    let role = try connection.identifier(login)
    func end() throws { _ = try connection.rows("SELECT dm.end_connections($1)", [login]) { _ in } }
    try persist {
      try end()
      try connection.run([PQConnection.Statement("ALTER ROLE \(role) NOLOGIN")])
    }
    // `end` is called twice, because a connection that the server accepted before the first call may become visible
    // only after that call.
    for _ in 0..<2 { try end() }
  }

  /// Drops the roles of machines that were revoked or have left.
  ///
  /// A role that cannot be dropped now is dropped by a later call. Until then, the role has no access to the hub.
  private func dropLogins() throws {
    // A former login may still have a connection that holds a lock, so `persist` is needed.
    let former = try persist { try connection.rows("SELECT dm.former_logins()::text") { try $0.text(0) } }
    try former.forEach(lockOut)
    _ = try persist { try connection.rows("SELECT dm.drop_logins()") { _ in } }
  }

  /// Erases a person: deletes their messages, reactions, profile and logins, and removes them from all groups.
  ///
  /// No other person ever gets the handle. If a call fails, another call does the rest.
  ///
  /// - Returns: the numbers of erased messages and of groups that the person left.
  /// - Throws: `HubFault`, `no_hub`, `unknown_user`.
  package func forget(_ handle: String) throws -> HubErasure {
    try installedVersion()
    let person = try connection.rows("SELECT id FROM dm.person WHERE handle = $1", [handle]) { try $0.integer(0) }
    guard let person = person.first.map({ String($0) }) else {
      throw DMError(.unknownUser, "the hub has no person '\(handle)'", subject: handle)
    }
    try revoke(handle)
    var messages = 0
    let conversations = try connection.rows("SELECT conv FROM dm.member WHERE person = $1::bigint", [person]) {
      try $0.identifier(0).description
    }
    for conversation in conversations {
      var last: Int64? = 0
      while let since = last {
        let step = try persist {
          try connection.rows(
            "SELECT messages::bigint, last FROM dm.forget_words($1::bigint, $2::uuid, $3::bigint)",
            [person, conversation, String(since)]
          ) { (Int(clamping: try $0.integer(0)), $0.optionalInteger(1)) }
        }
        messages += step.first?.0 ?? 0
        last = step.first?.1
      }
    }
    let groups = try persist {
      try connection.rows("SELECT dm.forget_person($1::bigint)::bigint", [person]) { Int(clamping: try $0.integer(0)) }
    }
    return HubErasure(handle: handle, messages: messages, groups: groups.first ?? 0)
  }
}
