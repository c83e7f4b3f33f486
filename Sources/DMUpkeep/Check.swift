package import DMModel
internal import DMStore
internal import DMSystem

extension Upkeep {
  /// The findings of a check.
  package struct CheckResult: Equatable, Sendable {
    /// The faults; empty if there are none.
    package let findings: [Finding]
    /// The time of the last earlier check of this kind that found no fault; nil if there was none.
    package let lastUsedAt: Timestamp?
  }

  /// Checks one snapshot of the store, while other processes write.
  ///
  /// - Parameter deep: whether to compute all stored values again and read all contents; otherwise, a quick check.
  /// - Throws: `no_store`, `store_foreign`, `store_too_new`, or an error that ends the check; damage is a finding, not
  ///   an error.
  package func check(deep: Bool) throws -> CheckResult {
    let findings = Findings()
    let tool = deep ? Tool.deepCheck : .check
    var lastUsedAt: Timestamp?
    try checkModes(deep: deep, findings)
    do {
      let store = try store(refusesForeignParts: false)
      try findings.attempt(.identity) { lastUsedAt = try lastUse(of: tool) }
      let share = deep ? try location.contents.share() : nil
      let contents = try check(store, deep: deep, findings)
      // The contents are read after the transaction, because this takes long, and an open transaction keeps the WAL
      // from being reset.
      try AttachmentAudit.check(contents, in: location.contents, readsAll: true, progress, findings)
      _ = consume share
    } catch let error as DMError {
      guard error.code == .storeDamaged else { throw error }
      findings.add(.integrity, nil, error.message, error.remedy)
    }
    findings.close()
    // Nothing is written to a store that may be damaged.
    if findings.isEmpty { try note(tool) }
    return CheckResult(findings: findings.list, lastUsedAt: lastUsedAt)
  }

  /// - Returns: the contents whose files must still be checked.
  private func check(_ store: Store, deep: Bool, _ findings: Findings) throws -> [NamedContent] {
    var contents: [NamedContent] = []
    try store.connection.execute("PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON")
    // The mark is read before the snapshot is taken, because commits after the snapshot would seem to be lost.
    try findings.attempt(.integrity) { try store.refuseMissingChanges() }
    let transaction = try store.connection.begin(.read)
    try findings.attempt(.identity) { try checkIdentity(store, findings) }
    try findings.attempt(.schema) { try SchemaAudit.run(store, findings) }
    try store.connection.watched(by: { [progress] in try progress("looking at the pages") }) {
      try findings.attempt(.integrity) { try checkPages(store, deep: deep, findings) }
    }
    try findings.attempt(.hub) { try checkHub(store, findings) }
    if deep {
      try compute(store, findings)
      try findings.attempt(.search) { try SearchAudit(store, progress).run(findings) }
      try findings.attempt(.attachments) { contents = try store.connection.namedContents() }
    }
    // The transaction has written nothing, so it is rolled back.
    _ = consume transaction
    return contents
  }

  /// Checks the references, values, stored counts and digests.
  func compute(_ store: Store, _ findings: Findings) throws {
    try findings.attempt(.foreignKeys) { try checkReferences(store, findings) }
    try findings.attempt(.values) { try ValueAudit.run(store, findings) }
    try findings.attempt(.counts) { try ConversationAudit.run(store, progress, findings) }
    for rows in Self.countedRows { try findings.attempt(.counts) { try checkCounts(of: rows, store, findings) } }
    try findings.attempt(.counts) { try AttachmentAudit.checkPositions(store, findings) }
    try findings.attempt(.counts) { try PinAudit.check(store, findings) }
    try findings.attempt(.counts) { try checkFlags(store, findings) }
    try TableDigestAudit.run(store, progress, findings)
    for table in Store.DigestedRows.all {
      try findings.attempt(.digests) { try DigestAudit(store, table, progress).run(findings) }
    }
  }

  /// Checks that only the owner may use the files; does not open them, because closing a file would drop SQLite's
  /// locks.
  private func checkModes(deep: Bool, _ findings: Findings) throws {
    let names = ["", "/dm.sqlite", "/dm.sqlite-wal", "/dm.sqlite-shm", "/store.lock", "/bell", "/attachments"]
    let contents = location.contents
    var deeper: [String] = []
    if deep { try findings.attempt(.files) { deeper = try contents.folders + contents.all.map(contents.path) } }
    for path in names.map({ location.directory + $0 }) + deeper {
      guard let status = FileStatus(itself: path) else { continue }
      // Other users may list the folder, but not write to it.
      if status.permissions & (path == location.directory ? 0o022 : 0o077) != 0 {
        let advice = "chmod \(status.kind == .folder ? "700" : "600")"
        findings.add(.files, path, "others than its owner have access to it; \(advice) takes that back")
      }
    }
  }

  private func checkIdentity(_ store: Store, _ findings: Findings) throws {
    var statement = try store.connection.prepare("SELECT count(*), min(length(uuid)), max(length(uuid)) FROM store")
    guard try statement.step() else { return }
    if statement.int(0) != 1 || statement.int(1) != 16 || statement.int(2) != 16 {
      findings.add(.identity, "store", "the store has \(statement.int(0)) ids instead of one")
    }
  }

