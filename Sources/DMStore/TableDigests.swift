// Reads: table_digest.
// Writes: table_digest.

/// A table with one digest in `table_digest`: the sum of the digests of its rows.
///
/// If a row is missing, the sum does not match.
///
/// The tables that change with each new message have a digest in each row instead (`Store.DigestedRows`).
package struct DigestedTable: Sendable {
  private let literal: StaticString
  private let columnList: StaticString
  /// The number of digested columns.
  ///
  /// The digested columns are the first columns of the table. The values of the other columns can be computed from
  /// other rows.
  let digestedCount: Int32

  package var name: String { "\(literal)" }
  var cName: UnsafePointer<CChar> { UnsafeRawPointer(literal.utf8Start).assumingMemoryBound(to: CChar.self) }
  /// The digested columns, in order.
  package var columns: String { "\(columnList)" }

  package init(_ name: StaticString, _ columns: StaticString, _ count: Int32) {
    (literal, columnList, digestedCount) = (name, columns, count)
  }

  package static let all = [
    DigestedTable("block", "user, blocked, at", 3),
    DigestedTable(
      "conversation",
      "id, uuid, direct_low, direct_high, title, creator, is_imported, created_at, avatar_url, expire_after", 10),
    DigestedTable("conversation_alias", "uuid, conversation", 2),
    DigestedTable(
      "former", "user, conversation, title, avatar_url, expire_after, participants, left_rev, delivered", 8),
    DigestedTable("hidden_range", "conversation, user, from_seq, to_seq, is_deleted, is_unseen", 6),
    DigestedTable("history", "conversation, message_count, last_seq", 3),
    DigestedTable("link_preview", "message, url, title, description, site, place", 6),
    DigestedTable("message_pin", "conversation, seq, user, at", 4),
    DigestedTable("own_name", "user, conversation, name", 3),
    DigestedTable(
      "participant",
      """
      conversation, user, joined_at, left_seq, is_owner, is_pinned, is_archived, is_deleted, muted_until, draft_text
      """, 10),
    DigestedTable("picture", "hash, bytes", 2),
    DigestedTable("reaction", "message, user, emoji, at", 4),
    DigestedTable("receipt", "conversation, user, from_seq, to_seq, at, rev", 6),
    DigestedTable("report", "id, message, reporter, at, reason, text", 6),
    identity,
    DigestedTable(
      "user", "id, handle, display_name, bio, avatar_url, shows_presence, created_at, sends_read_receipts", 8),
  ]

  /// The table with the store's id.
  ///
  /// A program that copies a store gives the copy another id in this table.
  package static let identity = DigestedTable("store", "id, uuid", 2)

  /// Computes the sum of the digests of all rows.
  ///
  /// Linear in the number of rows.
  package func digest(in connection: borrowing Connection) throws -> UInt64 {
    var rows = try connection.prepare(text: "SELECT \(columns) FROM \(name)")
    var sum: UInt64 = 0
    while try rows.step() {
      var digest = Digest()
      for column in 0..<digestedCount { digest.add(rows, column) }
      sum &+= digest.mixed
    }
    return sum
  }

  /// The stored sum; 0 if none is stored, because 0 is the sum for a table without rows.
  package func storedDigest(in connection: borrowing Connection) throws -> UInt64 {
    var row = try connection.prepare("SELECT digest FROM table_digest WHERE name = ?")
    row.bind(name)
    return try row.step() ? UInt64(bitPattern: row.int64(0)) : 0
  }

  /// Computes the sum for the present rows, and stores it.
  package func store(in connection: borrowing Connection) throws { try store(digest(in: connection), in: connection) }

  func store(_ digest: UInt64, in connection: borrowing Connection) throws {
    var write = try connection.prepare("INSERT OR REPLACE INTO table_digest (name, digest) VALUES (?, ?)")
    write.bind(name)
    write.bind(Int64(bitPattern: digest))
    try write.run()
  }
}

extension RowChanges {
  /// Adds the changes of the current transaction to the stored sums.
  package func write(to connection: borrowing Connection) throws {
    for (table, sum) in zip(DigestedTable.all, sums) where sum != 0 {
      try table.store(table.storedDigest(in: connection) &+ sum, in: connection)
    }
    reset()
  }
}
