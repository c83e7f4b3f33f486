internal import DMModel
internal import DMStore

extension Messenger {
  /// Microseconds until the next message of anybody expires; nil when none does.
  func untilNextExpiry() throws -> Int64? {
    try reading(nil) { session in
      try session.store.messages.nextExpiry().map { max(0, $0.microseconds - Timestamp.now.microseconds) }
    }
  }

  /// Makes tombstones of what has expired, for all to be told.
  ///
  /// Not an act: it is left out when the store is busy or cannot be written to.
  ///
  /// - Returns: whether it was done.
  func deleteExpired() throws -> Bool {
    try attempt {
      let isDue = try reading(false) { try !$0.store.messages.expiredMessages(now: .now).isEmpty }
      // Each writing begins with that.
      if isDue { try writing(timeout: .milliseconds(100)) { _ in } }
    }
  }
}
