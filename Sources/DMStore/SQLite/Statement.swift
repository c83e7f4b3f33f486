internal import CSQLite
package import DMModel

/// A prepared statement in use.
///
/// At the end of its scope, the statement is reset and returned to the cache.
package struct Statement: ~Copyable {
  package let handle: OpaquePointer
  private let key: StatementCache.Key
  let cache: StatementCache
  private var bound: Int32 = 0

  package init(handle: OpaquePointer, keptAs key: StatementCache.Key, in cache: StatementCache) {
    self.handle = handle
    self.key = key
    self.cache = cache
  }

  deinit {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
    cache.put(handle, key)
  }

  // MARK: Parameters, from left to right

  /// Returns the number of the next parameter.
  ///
  /// The caller then binds its value.
  mutating func nextParameter() -> Int32 {
    bound += 1
    return bound
  }

  package mutating func bind(_ value: Int64) {
    bound += 1
    sqlite3_bind_int64(handle, bound, value)
  }

  package mutating func bind(_ value: Int64?) {
    if let value { bind(value) } else { bound += 1 }
  }

  package mutating func bind(_ value: Int) { bind(Int64(value)) }
  package mutating func bind(_ value: Bool) { bind(value ? 1 as Int64 : 0) }
  package mutating func bind(_ value: Timestamp) { bind(value.microseconds) }

  package mutating func bind(_ value: Timestamp?) { bind(value?.microseconds) }

  package mutating func bind(_ value: String) {
    bound += 1
    var value = value
    _ = value.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        // A nil pointer would bind NULL.
        dm_sqlite3_bind_text(handle, bound, $0.baseAddress ?? emptyText, Int32($0.count))
      }
    }
  }

  package mutating func bind(_ value: String?) {
    if let value { bind(value) } else { bound += 1 }
  }

  package mutating func bind(_ value: Identifier) {
    bound += 1
    withUnsafeBytes(of: (value.high.bigEndian, value.low.bigEndian)) { bytes in
      _ = dm_sqlite3_bind_blob(handle, bound, bytes.baseAddress, 16)
    }
  }

  package mutating func bind(_ value: Identifier?) {
    if let value { bind(value) } else { bound += 1 }
  }

  package mutating func bind(_ bytes: [UInt8]?) {
    bound += 1
    guard let bytes else { return }
    bytes.withUnsafeBytes { bytes in
      // A nil pointer would bind NULL.
      _ = dm_sqlite3_bind_blob(handle, bound, bytes.baseAddress ?? UnsafeRawPointer(emptyText), Int32(bytes.count))
    }
  }

  // MARK: Running

  /// Moves to the next row.
  ///
  /// Returns false if there is none.
  package mutating func step() throws(DMError) -> Bool {
    // SQLite would treat a parameter without a value as NULL (sqlite.org/c3ref/bind_blob.html).
    assert(
      bound >= sqlite3_bind_parameter_count(handle) || sqlite3_stmt_isexplain(handle) != 0,
      "\(bound) values are bound: \(String(cString: sqlite3_sql(handle)))")
    let code = sqlite3_step(handle)
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw fault(code)
    }
  }

  /// Inserts a row that may violate the schema.
  ///
  /// - Returns: false if the row violates the schema, and so was not inserted.
  package mutating func insertIfFit() throws(DMError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_DONE: return true
    case let code where [SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG].contains(code & 0xFF): return false
    case let code: throw fault(code)
    }
  }

  private func fault(_ code: Int32) -> DMError {
    DMError(sqlite: code, detail: String(cString: sqlite3_errmsg(sqlite3_db_handle(handle))))
  }

  /// Runs a statement that returns no rows.
  package mutating func run() throws(DMError) { while try step() {} }

  // MARK: Columns, counted from 0

  package borrowing func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
  package borrowing func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
  /// A count, or the number of a message.
  ///
  /// In a damaged row, the value is limited to ±2^53, so that sums do not overflow.
  package borrowing func int(_ column: Int32) -> Int { min(max(Int(int64(column)), -(1 << 53)), 1 << 53) }
  borrowing func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
  package borrowing func bool(_ column: Int32) -> Bool { sqlite3_column_int64(handle, column) != 0 }
  package borrowing func timestamp(_ column: Int32) -> Timestamp {
    let time = Timestamp(microseconds: int64(column))
    return min(max(time, Timestamp.writable.lowerBound), Timestamp.writable.upperBound)
  }
  borrowing func optionalTimestamp(_ column: Int32) -> Timestamp? { isNull(column) ? nil : timestamp(column) }
  package borrowing func optionalInt(_ column: Int32) -> Int? { isNull(column) ? nil : int(column) }
  package borrowing func optionalInt64(_ column: Int32) -> Int64? { isNull(column) ? nil : int64(column) }

  /// A range of message numbers, whose first and last number are in two columns.
  ///
  /// - Throws: `store_damaged` for a range that dm never writes.
  package borrowing func seqs(_ from: Int32, _ to: Int32) throws(DMError) -> SeqRange {
    let (lower, upper) = (int(from), int(to))
    guard lower >= 1, lower <= upper, upper <= 1 << 40 else { throw damage("the messages \(lower) to \(upper)") }
    return lower...upper
  }

  /// A range of change numbers, whose first and last number are in two columns.
  ///
  /// - Throws: `store_damaged` for a range that dm never writes.
  borrowing func revs(_ from: Int32, _ to: Int32) throws(DMError) -> ClosedRange<Rev> {
    let (lower, upper) = (Int64(int(from)), Int64(int(to)))
    guard lower >= 1, lower <= upper, upper < 1 << 53 else { throw damage("the changes \(lower) to \(upper)") }
    return Rev(number: lower)...Rev(number: upper)
  }

  /// A count.
  ///
  /// - Throws: `store_damaged` if the value is below 0.
  package borrowing func count(_ column: Int32) throws(DMError) -> Int {
    guard int(column) >= 0 else { throw damage("a count of \(int(column))") }
    return int(column)
  }

  /// The number of the last message; 0 if there are no messages.
  ///
  /// - Throws: `store_damaged` for a number that dm never writes.
  package borrowing func lastSeq(_ column: Int32) throws(DMError) -> Int {
    guard 0...1 << 40 ~= int(column) else { throw damage("a message \(int(column))") }
    return int(column)
  }

  private borrowing func damage(_ what: String) -> DMError {
    DMError(
      .storeDamaged,
      "the store is damaged: it names \(what)", remedy: .repairCounts)
  }

  package borrowing func text(_ column: Int32) -> String {
    // The pointer must be read before the count (sqlite.org/c3ref/column_blob.html).
    guard let bytes = sqlite3_column_text(handle, column) else { return "" }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  /// Calls `body` with the undecoded bytes of a text or a blob, or with nil for NULL.
  package borrowing func withBytes<T>(_ column: Int32, _ body: (UnsafeRawBufferPointer?) -> T) -> T {
    if isNull(column) { return body(nil) }
    // The pointer must be read before the count (sqlite.org/c3ref/column_blob.html).
    let start = sqlite3_column_blob(handle, column)
    return body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }

  package borrowing func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

  package borrowing func identifier(_ column: Int32) -> Identifier {
    optionalIdentifier(column) ?? Identifier(high: 0, low: 0)
  }

  borrowing func optionalIdentifier(_ column: Int32) -> Identifier? {
    guard let bytes = sqlite3_column_blob(handle, column), sqlite3_column_bytes(handle, column) == 16
    else { return nil }
    return Identifier(
      high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
      low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
  }
}

// NB: nonisolated(unsafe) because a pointer is not Sendable. This pointer refers to a literal, which never changes.
nonisolated(unsafe) private let emptyText: UnsafePointer<CChar> =
  UnsafeRawPointer(("" as StaticString).utf8Start).assumingMemoryBound(to: CChar.self)

extension Statement {
  // These are overloads, because a generic function is slower when another target calls it.

  package mutating func bind(_ key: UserKey) { bind(key.number) }
  package mutating func bind(_ key: UserKey?) { bind(key?.number) }
  package mutating func bind(_ key: ConversationKey) { bind(key.number) }
  package mutating func bind(_ key: ConversationKey?) { bind(key?.number) }
  package mutating func bind(_ key: AttachmentKey) { bind(key.number) }
  package mutating func bind(_ key: ConsumerKey) { bind(key.number) }
  package mutating func bind(_ key: OutboxKey) { bind(key.number) }
  package mutating func bind(_ rev: Rev) { bind(rev.number) }
  package mutating func bind(_ key: MessageKey) { bind(key.number) }
  package mutating func bind(_ key: MessageKey?) { bind(key?.number) }

  package borrowing func userKey(_ column: Int32) -> UserKey { UserKey(number: int64(column)) }
  package borrowing func optionalUserKey(_ column: Int32) -> UserKey? { isNull(column) ? nil : userKey(column) }
  package borrowing func conversationKey(_ column: Int32) -> ConversationKey { ConversationKey(number: int64(column)) }
  package borrowing func messageKey(_ column: Int32) -> MessageKey { MessageKey(number: int64(column)) }
  package borrowing func optionalMessageKey(_ column: Int32) -> MessageKey? {
    isNull(column) ? nil : messageKey(column)
  }

  package borrowing func rev(_ column: Int32) -> Rev { Rev(number: Int64(int(column))) }

  /// The user keys in the first column of all rows that remain.
  package mutating func userKeys() throws -> [UserKey] {
    var keys: [UserKey] = []
    while try step() { keys.append(userKey(0)) }
    return keys
  }

  /// The conversation keys in the first column of all rows that remain.
  package mutating func conversationKeys() throws -> [ConversationKey] {
    var keys: [ConversationKey] = []
    while try step() { keys.append(conversationKey(0)) }
    return keys
  }
}

/// The keys as a JSON array, for `json_each`.
func jsonArray(_ keys: [some RowKey]) -> String { "[" + keys.map(\.description).joined(separator: ",") + "]" }
