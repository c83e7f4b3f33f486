internal import CSystem
internal import Glibc

extension Upkeep {
  /// What a check found.
  public struct CheckResult: Equatable, Sendable {
    public let findings: [Finding]
    public let lastUsedAt: Timestamp?
  }

  /// Looks for faults, in one state of the store, while others write.
  ///
  /// - Parameter deep: whether all that can be computed is computed again, instead of a quick look at the pages.
  /// - Throws: `no_store`, `store_foreign`, `store_too_new`, or what ends the work; damage is a finding.
  public func check(deep: Bool) throws -> CheckResult {
    let findings = Findings()
    let tool = deep ? Tool.deepCheck : .check
    var lastUsedAt: Timestamp?
    checkModes(findings)
    do {
      let store = try store()
      try findings.attempt(.identity) { lastUsedAt = try lastUse(of: tool) }
      try check(store, deep: deep, findings)
    } catch let error as DMError {
      guard error.code == .storeDamaged else { throw error }
      findings.add(.integrity, nil, error.message)
    }
    findings.close()
    // Nothing is written to what may be damaged.
    if findings.isEmpty { try note(tool) }
    return CheckResult(findings: findings.list, lastUsedAt: lastUsedAt)
  }

  private func check(_ store: Store, deep: Bool, _ findings: Findings) throws {
    try store.connection.execute("PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON")
    let transaction = try store.connection.begin(.read)
    try findings.attempt(.identity) { try checkIdentity(store, findings) }
    try findings.attempt(.schema) { try SchemaAudit.run(store, findings) }
    try store.connection.watched(by: { [progress] in try progress("looking at the pages") }) {
      try findings.attempt(.integrity) { try checkPages(store, deep: deep, findings) }
    }
    if deep {
      try compute(store, findings)
      try findings.attempt(.search) { try SearchAudit(store, progress).run(findings) }
    }
    // It has written nothing, so there is nothing to commit.
    _ = consume transaction
  }

  /// Holds the rows against each other.
  func compute(_ store: Store, _ findings: Findings) throws {
    try findings.attempt(.foreignKeys) { try checkReferences(store, findings) }
    try findings.attempt(.values) { try ValueAudit.run(store, findings) }
    try findings.attempt(.counts) { try ConversationAudit.run(store, progress, findings) }
    try findings.attempt(.counts) { try checkReactions(store, findings) }
    try findings.attempt(.counts) { try checkFlags(store, findings) }
    try findings.attempt(.digests) { try DigestAudit(store, progress).run(findings) }
  }

  /// Whether the files are their owner's alone; by name, because opening them would drop SQLite's locks.
  private func checkModes(_ findings: Findings) {
    let names = ["", "/dm.sqlite", "/dm.sqlite-wal", "/dm.sqlite-shm", "/store.lock", "/bell"]
    for name in names {
      let path = location.directory + name
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      // Others may see that the folder is there, as long as they can put nothing into it.
      if status.st_mode & (name.isEmpty ? 0o022 : 0o077) != 0 {
        let advice = "chmod \(name.isEmpty ? "700" : "600")"
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

  private func checkReactions(_ store: Store, _ findings: Findings) throws {
    try progress("counting reactions")
    var statement = try store.connection.prepare(
      as: "reactions", "SELECT m.id, m.reaction_count, \(Self.countedReactions) AS counted \(Self.wrongReactions)")
    while try statement.step() {
      findings.add(
        .counts, try store.reference(to: statement.int64(0)),
        "its count of reactions is \(statement.int(1)) instead of \(statement.int(2)); dm-doctor repair corrects it")
    }
  }

  /// What is kept so that a list need not look for it, and what a group needs.
  private func checkFlags(_ store: Store, _ findings: Findings) throws {
    var flags = try store.connection.prepare(
      as: "flags", "SELECT c.uuid, u.handle \(Self.wrongFlags)")
    while try flags.step() {
      findings.add(
        .counts, flags.identifier(0).description,
        "whether '\(flags.text(1))' blocks the other of the two is noted wrongly; dm-doctor repair corrects it")
    }
    var members = try store.connection.prepare(
      """
      SELECT uuid, iif(direct_low IS NULL, 'nobody owns the group', 'its participants are not the two that it is of')
      FROM conversation c WHERE iif(direct_low IS NULL,
        EXISTS (SELECT 1 FROM participant p WHERE p.conversation = c.id AND left_seq IS NULL)
          AND NOT EXISTS (SELECT 1 FROM participant p WHERE p.conversation = c.id AND left_seq IS NULL AND is_owner),
        (SELECT count(*) <> 1 + (direct_low <> direct_high) OR sum(user NOT IN (direct_low, direct_high)) > 0
          FROM participant p WHERE p.conversation = c.id))
      """)
    while try members.step() { findings.add(.counts, members.identifier(0).description, members.text(1)) }
  }

  static let wrongFlags = """
    FROM participant p JOIN conversation c ON c.id = p.conversation JOIN user u ON u.id = p.user
    WHERE p.is_blocked <> (c.direct_low IS NOT NULL AND EXISTS (SELECT 1 FROM block b WHERE b.user = p.user
      AND b.blocked = iif(c.direct_low = p.user, c.direct_high, c.direct_low)))
    """

  static let countedReactions = "(SELECT count(*) FROM reaction r WHERE r.message = m.id)"

  /// Goes through those that have reactions or say so.
  static let wrongReactions = """
    FROM message m WHERE (m.reaction_count <> 0 OR m.id IN (SELECT message FROM reaction))
    AND m.reaction_count <> \(countedReactions)
    """
}

extension Store {
  /// A message as one can name it: its conversation's id and its number.
  func reference(to message: Int64) throws -> String {
    var statement = try connection.prepare(
      "SELECT c.uuid, m.seq FROM message m JOIN conversation c ON c.id = m.conversation WHERE m.id = ?")
    statement.bind(message)
    return try statement.step() ? "\(statement.identifier(0)):\(statement.int(1))" : "row \(message)"
  }
}
