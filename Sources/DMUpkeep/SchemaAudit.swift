internal import DMModel
internal import DMStore

/// Compares the tables, indexes and triggers of a store with those of its schema.
///
/// An additional trigger could change messages.
enum SchemaAudit {
  static func run(_ store: Store, _ findings: Findings) throws {
    let fresh = try Connection(path: ":memory:")
    for step in Migration.steps + (store.isLinked ? [Migration.linked] : []) {
      try fresh.execute(String(decoding: step, as: UTF8.self))
    }
    let (expected, found) = (try parts(of: fresh), try parts(of: store.connection))
    for name in Set(expected.keys).union(found.keys).sorted() where expected[name] != found[name] {
      let fault =
        expected[name] == nil ? "is none of dm's" : found[name] == nil ? "is missing" : "is not what dm makes it"
      findings.add(.schema, name, "'\(name)' \(fault); restore a dump or a backup")
    }
  }

  /// The SQL of each part, by its type and name.
  private static func parts(of connection: borrowing Connection) throws -> [String: String] {
    // ANALYZE creates these tables.
    var rows = try connection.prepare(
      "SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%'")
    var parts: [String: String] = [:]
    while try rows.step() { parts[rows.text(0)] = rows.text(1) }
    return parts
  }
}
