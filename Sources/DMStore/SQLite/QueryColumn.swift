internal import CSQLite
package import DMModel

/// The columns of a query, in order.
///
/// Each case of a type with this protocol is a column. The value of the column is read from a row with this case.
///
/// A function that reads rows first asserts with `has` that the query returns these columns, so a debug build stops if
/// the columns do not match. A release build does not compare the names, and reads the columns by number.
package protocol QueryColumn: CaseIterable, RawRepresentable, Sendable where RawValue == Int32 {}

extension QueryColumn {
  /// The number of columns.
  ///
  /// This is also the number of the first column after these columns.
  static var count: Int32 { Int32(allCases.count) }
}

extension Statement {
  /// Whether the columns from `first` on have the names of the cases, in order.
  ///
  /// The name `created_at` matches the case `createdAt`.
  ///
  /// The names are compared once for each prepared statement, because the comparison takes longer than reading a row.
  package borrowing func has<Columns: QueryColumn>(_ type: Columns.Type, from first: Int32 = 0) -> Bool {
    let columns = StatementCache.Verified(statement: handle, columns: ObjectIdentifier(type), first: first)
    return cache.isVerified(columns) { Self.names(of: handle, from: first, fit: type) }
  }

  private static func names<Columns: QueryColumn>(
    of handle: OpaquePointer, from first: Int32, fit _: Columns.Type
  ) -> Bool {
    for column in Columns.allCases {
      guard let name = sqlite3_column_name(handle, first + column.rawValue) else { return false }
      let words = String(cString: name).split(separator: "_")
      guard words.joined().lowercased() == "\(column)".lowercased() else { return false }
    }
    return true
  }

  package borrowing func isNull(_ column: some QueryColumn) -> Bool { isNull(column.rawValue) }
  package borrowing func int64(_ column: some QueryColumn) -> Int64 { int64(column.rawValue) }
  package borrowing func int(_ column: some QueryColumn) -> Int { int(column.rawValue) }
  package borrowing func bool(_ column: some QueryColumn) -> Bool { bool(column.rawValue) }
  package borrowing func text(_ column: some QueryColumn) -> String { text(column.rawValue) }
  package borrowing func optionalText(_ column: some QueryColumn) -> String? { optionalText(column.rawValue) }
  package borrowing func optionalInt(_ column: some QueryColumn) -> Int? { optionalInt(column.rawValue) }
  package borrowing func optionalInt64(_ column: some QueryColumn) -> Int64? { optionalInt64(column.rawValue) }
  package borrowing func timestamp(_ column: some QueryColumn) -> Timestamp { timestamp(column.rawValue) }
  package borrowing func optionalTimestamp(_ column: some QueryColumn) -> Timestamp? {
    optionalTimestamp(column.rawValue)
  }
  package borrowing func identifier(_ column: some QueryColumn) -> Identifier { identifier(column.rawValue) }
  package borrowing func userKey(_ column: some QueryColumn) -> UserKey { userKey(column.rawValue) }
  package borrowing func optionalUserKey(_ column: some QueryColumn) -> UserKey? { optionalUserKey(column.rawValue) }
  package borrowing func conversationKey(_ column: some QueryColumn) -> ConversationKey {
    conversationKey(column.rawValue)
  }
  package borrowing func messageKey(_ column: some QueryColumn) -> MessageKey { messageKey(column.rawValue) }
  package borrowing func optionalMessageKey(_ column: some QueryColumn) -> MessageKey? {
    optionalMessageKey(column.rawValue)
  }
  package borrowing func rev(_ column: some QueryColumn) -> Rev { rev(column.rawValue) }
  package borrowing func count(_ column: some QueryColumn) throws(DMError) -> Int { try count(column.rawValue) }
  package borrowing func lastSeq(_ column: some QueryColumn) throws(DMError) -> Int { try lastSeq(column.rawValue) }
  package borrowing func seqs(_ from: some QueryColumn, _ to: some QueryColumn) throws(DMError) -> SeqRange {
    try seqs(from.rawValue, to.rawValue)
  }
  package borrowing func withBytes<T>(_ column: some QueryColumn, _ body: (UnsafeRawBufferPointer?) -> T) -> T {
    withBytes(column.rawValue, body)
  }
}

/// A name in quotation marks, for SQL.
///
/// No name in a store contains a quotation mark.
package func quoted(_ name: String) -> String { "\"\(name)\"" }

/// A list of quoted names, for SQL.
package func list(_ names: [String]) -> String { names.map(quoted).joined(separator: ", ") }
