internal import DMStore

/// Actions of one kind by one user in one transaction, which share their look-ups.
protocol Batch {
  associatedtype Item
  associatedtype Answer: Sendable

  /// Whether the batch ends with the first item that fails.
  var stopsAtFault: Bool { get }

  /// Whether there is something to write although no action succeeded.
  var mustCommit: Bool { get }

  /// Does one action.
  ///
  /// If it throws an error that concerns only the item, nothing of the action stays; it is cheaper when nothing was
  /// written before the error.
  func act(on item: Item) throws -> Answer

  /// Notes that an action failed.
  func passOver(_ item: Item, _ error: DMError) throws

  /// Writes, once for each conversation, what the actions leave to the end of the transaction.
  func finish() throws

  /// Does what follows after the commit, and cannot fail.
  func committed()
}

extension Batch {
  var stopsAtFault: Bool { false }
  var mustCommit: Bool { false }
  func passOver(_ item: Item, _ error: DMError) throws {}
  func committed() {}
}

/// Thrown to roll back a transaction in which nothing was done, so that a mistake creates no user.
private struct NothingDone<Answer: Sendable>: Error {
  let results: [Result<Answer, DMError>]
}

/// Thrown to roll back a transaction in which an action failed after it had written something.
private struct HalfDone: Error {}

/// Thrown to roll back a transaction in which a user is unknown who may have been invited to the hub.
private struct UserMayExist: Error {}

extension Messenger {
  /// Acts on each item in order, in one durable transaction.
  ///
  /// An item that fails is undone and, unless the batch has `stopsAtFault`, does not stop the others; an error of the
  /// store undoes all.
  ///
  /// - Returns: the result of each item.
  func perform<Acts: Batch>(
    _ items: [Acts.Item], _ begin: (Session) throws -> Acts
  ) throws -> [Result<Acts.Answer, DMError>] {
    // By index: the items that failed after they had written. All others are done again without them, because not only
    // the rows but also what the batch keeps in memory must be as if they had not been there.
    var failed: [Int: DMError] = [:]
    while true {
      do {
        let (batch, results) = try writing(isBulk: items.count > 1) { session in
          let batch = try begin(session)
          return (batch, try act(on: items, batch, session.store, &failed))
        }
        batch.committed()
        return results
      } catch let nothing as NothingDone<Acts.Answer> {
        return nothing.results.map { $0.mapError(namingStore) }
      } catch is HalfDone {
        continue
      } catch is UserMayExist {
        if let store = try existingStore() { _ = try learnsOfUsers(store) }
      }
    }
  }

  private func act<Acts: Batch>(
    on items: [Acts.Item], _ batch: Acts, _ store: Store, _ failed: inout [Int: DMError]
  ) throws -> [Result<Acts.Answer, DMError>] {
    var results: [Result<Acts.Answer, DMError>] = []
    var hasDone = false
    for (index, item) in items.enumerated() {
      let changeCount = store.connection.totalChanges
      do {
        if let error = failed[index] { throw error }
        results.append(.success(try batch.act(on: item)))
        hasDone = true
      } catch let error as DMError where !error.code.isFatal {
        if error.code == .unknownUser, failed[index] == nil, mayLearnOfUsers(store) { throw UserMayExist() }
        guard store.connection.totalChanges == changeCount else {
          failed[index] = error
          throw HalfDone()
        }
        results.append(.failure(error))
        try batch.passOver(item, error)
        if batch.stopsAtFault { break }
      }
    }
    if !hasDone, !batch.mustCommit { throw NothingDone(results: results) }
    try batch.finish()
    return results
  }
}
