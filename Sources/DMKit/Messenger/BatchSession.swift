/// Many acts of one kind by one user in one transaction, with what they share looked up once.
protocol BatchSession {
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

extension BatchSession {
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
  /// An item that cannot be done stops none of the others, unless the session stops at it; a fault of the store
  /// undoes all.
  func perform<Session: BatchSession>(
    _ items: [Session.Item], _ begin: (Store, UserKey) throws -> Session
  ) throws -> [Result<Session.Answer, DMError>] {
    do {
      let (session, results) = try writing(isBulk: items.count > 1) { store, me in
        let session = try begin(store, me)
        var results: [Result<Session.Answer, DMError>] = []
        var hasDone = false
        for item in items {
          do {
            results.append(.success(try session.act(on: item)))
            hasDone = true
          } catch let error as DMError where !error.code.isFatal {
            results.append(.failure(error))
            if session.stopsAtFault { break }
          }
        }
        if !hasDone, !session.mustCommit { throw NothingDone(results: results) }
        try session.finish()
        return (session, results)
      }
      session.committed()
      return results
    } catch let nothing as NothingDone<Session.Answer> {
      return nothing.results.map { $0.mapError(withPlace) }
    }
  }
}
