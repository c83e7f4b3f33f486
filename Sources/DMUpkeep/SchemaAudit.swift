internal import DMModel
internal import DMStore

/// Compares the tables, indexes and triggers of a store with those of its schema.
///
/// An additional trigger, for example, could change messages.
enum SchemaAudit {
  static func run(_ store: Store, _ findings: Findings) throws {
    for (name, fault) in try faults(in: store.connection, isLinked: store.isLinked) {
      findings.add(.schema, name, "\(fault); restore a dump or a backup")
    }
  }

  /// The parts that differ, each with its fault.
  static func faults(
    in connection: borrowing Connection, isLinked: Bool
  ) throws -> [(name: String, fault: String)] {
    let (expected, found) = (try (isLinked ? linked : unlinked).get(), try parts(of: connection))
    return Set(expected.keys).union(found.keys).sorted().filter { expected[$0] != found[$0] }.map { name in
      let fault =
        expected[name] == nil ? "is none of dm's" : found[name] == nil ? "is missing" : "is not what dm makes it"
      return (name, "'\(name)' \(fault)")
    }
  }

  private static let unlinked = Result { try parts(after: [Migration.schema]) }
  private static let linked = Result { try parts(after: [Migration.schema] + Migration.linked) }

  private static func parts(after scripts: [[UInt8]]) throws -> [String: String] {
    let fresh = try Connection(path: ":memory:")
    for script in scripts { try fresh.execute(String(decoding: script, as: UTF8.self)) }
    return try parts(of: fresh)
  }

  /// The SQL of each part, by its type and name.
  private static func parts(of connection: borrowing Connection) throws -> [String: String] {
    // Leaves out the tables that ANALYZE creates.
    var rows = try connection.prepare(
      "SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%'")
    var parts: [String: String] = [:]
    while try rows.step() { parts[rows.text(0)] = rows.text(1) }
    return parts
  }
}
