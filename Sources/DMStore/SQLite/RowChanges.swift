internal import CSQLite
internal import DMModel

/// Computes for each table by how much the current transaction changes the sum of the digests of the table's rows, and
/// collects the participants whose rows it changes.
///
/// SQLite calls a hook for each row that any statement changes (sqlite.org/c3ref/preupdate_blobwrite.html), so no
/// change is missed.
final class RowChanges {
  private let tables: [DigestedTable]
  /// For each table, the number to add to its stored sum because of the current transaction.
  private(set) var sums: [UInt64]
  private let participantIndex: Int?
  private var changedParticipants: [Participant] = []

  /// The key of a row of `participant`.
  struct Participant: Equatable {
    let conversation: ConversationKey
    let user: UserKey
  }

  init(of tables: [DigestedTable], on connection: borrowing Connection) {
    self.tables = tables
    sums = Array(repeating: 0, count: tables.count)
    participantIndex = tables.firstIndex { sqlite3_stricmp($0.cName, "participant") == 0 }
    sqlite3_preupdate_hook(
      connection.handle,
      { changes, handle, operation, schema, table, _, _ in
        // Changes are counted only in the database `main`, and not in attached or temporary databases.
        guard let changes, let handle, let schema, let table, schema[0] == 0x6D, schema[1] == 0x61 else { return }
        Unmanaged<RowChanges>.fromOpaque(changes).takeUnretainedValue().add(handle, operation, table)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  func reset() {
    for index in sums.indices { sums[index] = 0 }
    changedParticipants.removeAll(keepingCapacity: true)
  }

  /// The participants whose rows were added or changed, each once.
  func participants() -> [Participant] {
    var distinct: [Participant] = []
    for participant in changedParticipants.sorted(by: { $0.order < $1.order }) where participant != distinct.last {
      distinct.append(participant)
    }
    return distinct
  }

  private func add(_ handle: OpaquePointer, _ operation: Int32, _ name: UnsafePointer<CChar>) {
    guard let index = tables.firstIndex(where: { sqlite3_stricmp($0.cName, name) == 0 }) else { return }
    if operation != SQLITE_INSERT {
      sums[index] &-= digest(tables[index]) { sqlite3_preupdate_old(handle, $0, &$1) }
    }
    if operation != SQLITE_DELETE {
      sums[index] &+= digest(tables[index]) { sqlite3_preupdate_new(handle, $0, &$1) }
      if index == participantIndex { changedParticipants.append(participant(handle)) }
    }
  }

  private func participant(_ handle: OpaquePointer) -> Participant {
    func key(_ column: Int32) -> Int64 {
      var value: OpaquePointer?
      _ = sqlite3_preupdate_new(handle, column, &value)
      return sqlite3_value_int64(value)
    }
    return Participant(conversation: ConversationKey(number: key(0)), user: UserKey(number: key(1)))
  }

  private func digest(_ table: DigestedTable, _ value: (Int32, inout OpaquePointer?) -> Int32) -> UInt64 {
    var digest = Digest()
    for column in 0..<table.digestedCount {
      var found: OpaquePointer?
      _ = value(column, &found)
      switch sqlite3_value_type(found) {
      case SQLITE_NULL: digest.add(nil as Int64?)
      case SQLITE_INTEGER: digest.add(sqlite3_value_int64(found))
      default:
        // The pointer must be read before the count (sqlite.org/c3ref/value_blob.html).
        let start = sqlite3_value_blob(found)
        digest.add(text: UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(found))))
      }
    }
    return digest.mixed
  }
}

extension RowChanges.Participant {
  fileprivate var order: (Int64, Int64) { (conversation.number, user.number) }
}

extension Digest {
  /// Adds a column of a row to the digest, in the same way as the hook of `RowChanges`.
  package mutating func add(_ row: borrowing Statement, _ column: Int32) {
    switch sqlite3_column_type(row.handle, column) {
    case SQLITE_NULL: add(nil as Int64?)
    case SQLITE_INTEGER: add(row.int64(column))
    default: row.withBytes(column) { add(text: $0) }
    }
  }
}
