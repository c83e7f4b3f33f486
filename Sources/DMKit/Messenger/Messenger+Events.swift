extension Messenger {
  /// The place in the stream that a start means now.
  ///
  /// - Throws: `bad_cursor`, also of what has not happened yet.
  func position(of start: EventQuery.Start, _ store: Store) throws -> Cursor.Position {
    try store.read { try placed(start, store) }
  }

  /// The same within a transaction.
  func placed(_ start: EventQuery.Start, _ store: Store) throws -> Cursor.Position {
    switch start {
    // What was forgotten before is missed by nobody who begins here.
    case .start: return try store.knownChanges().map { Cursor.Position(rev: $0.lowerBound - 1) } ?? .start
    case .now: return Cursor.Position(rev: try store.knownChanges()?.upperBound ?? 0)
    case .cursor(let text): return try known(text, store)
    }
  }

  /// The position of a cursor of this store, of something that has happened.
  func known(_ text: String, _ store: Store) throws -> Cursor.Position {
    let position = try Cursor(text, store: store.uuid()).position
    guard try position <= Cursor.Position(rev: store.knownChanges()?.upperBound ?? 0) else {
      throw DMError(
        .badCursor,
        "the cursor '\(text)' is of something that has not happened yet; take one from a line of dm-tail -f",
        subject: text)
    }
    return position
  }
}
