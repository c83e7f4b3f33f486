internal import CSQLite

/// A value of a column, of any type.
package enum SQLiteValue: Equatable {
  case null
  case integer(Int64)
  case real(Double)
  /// The bytes of a text. The bytes may be invalid UTF-8.
  case text([UInt8])
  case blob([UInt8])
}

extension Statement {
  package borrowing func value(_ column: Int32) -> SQLiteValue {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, column))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, column))
    case SQLITE_TEXT: return .text(withBytes(column) { Array($0 ?? UnsafeRawBufferPointer(start: nil, count: 0)) })
    case SQLITE_BLOB: return .blob(withBytes(column) { Array($0 ?? UnsafeRawBufferPointer(start: nil, count: 0)) })
    default: return .null
    }
  }

  package mutating func bind(blob: [UInt8]?) { bind(blob.map(SQLiteValue.blob) ?? .null) }

  package mutating func bind(_ value: SQLiteValue) {
    let parameter = nextParameter()
    switch value {
    case .null: sqlite3_bind_null(handle, parameter)
    case .integer(let number): sqlite3_bind_int64(handle, parameter, number)
    case .real(let number): sqlite3_bind_double(handle, parameter, number)
    case .text(let bytes):
      // A byte is added, so that an empty value has an address. A nil pointer would bind NULL.
      _ = (bytes + [0]).withUnsafeBytes { bound in
        dm_sqlite3_bind_text(handle, parameter, bound.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count))
      }
    case .blob(let bytes):
      _ = (bytes + [0]).withUnsafeBytes { dm_sqlite3_bind_blob(handle, parameter, $0.baseAddress, Int32(bytes.count)) }
    }
  }
}
