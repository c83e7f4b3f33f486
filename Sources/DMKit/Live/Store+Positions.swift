extension Store {
  /// The position in the change log that a start means now.
  ///
  /// - Throws: `bad_cursor`, also for a position that the log has not reached.
  func position(of start: EventQuery.Start) throws -> Cursor.Position {
    switch start {
    // Changes that were pruned are not a gap for a reader that starts here.
    case .start: try changes.known().map { Cursor.Position(rev: $0.lowerBound - 1) } ?? .start
    case .now: Cursor.Position(rev: try changes.known()?.upperBound ?? .zero)
    case .cursor(let text): try position(ofCursor: text)
    }
  }

  /// The position of a cursor of this store.
  ///
  /// - Throws: `bad_cursor`, also for a position that the log has not reached.
  func position(ofCursor text: String) throws -> Cursor.Position {
    let position = try Cursor(text, store: uuid()).position
    guard try position <= Cursor.Position(rev: changes.known()?.upperBound ?? .zero) else {
      throw DMError(
        .badCursor,
        "the cursor '\(text)' is of something that has not happened yet",
        subject: text, remedy: .takeCursor)
    }
    return position
  }
}
