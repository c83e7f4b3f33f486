internal import DMModel
internal import DMStore

/// Compares the rows of tables with the tables' digests, and looks for missing changes.
enum TableDigestAudit {
  static func run(_ store: Store, _ progress: (String) throws -> Void, _ findings: Findings) throws {
    for table in DigestedTable.all {
      try findings.attempt(.digests, table.name) {
        try progress("reading '\(table.name)'")
        guard let fault = try fault(of: table, in: store.connection) else { return }
        findings.add(.digests, table.name, "\(fault); restore a backup")
      }
    }
    try findings.attempt(.digests, "change") {
      guard let fault = try faultOfChanges(in: store.connection) else { return }
      findings.add(.digests, "change", "\(fault); restore a backup")
    }
  }

  /// A description of the first fault; nil if there is none.
  static func firstFault(in connection: borrowing Connection) throws -> String? {
    for table in DigestedTable.all {
      if let fault = try fault(of: table, in: connection) { return "'\(table.name)': \(fault)" }
    }
    return try faultOfChanges(in: connection)
  }

  private static func fault(of table: DigestedTable, in connection: borrowing Connection) throws -> String? {
    try table.digest(in: connection) == table.storedDigest(in: connection)
      ? nil : "a row was changed, added or removed, and by no program of dm"
  }

  /// Describes a gap in the numbers of the changes: a change is missing, and followers do not get it.
  ///
  /// Pruning removes only the oldest changes, and numbers are not reused, so nothing else makes a gap.
  private static func faultOfChanges(in connection: borrowing Connection) throws -> String? {
    var rows = try connection.prepare(
      """
      SELECT coalesce(max(rev) - min(rev) + 1, 0) - count(*),
        coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'change'), 0) - coalesce(max(rev), 0) FROM change
      """)
    guard try rows.step(), rows.int(0) != 0 || rows.int(1) != 0 else { return nil }
    return "changes are missing, so followers do not get events for them"
  }
}
