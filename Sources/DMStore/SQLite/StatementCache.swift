internal import CSQLite
internal import DMModel

/// The prepared statements of a connection that are not in use now.
package final class StatementCache {
  package enum Key {
    /// The address of a literal, which is fast to look up.
    case address(Int64)
    case text(String)

    static func literal(_ text: StaticString) -> Key { .address(Int64(Int(bitPattern: text.utf8Start))) }
  }

  private let handle: OpaquePointer
  private var literals = KeyTable<OpaquePointer>()
  /// The statements whose key is a text, by the hash of the text.
  private var texts = KeyTable<OpaquePointer>()
  private var verified: Set<Verified> = []

  /// A statement, and the columns that it has from the column number `first` on.
  struct Verified: Hashable {
    let statement: OpaquePointer
    let columns: ObjectIdentifier
    let first: Int32
  }

  init(_ handle: OpaquePointer) { self.handle = handle }

  func prepare(_ sql: StaticString) throws(DMError) -> Statement {
    let text = UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
    let key = Key.literal(sql)
    let statement = if let cached = take(key) { cached } else { try compile(text) }
    return Statement(handle: statement, keptAs: key, in: self)
  }

  func prepare(_ key: Key, _ sql: () -> String) throws(DMError) -> Statement {
    let statement = if let cached = take(key) { cached } else { try compile(sql()) }
    return Statement(handle: statement, keptAs: key, in: self)
  }

  private func compile(_ sql: UnsafePointer<CChar>) throws(DMError) -> OpaquePointer {
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK, let statement else {
      throw DMError(sqlite: code, detail: String(cString: sqlite3_errmsg(handle)))
    }
    return statement
  }

  private func take(_ key: Key) -> OpaquePointer? { replace(key, nil) }

  func put(_ handle: OpaquePointer, _ key: Key) {
    // If the same SQL was in use twice at the same time, there are two statements. The cache keeps only one.
    if let other = replace(key, handle) { finalize(other) }
  }

  /// Whether `compare` returns true.
  ///
  /// Does not call `compare` again if it returned true before for the same statement and columns.
  func isVerified(_ columns: Verified, _ compare: () -> Bool) -> Bool {
    if verified.contains(columns) { return true }
    guard compare() else { return false }
    verified.insert(columns)
    return true
  }

  private func finalize(_ handle: OpaquePointer) {
    // A later statement may get the same address as a finalized statement.
    if !verified.isEmpty { verified = verified.filter { $0.statement != handle } }
    sqlite3_finalize(handle)
  }

  /// Stores a statement under a key; nil removes the statement under the key.
  ///
  /// - Returns: the statement that was stored before.
  private func replace(_ key: Key, _ handle: OpaquePointer?) -> OpaquePointer? {
    switch key {
    case .address(let address):
      let before = literals[address]
      if before != nil || handle != nil { literals[address] = handle }
      return before
    case .text(let text):
      // An odd number is never the key of a free slot.
      let hash = Int64(text.hashValue) | 1
      let before = texts[hash]
      if before != nil || handle != nil { texts[hash] = handle }
      guard let before, String(cString: sqlite3_sql(before)) != text else { return before }
      // Another text has the same hash.
      finalize(before)
      return nil
    }
  }

  func finalizeAll() {
    for handle in literals.all { finalize(handle) }
    for handle in texts.all { finalize(handle) }
    literals = KeyTable()
    texts = KeyTable()
  }
}
