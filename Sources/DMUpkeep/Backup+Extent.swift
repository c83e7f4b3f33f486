internal import DMModel
internal import DMStore
internal import DMSystem

/// The size of a store or a backup; neither number ever decreases.
struct Extent: Equatable {
  let messages: Int
  /// The number of the last change, whether the change log still has that change or not.
  let rev: Int
}

extension Connection {
  func extent() throws(DMError) -> Extent {
    var counts = try prepare(
      "SELECT (SELECT count(*) FROM message), (SELECT seq FROM sqlite_sequence WHERE name = 'change')")
    return try counts.step() ? Extent(messages: counts.int(0), rev: counts.int(1)) : Extent(messages: 0, rev: 0)
  }
}

extension Upkeep {
  /// - Throws: `cannot_create` if the backup at `path` has messages or changes that the new one does not have.
  func refuseReplacing(_ path: String, by new: String) throws {
    guard fileExists(path) else { return }
    let old: Extent
    do {
      old = try Connection(path: path).extent()
    } catch {
      // A backup that cannot be read may be replaced.
      guard error.isDamage else { throw error }
      return
    }
    let new = try Connection(path: new).extent()
    if old.messages <= new.messages, old.rev <= new.rev { return }
    throw DMError(
      .cannotCreate,
      "the backup '\(path)' has \(old.messages) messages and \(old.rev) changes, the store \(new.messages) and \(new.rev); "
        + "name another file",
      subject: path, remedy: .replaceFile)
  }
}
