internal import DMModel
internal import DMStore

extension Messenger {
  /// Microseconds until the next message of any user expires; nil if none does.
  func untilNextExpiry() throws -> Int64? {
    try reading(nil) { session in
      try session.store.messages.nextExpiry().map { max(0, $0.microseconds - session.store.clock.microseconds) }
    }
  }

  /// Turns expired messages into tombstones, so that all followers get the event.
  ///
  /// It does nothing if the store is busy or cannot be written to.
  ///
  /// - Returns: whether it was done.
  func deleteExpired() throws -> Bool {
    try attempt {
      let isDue = try reading(false) { try !$0.store.messages.expiredMessages(now: $0.store.clock).isEmpty }
      // Each write begins by making these tombstones.
      if isDue { try writing(timeout: .milliseconds(100)) { _ in } }
    }
  }
}
