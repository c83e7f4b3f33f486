/// Runs work that can be left undone, and ignores the errors `busy`, `read_only_store` and `io_error`.
///
/// A failing disk shows at the next read; a full disk must not prevent reading.
///
/// - Returns: whether the work was done.
package func attempt(_ body: () throws -> Void) throws -> Bool { try failure(of: body) == nil }

/// The same, with the error that is ignored.
///
/// - Returns: nil if the work was done.
package func failure(of body: () throws -> Void) throws -> DMError? {
  do {
    try body()
    return nil
  } catch let error as DMError where [.busy, .readOnlyStore, .inputOutput].contains(error.code) {
    return error
  }
}