  private func checkHub(_ store: Store, _ findings: Findings) throws {
    guard try store.pragma("SELECT count(*) FROM sqlite_schema WHERE name = 'hub_conversation'") > 0 else { return }
    for state in try store.hubConversations.all() {
      guard let fault = state.fault else { continue }
      findings.add(
        .hub, try store.conversations.id(state.conversation).description,
        "nothing of it comes from the hub (\(fault))", .showHubStatus)
    }
  }

  private func checkPages(_ store: Store, deep: Bool, _ findings: Findings) throws {
    var check =
      deep
      ? try store.connection.prepare("PRAGMA main.integrity_check(10000)")
      : try store.connection.prepare("PRAGMA main.quick_check(10000)")
    while try check.step() {
      let said = check.text(0)
      if said != "ok" { findings.add(.integrity, nil, said) }
    }
  }

  private func checkReferences(_ store: Store, _ findings: Findings) throws {
    try progress("looking at the references")
    var check = try store.connection.prepare("PRAGMA main.foreign_key_check")
    while try check.step() {
      let row = check.optionalInt64(1).map { "the row \($0)" } ?? "a row"
      findings.add(.foreignKeys, check.text(0), "\(row) refers to a row of '\(check.text(2))' that is not there")
    }
  }

  /// The tables whose rows are counted in a column of `message`.
  static let countedRows = ["reaction", "attachment", "link_preview"]

  private func checkCounts(of rows: String, _ store: Store, _ findings: Findings) throws {
    try progress("counting \(rows)s")
    var statement = try store.connection.prepare(
      text:
        "SELECT m.id, m.\(rows)_count, \(Self.counted(rows)) AS counted FROM message m WHERE \(Self.isMiscounted(rows))"
    )
    while try statement.step() {
      findings.add(
        .counts, try store.messages.reference(to: statement.messageKey(0)),
        "its count of \(rows)s is \(statement.int(1)) instead of \(statement.int(2))", .repairFinding)
    }
  }

  /// Checks the stored flags that say whether a user blocks the other user of a direct conversation or has unread
  /// messages, and the records of former members.
  ///
  /// Checks that each group with messages and members has an owner, and that the participants of each direct
  /// conversation are exactly its users.
  private func checkFlags(_ store: Store, _ findings: Findings) throws {
    for (meaning, rows) in [("blocks the other user", Self.wrongFlags), ("has unread messages", Self.wrongUnread)] {
      var flags = try store.connection.prepare(text: "SELECT c.uuid, u.handle \(rows)")
      while try flags.step() {
        findings.add(
          .counts, flags.identifier(0).description,
          "the stored flag that says whether '\(flags.text(1))' \(meaning) is wrong", .repairFinding)
      }
    }
    var members = try store.connection.prepare(
      """
      SELECT uuid, iif(direct_low IS NULL, 'the group has no owner; restore a backup',
        'the participants of the direct conversation are wrong; restore a backup')
      FROM conversation c WHERE iif(direct_low IS NULL,
        last_seq > 0 AND EXISTS (SELECT 1 FROM participant p WHERE p.conversation = c.id AND left_seq IS NULL)
          AND NOT EXISTS (SELECT 1 FROM participant p WHERE p.conversation = c.id AND left_seq IS NULL AND is_owner),
        (SELECT count(*) <> 1 + (direct_low <> direct_high) OR sum(user NOT IN (direct_low, direct_high)) > 0
          FROM participant p WHERE p.conversation = c.id))
      """)
    while try members.step() { findings.add(.counts, members.identifier(0).description, members.text(1)) }
    var formers = try store.connection.prepare(
      text: "SELECT c.uuid, u.handle FROM (\(Members.wrongFormers)) w "
        + "JOIN conversation c ON c.id = w.conversation JOIN user u ON u.id = w.user")
    while try formers.step() {
      findings.add(
        .counts, formers.identifier(0).description,
        "the record of how '\(formers.text(1))' saw the group when they left is missing, or exists for a current member",
        .repairFinding)
    }
  }

  private static let participants =
    "FROM participant p JOIN conversation c ON c.id = p.conversation JOIN user u ON u.id = p.user"

  private static let wrongUnread = "\(participants) WHERE \(UnreadFlags.isWrong)"

  static let wrongFlags = """
    \(participants)
    WHERE p.is_blocked <> (c.direct_low IS NOT NULL AND EXISTS (SELECT 1 FROM block b WHERE b.user = p.user
      AND b.blocked = iif(c.direct_low = p.user, c.direct_high, c.direct_low)))
    """

  static func counted(_ rows: String) -> String { "(SELECT count(*) FROM \(rows) r WHERE r.message = m.id)" }

  /// A condition that is true if the count of `rows` in a row of `message m` is wrong.
  static func isMiscounted(_ rows: String) -> String {
    """
    (m.\(rows)_count <> 0 OR m.id IN (SELECT message FROM \(rows) WHERE message IS NOT NULL))
    AND m.\(rows)_count <> \(counted(rows))
    """
  }
}
