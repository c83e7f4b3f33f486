internal import DMStore

extension Store {
  /// The position in the change log that `start` stands for at present.
  ///
  /// - Throws: `bad_cursor`, also for a position that the log has not reached.
  func position(of start: EventQuery.Start) throws -> Cursor.Position {
    switch start {
    // Changes that were pruned are not a gap for a reader that starts here.
    case .start: try changes.range().map { Cursor.Position(rev: $0.lowerBound - 1) } ?? .start
    case .now: Cursor.Position(rev: try changes.range()?.upperBound ?? .zero)
    case .cursor(let cursor): try position(of: cursor)
    }
  }

  /// The position of a cursor of this store.
  ///
  /// - Throws: `bad_cursor`, also for a position that the log has not reached.
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
