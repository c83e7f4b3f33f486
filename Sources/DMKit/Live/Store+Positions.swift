internal import DMStore

extension Store {
  /// The position in the change log at which a stream with this start begins now.
  ///
  /// - Throws: `bad_cursor` for a cursor of another store, or for a position after the end of the log.
  func position(of start: EventQuery.Start) throws -> Cursor.Position {
    switch start {
    // A reader that begins at the start gets no gap for changes that were pruned.
    case .start: try changes.range().map { Cursor.Position(rev: $0.lowerBound - 1) } ?? .start
    case .now: Cursor.Position(rev: try changes.range()?.upperBound ?? .zero)
    case .cursor(let cursor): try position(of: cursor)
    }
  }

  /// The position of a cursor of this store.
  ///
  /// - Throws: `bad_cursor` for a cursor of another store, or for a position after the end of the log.
  func position(of cursor: Cursor) throws -> Cursor.Position {
    let position = try cursor.position(in: uuid())
    guard try position <= Cursor.Position(rev: changes.range()?.upperBound ?? .zero) else {
      throw DMError(
        .badCursor,
        "the cursor '\(cursor)' is of something that has not happened yet",
        subject: cursor.description, remedy: .takeCursor)
    }
    return position
  }
}
