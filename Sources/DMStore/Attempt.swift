internal import DMModel

/// Does what may be left out when it cannot be done now.
///
/// A disk that fails shows at the next reading; one that is full does not keep anybody from reading.
///
/// - Returns: whether it was done.
package func attempt(_ body: () throws -> Void) throws -> Bool {
  do {
    try body()
    return true
  } catch let error as DMError where [.busy, .readOnlyStore, .inputOutput].contains(error.code) {
    return false
  }
}
