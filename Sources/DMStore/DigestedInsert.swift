internal import DMModel

/// An insert into a table whose rows have digests.
///
/// Each call of `add` binds a value and adds it to the digest. The values must be in the order of the columns in
/// `Store.DigestedRows`.
struct DigestedInsert: ~Copyable {
  private var statement: Statement
  private var digest = Digest()

  ///
  /// - Parameters:
  ///   - name: a literal that only this statement uses, because the address of the literal is the key in the statement
  ///     cache.
  ///   - undigested: a column that is not in the digest, and that the caller binds last; nil for none.
  init(
    into table: Store.DigestedRows, as name: StaticString, undigested: String? = nil, _ connection: borrowing Connection
  ) throws {
    statement = try connection.prepare(as: name, table.insertion(undigested))
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

  /// Binds a number and adds it to the digest, for a column that a later version of the schema added.
  mutating func add(later number: Int64?) {
    statement.bind(number)
    if let number { digest.add(number) }
  }

  /// Binds the digest, and returns the statement.
  ///
  /// The caller then binds the column that is not in the digest.
  consuming func digested() -> Statement {
    statement.bind(digest.stored)
    return statement
  }
}

extension Store.DigestedRows {
  fileprivate func insertion(_ undigested: String?) -> String {
    let undigested = undigested.map { ", \($0)" } ?? ""
    let count = Int(numberCount + textCount + laterCount) + (undigested.isEmpty ? 1 : 2)
    let values = Array(repeating: "?", count: count).joined(separator: ", ")
    return "INSERT INTO \(name) (\(columns), digest\(undigested)) VALUES (\(values))"
  }
}
