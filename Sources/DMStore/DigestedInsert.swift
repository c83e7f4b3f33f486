internal import DMModel

/// An insert into a table whose rows have digests.
///
/// Each value is bound and added to the digest in one call, in the column order that `Store.DigestedRows` defines.
struct DigestedInsert: ~Copyable {
  private var statement: Statement
  private var digest = Digest()

  ///
  /// - Parameters:
  ///   - name: a literal that only this statement uses; its address is the key in the statement cache.
  ///   - undigested: a column that is not in the digest; it is bound last.
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

  /// Binds and digests a number for a column that a later schema added.
  mutating func add(later number: Int64?) {
    statement.bind(number)
    if let number { digest.add(number) }
  }

  /// Binds the digest, and returns the statement so that the caller can bind the column that is not in the digest.
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
