internal import DMStore

/// Actions of one kind by one user in one transaction.
///
/// The actions share cached look-ups.
protocol Batch {
  associatedtype Item
  associatedtype Answer: Sendable

  /// Whether the batch ends after the first action that fails.
  var stopsAtFault: Bool { get }

  /// Whether the transaction must be committed even if no action succeeded.
  var mustCommit: Bool { get }

  /// Does one action.
  ///
  /// If an error concerns only this item, the changes of the action are rolled back. This is cheaper if the action has
  /// not written anything before the error.
  func act(on item: Item) throws -> Answer

  /// Records that an action failed.
  func passOver(_ item: Item, _ error: DMError) throws

  /// Called at the end of the transaction; writes the data that is needed once for each conversation, not for each
  /// action.
  func finish() throws

  /// Does the work that follows the commit. This work cannot fail.
  func committed()
}

extension Batch {
  var stopsAtFault: Bool { false }
  var mustCommit: Bool { false }
  func passOver(_ item: Item, _ error: DMError) throws {}
  func committed() {}
}

/// Thrown to roll back a transaction in which no action succeeded, so that a mistake does not create a user.
private struct NothingDone<Answer: Sendable>: Error {
  let results: [Result<Answer, DMError>]
}

/// Thrown to roll back a transaction in which an action failed after it had written something.
private struct HalfDone: Error {}

/// Thrown to roll back a transaction that refers to an unknown user, who may have been invited to the hub since.
private struct UserMayExist: Error {}

extension Messenger {
  /// Acts on each item in order, in one durable transaction.
  ///
  /// The changes of an item that fails are rolled back. The batch then continues with the next item, unless it has
  /// `stopsAtFault`. An error of the store rolls back the whole transaction.
  ///
  /// - Returns: the result of each item.
  func perform<Acts: Batch>(
    _ items: [Acts.Item], _ begin: (Session) throws -> Acts
  ) throws -> [Result<Acts.Answer, DMError>] {
    // The errors of the items that failed after a write, by index. The other items are processed again in a new batch,
    // because the caches of the old batch contain data of the failed items.
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
