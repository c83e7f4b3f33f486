/// Many acts of one kind by one user in one transaction, with what they share looked up once.
protocol Batch {
  associatedtype Item
  associatedtype Answer: Sendable

  /// Whether the first item that fails is the last that is looked at.
  var stopsAtFault: Bool { get }

  /// Whether there is something to keep though no act succeeded.
  var mustCommit: Bool { get }

  /// Does one act. When it throws a fault of the item alone, nothing of the act has been written.
  func act(on item: Item) throws -> Answer

  /// Writes what is kept for the end, once a conversation.
  func finish() throws

  /// Does what follows once the acts are durable, and cannot fail.
  func committed()
}

extension Batch {
  var stopsAtFault: Bool { false }
  var mustCommit: Bool { false }
  func committed() {}
}

/// Rolls a transaction back in which nothing was done, so that a mistake creates no user.
private struct NothingDone<Answer: Sendable>: Error {
  let results: [Result<Answer, DMError>]
}

extension Messenger {
  /// Acts on each item in order, in one durable transaction, and says what became of each.
  ///
  /// An item that cannot be done stops none of the others, unless the batch stops at it; a fault of the store
  /// undoes all.
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
