internal import DMModel
internal import DMStore

/// Compares every row of a table with its digest, and continues after pages that cannot be read.
final class DigestAudit {
  private let store: Store
  private let table: Store.DigestedRows
  private let progress: (String) throws -> Void
  private var count = 0
  /// The key of the row to check next; it only grows, and keys begin with 1.
  private var next = RowNumber(number: 1)

  init(_ store: Store, _ table: Store.DigestedRows, _ progress: @escaping (String) throws -> Void) {
    self.store = store
    self.table = table
    self.progress = progress
  }

  func run(_ findings: Findings) throws {
    while true {
      do {
        return try scan(findings)
      } catch let error as DMError {
        // A page of the table is damaged: the rows before it were read, and those after it may be readable.
        guard error.isDamage else { throw error }
        // If a damaged page leads back to smaller keys, the rows after it cannot be read in order.
        guard let readable = try firstReadable(after: next), readable.number > next.number else {
          return findings.add(.digests, table.name, "the rows from \(next) on cannot be read; restore a backup")
        }
        findings.add(
          .digests, table.name, "the rows \(next) to \(readable.number - 1) cannot be read; restore a backup")
        next = readable
      }
    }
  }

  private func scan(_ findings: Findings) throws {
    var rows = try table.rows(next...RowNumber(number: .max), of: store.connection)
    while try rows.step() {
      let key = RowNumber(number: rows.int64(0))
      // A damaged page may have any keys; `next` never goes back to smaller ones.
      next = RowNumber(number: max(next.number, key.number == .max ? .max : key.number + 1))
      count += 1
      if count % 1000 == 0 { try progress("\(count) \(table.name)s held against their digests") }
      if !table.matchesDigest(rows) {
        findings.add(.digests, try reference(to: key), "the \(table.name) is not as it was written; restore a backup")
      }
    }
  }

  /// The words that identify a row in a finding, such as the id of an attachment; "row KEY" if these words cannot be read
  /// either.
  private func reference(to key: RowNumber) throws -> String {
    do {
      return try table.reference(key, store)
    } catch let error as DMError {
      guard error.isDamage else { throw error }
      return "row \(key)"
    }
  }

  /// The first readable row after a damaged page, found by bisection, because unreadable rows are next to each other.
  private func firstReadable(after unread: RowNumber) throws -> RowNumber? {
    var (below, width) = (unread.number, Int64(1))
    var found: RowNumber?
    while found == nil, width < 1 << 40, unread.number < .max - width {
      found = try row(notBefore: unread.number + width)
      if found == nil { below = unread.number + width }
      width *= 2
    }
    guard var above = found?.number else { return nil }
    while below + 1 < above {
      let middle = below + (above - below) / 2
      if let row = try row(notBefore: middle) { above = min(row.number, middle) } else { below = middle }
    }
    return RowNumber(number: above)
  }

  /// The key of the first row whose key is at least `number`; nil if there is no such row, or if it cannot be read.
  private func row(notBefore number: Int64) throws -> RowNumber? {
    do {
      return try readRow(notBefore: number)
    } catch let error as DMError {
      guard error.isDamage else { throw error }
      return nil
    }
  }

  private func readRow(notBefore number: Int64) throws -> RowNumber? {
    // Reads the longest column too, because a long value lies on overflow pages.
    var statement = try store.connection.prepare(
      text: """
        SELECT \(table.key), length(\(table.longest)) FROM \(table.name) WHERE \(table.key) >= ?
        ORDER BY \(table.key) LIMIT 1
        """)
    statement.bind(number)
    return try statement.step() ? RowNumber(number: statement.int64(0)) : nil
  }
}
