internal import DMModel

/// An insert into a table whose rows have digests.
///
/// Each value is bound and added to the digest at once, in the order of the table's columns: the order stands in
/// `Store.DigestedRows` alone.
struct DigestedInsert: ~Copyable {
  private var statement: Statement
  private var digest = Digest()

  /// - Parameters:
  ///   - name: a literal of its own, by which the statement is found again.
  ///   - unsealed: a column that the digest leaves out; bound last.
  init(
    into table: Store.DigestedRows, as name: StaticString, unsealed: String? = nil, _ connection: borrowing Connection
  ) throws {
    statement = try connection.prepare(as: name, table.insertion(unsealed))
  }

  mutating func add(_ number: Int64?) {
    statement.bind(number)
    digest.add(number)
  }

  mutating func add(_ text: String?) {
    statement.bind(text)
    digest.add(text: text?.utf8)
  }

  mutating func add(_ id: Identifier?) {
    statement.bind(id)
    digest.add(text: id?.bytes)
  }

  /// Adds a number of a column that came with a later schema.
  mutating func add(later number: Int64?) {
    statement.bind(number)
    if let number { digest.add(number) }
  }

  /// Binds the digest, and hands out the statement for what the digest leaves out.
  consuming func digested() -> Statement {
    statement.bind(digest.stored)
    return statement
  }
}

extension Store.DigestedRows {
  fileprivate func insertion(_ unsealed: String?) -> String {
    let unsealed = unsealed.map { ", \($0)" } ?? ""
    let count = Int(numberCount + textCount + laterCount) + (unsealed.isEmpty ? 1 : 2)
    let values = Array(repeating: "?", count: count).joined(separator: ", ")
    return "INSERT INTO \(name) (\(columns), digest\(unsealed)) VALUES (\(values))"
  }
}
