/// Many acts of one kind by one user in one transaction, with what they share looked up once.
protocol BatchSession {
  associatedtype Item
  associatedtype Answer: Sendable

  init(_ messenger: Messenger, _ store: Store, _ me: Int64)

  /// Does one act. When it throws a fault of the item alone, nothing of the act has been written.
  func act(on item: Item) throws -> Answer

  /// Writes what is kept for the end, once a conversation.
  func finish() throws
}

/// Rolls a transaction back in which nothing was done, so that a mistake creates no user.
private struct NothingDone<Answer: Sendable>: Error {
  let results: [Result<Answer, DMError>]
}

extension Messenger {
  /// Acts on each item in order, in one durable transaction, and says what became of each.
  ///
  /// An item that cannot be done stops none of the others; a fault of the store undoes all.
  func perform<Session: BatchSession>(
    _ items: [Session.Item], in session: Session.Type
  ) throws -> [Result<Session.Answer, DMError>] {
    do {
      return try writing(isBulk: items.count > 1) { store, me in
        let session = Session(self, store, me)
        var hasDone = false
        let results = try items.map { item -> Result<Session.Answer, DMError> in
          do {
            let answer = try session.act(on: item)
            hasDone = true
            return .success(answer)
          } catch let error as DMError where !error.code.isFatal {
            return .failure(error)
          }
        }
        if !hasDone { throw NothingDone(results: results) }
        try session.finish()
        return results
      }
    } catch let nothing as NothingDone<Session.Answer> {
      return nothing.results
    }
  }
}
