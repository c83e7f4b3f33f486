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
  /// If it throws an error that concerns only the item, nothing of the action has been written.
  func act(on item: Item) throws -> Answer

  /// Writes, once for each conversation, what the actions leave to the end of the transaction.
  func finish() throws

  /// Does what follows after the commit, and cannot fail.
  func committed()
}

extension Batch {
  var stopsAtFault: Bool { false }
  var mustCommit: Bool { false }
  func committed() {}
}

/// Thrown to roll back a transaction in which nothing was done, so that a mistake creates no user.
private struct NothingDone<Answer: Sendable>: Error {
  let results: [Result<Answer, DMError>]
}

extension Messenger {
  /// Acts on each item in order, in one durable transaction.
  ///
  /// An item that fails does not stop the others, unless the batch has `stopsAtFault`; an error of the store undoes
  /// all.
  ///
  /// - Returns: the result of each item.
  func perform<Acts: Batch>(
    _ items: [Acts.Item], _ begin: (Session) throws -> Acts
  ) throws -> [Result<Acts.Answer, DMError>] {
    do {
      let (batch, results) = try writing(isBulk: items.count > 1) { session in
        let batch = try begin(session)
        var results: [Result<Acts.Answer, DMError>] = []
        var hasDone = false
        for item in items {
          do {
            results.append(.success(try batch.act(on: item)))
            hasDone = true
          } catch let error as DMError where !error.code.isFatal {
            results.append(.failure(error))
            if batch.stopsAtFault { break }
          }
        }
        if !hasDone, !batch.mustCommit { throw NothingDone(results: results) }
        try batch.finish()
        return (batch, results)
      }
      batch.committed()
      return results
    } catch let nothing as NothingDone<Acts.Answer> {
      return nothing.results.map { $0.mapError(namingStore) }
    }
  }
}
