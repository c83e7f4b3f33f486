internal import DMModel
internal import DMStore

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

  /// Microseconds until the next message of anybody expires; nil when none does.
  func untilNextExpiry() throws -> Int64? {
    try reading(nil) { store, _ in
      try store.nextExpiry().map { max(0, $0.microseconds - Timestamp.now.microseconds) }
    }
  }

  /// Makes tombstones of what has expired, for all to be told.
  ///
  /// Not an act: it is left out when the store is busy or cannot be written to.
  ///
  /// - Returns: whether it was done.
  func buryExpired() throws -> Bool {
    try attempt {
      let isDue = try reading(false) { store, _ in try !store.expiredMessages(now: .now).isEmpty }
      // Each writing begins with that.
      if isDue { try writing(patience: 100) { _, _ in } }
    }
  }
}
