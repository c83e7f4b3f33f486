internal import CPQ
internal import DMKit

extension PQFunctions {
  /// The functions of the system's libpq.
  ///
  /// - Throws: `hub_unreachable` if libpq is not installed.
  static func loaded() throws -> PQFunctions {
    let functions = UnsafeMutablePointer<PQFunctions>.allocate(capacity: 1)
    defer { functions.deallocate() }
    guard dm_load_pq(functions) == 1 else {
      throw DMError(
        .hubUnreachable, "cannot reach a hub without 'libpq.so.5' of PostgreSQL 14 or newer; on Debian, install libpq5")
    }
    return functions.pointee
  }

  /// A field of an error, by its letter (postgresql.org/docs/current/protocol-error-fields.html); empty if it is absent.
  func field(_ letter: Unicode.Scalar, of result: OpaquePointer) -> String {
    PQresultErrorField(result, Int32(letter.value)).map { String(cString: $0) } ?? ""
  }
}
