internal import CPQ
internal import DMKit
internal import DMModel
internal import DMSync

/// A row of a result, with its values in the binary format
/// (postgresql.org/docs/current/protocol-overview.html, section 55.1.3).
///
/// A row is valid only in the function that receives it.
struct PQRow {
  let pq: PQFunctions
  let result: OpaquePointer

  /// The bytes of a value; nil for null.
  func value(_ column: Int32) -> UnsafeRawBufferPointer? {
    guard pq.PQgetisnull(result, 0, column) == 0, let start = pq.PQgetvalue(result, 0, column) else { return nil }
    return UnsafeRawBufferPointer(start: start, count: Int(pq.PQgetlength(result, 0, column)))
  }

  private func required<Value>(_ value: Value?, _ column: Int32) throws -> Value {
    guard let value else { throw HubFault.damaged("column \(column) of an answer is absent or of another type") }
    return value
  }

  func bytes(_ column: Int32) -> [UInt8]? { value(column).map(Array.init) }

  /// The text of a jsonb value, without the version byte that precedes it.
  func json(_ column: Int32) -> [UInt8]? { value(column).map { Array($0.dropFirst()) } }

  func optionalText(_ column: Int32) -> String? { value(column).map { String(decoding: $0, as: UTF8.self) } }
  func text(_ column: Int32) throws -> String { try required(optionalText(column), column) }

  /// A smallint, an integer or a bigint.
  func optionalInteger(_ column: Int32) -> Int64? {
    value(column).flatMap { bytes in
      switch bytes.count {
      case 2: Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
      case 4: Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
      case 8: Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
      default: nil
      }
    }
  }
  func integer(_ column: Int32) throws -> Int64 { try required(optionalInteger(column), column) }

  func optionalIdentifier(_ column: Int32) -> Identifier? {
    bytes(column).flatMap { $0.count == 16 ? Identifier(bytes: $0) : nil }
  }
  func identifier(_ column: Int32) throws -> Identifier { try required(optionalIdentifier(column), column) }

  func flag(_ column: Int32) throws -> Bool { try required(value(column)?.first.map { $0 != 0 }, column) }

  /// Microseconds from 1970 to 2000: PostgreSQL counts times from the beginning of 2000.
  private static let epoch: Int64 = 946_684_800_000_000

  /// A time, clamped to the range that a store can hold.
  ///
  /// - Throws: `HubFault.damaged` for an infinite time, which no working hub sends.
  func optionalTimestamp(_ column: Int32) throws -> Timestamp? {
    guard let microseconds = optionalInteger(column) else { return nil }
    guard microseconds != .max, microseconds != .min else {
      throw HubFault.damaged("column \(column) of an answer is an infinite time")
    }
    let (sum, overflows) = microseconds.addingReportingOverflow(Self.epoch)
    return Timestamp(microseconds: overflows ? .max : sum).clamped
  }
  func timestamp(_ column: Int32) throws -> Timestamp { try required(optionalTimestamp(column), column) }
}
