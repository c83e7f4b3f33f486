/// Runs work that is not essential, and ignores the errors `busy`, `read_only_store` and `io_error`.
///
/// These errors can be ignored: the next read reports a failing disk, and a full disk must not prevent reading.
///
/// - Returns: whether the work was done.
package func attempt(_ body: () throws -> Void) throws -> Bool { try failure(of: body) == nil }

/// Runs work as `attempt` does, and returns the ignored error.
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
