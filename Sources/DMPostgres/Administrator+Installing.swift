internal import DMKit
internal import DMModel
internal import DMSync
internal import DMSystem

/// The versions of a hub before and after an installation; `before` is 0 if there was no hub.
package struct HubVersions {
  package let before: Int
  package let now: Int
  /// The address to which the hub was moved, if the installation completed the move; otherwise nil.
  package let endedMove: String?
}

extension Administrator {
  /// Creates or updates the tables and functions, and repairs their owners and permissions.
  ///
  /// - Parameters:
  ///   - address: the address at which members reach the hub; nil to keep the present one.
  ///   - authority: the certificate, in PEM, of the authority that signed the hub's certificate; empty if the members'
  ///     systems trust that authority, nil to keep the present certificate.
  ///   - isShared: whether other applications may use the database; if so, PUBLIC keeps its rights on the database.
  /// - Throws: `HubFault`, `store_too_new` for a hub of a newer version, `cannot_create` for a database with objects of
  ///   other applications unless `isShared`.
  package func install(
    address: HubAddress?, authority: String?, isShared: Bool
  ) throws -> HubVersions {
    let before = try version()
    if before == 0, !isShared { try refuseOthers() }
    try transact(script(from: before, isShared: isShared))
    let moved = try connection.rows("SELECT dm.arrive($1)", [address?.withPort.description]) { $0.optionalText(0) }
    if address != nil || authority != nil {
      _ = try connection.rows(
        "UPDATE dm.hub SET address = coalesce($1, address), authority = nullif(coalesce($2, authority), '')",
        [address?.description, authority]
      ) { _ in }
    }
    return HubVersions(before: before, now: HubSchema.steps.count, endedMove: moved.first ?? nil)
  }

  private func script(from before: Int, isShared: Bool) -> String {
    func text(_ script: [UInt8]) -> String { String(decoding: script, as: UTF8.self) }
    var lines = [text(HubSchema.roles)]
    // This lock makes installations run one after the other.
    if before > 0 { lines.insert("SELECT id FROM dm.hub FOR UPDATE;", at: 0) }
    // Transactions of members use `dm.person` before `dm.hub`. An installation that locked the tables in another order
    // could deadlock with a member.
    if before > 0, before < HubSchema.steps.count {
      lines.insert("LOCK TABLE dm.person IN ACCESS EXCLUSIVE MODE;", at: 0)
    }
    lines += HubSchema.steps.dropFirst(before).joined().map(text)
    if before < HubSchema.steps.count { lines.append("UPDATE dm.hub SET schema = \(HubSchema.steps.count);") }
    if isShared { lines.append("UPDATE dm.hub SET is_shared = true WHERE NOT is_shared;") }
    // Only the owner of a function can replace it. A restored dump may have lost the owners, so `walls` sets them
    // first.
    if before > 0 { lines.append(text(HubSchema.walls)) }
    lines.append(
      """
      DO $$ DECLARE f regprocedure; BEGIN
        FOR f IN SELECT p.oid FROM pg_proc p WHERE p.proowner = 'dm_read'::regrole AND p.pronamespace = 'dm1'::regnamespace
        LOOP EXECUTE format('ALTER FUNCTION %s OWNER TO dm_owner', f); END LOOP;
      END $$;
      """)
    lines += HubSchema.functions.map(text)
    return (lines + [text(HubSchema.walls)]).joined(separator: "\n")
  }

  /// - Throws: `cannot_create` for a database with tables or functions of other applications.
  private func refuseOthers() throws {
    let others = try connection.rows(
      """
      SELECT format('%I.%I', n.nspname, o.name) FROM (
        SELECT 'pg_class'::regclass AS kind, c.oid, c.relname AS name, c.relnamespace AS namespace FROM pg_class c
        UNION ALL SELECT 'pg_proc'::regclass, p.oid, p.proname, p.pronamespace FROM pg_proc p) o
      JOIN pg_namespace n ON n.oid = o.namespace
      WHERE n.nspname !~ '^pg_' AND n.nspname NOT IN ('information_schema', 'dm', 'dm1') AND NOT EXISTS (
        SELECT FROM pg_depend d WHERE d.classid = o.kind AND d.objid = o.oid AND d.deptype = 'e')
      LIMIT 1
      """
    ) { try $0.text(0) }
    guard let first = others.first else { return }
    throw DMError(
      .cannotCreate, "others use this database: it has '\(first)'", subject: first, remedy: .nameEmptyDatabase)
  }

  /// The differences between the database and a correct installation.
  ///
  /// - Throws: `HubFault`, `no_hub`.
  package func check() throws -> [HubFinding] {
    try installedVersion()
    return try connection.rows(String(decoding: HubSchema.check, as: UTF8.self)) {
      HubFinding(isNote: try $0.flag(0), text: try $0.text(1))
    }
  }

  /// Removes the hub with all its messages and logins, and restores the rights of PUBLIC on the database.
  ///
  /// - Throws: `HubFault`, `no_hub`.
  package func uninstall() throws {
    try installedVersion(isUninstalled: true)
    let logins = try connection.rows(
      "SELECT role FROM dm.logins() WHERE dm.has_role(role) UNION SELECT f FROM dm.former_logins() f WHERE dm.has_role(f)"
    ) { try $0.text(0) }
    try logins.forEach(lockOut)
    let roles = try logins.map { (name: try connection.identifier($0), literal: try connection.literal($0)) }
    try transact(removal(of: roles))
    // This may fail, because other hubs on the server may use these roles.
    for role in ["dm_member", "dm_read", "dm_owner"] {
      var drop = PQConnection.Statement("DROP ROLE \(role)")
      drop.mayFail = true
      try connection.run([drop])
    }
  }

  private func removal(of roles: [(name: String, literal: String)]) -> String {
    """
    SELECT \(roles.map { "dm.forget_login(\($0.literal))" }.joined(separator: ", "));
    SELECT dm.open_to_public();
    DO $$ BEGIN
      EXECUTE format('REVOKE ALL ON DATABASE %I FROM dm_member, dm_read, dm_owner', current_database());
    END $$;
    ALTER DEFAULT PRIVILEGES FOR ROLE dm_owner GRANT EXECUTE ON FUNCTIONS TO PUBLIC;
    DROP SCHEMA dm1, dm CASCADE;
    \(roles.map { "DROP ROLE IF EXISTS \($0.name);" }.joined(separator: "\n"))
    """
  }
}
