/// The right to stream a consumer, for as long as it is kept.
final class ConsumerLease {
  /// Where the consumer stood when the stream began.
  let position: Cursor.Position
  private let lock: FileLock

  /// Finds the consumer, or makes it where the query says to begin.
  init(_ name: String, _ messenger: Messenger, _ query: EventQuery, conversations: [Int64]?) throws {
    try Consumer.check(name: name)
    let found = try messenger.writing { store, me in
      if let row = try store.consumers(of: me, named: name).first { return row }
      guard let start = query.start else {
        throw DMError(.usage, "the consumer '\(name)' is new; say where it begins: --cursor start, now or CURSOR")
      }
      try store.insertConsumer(name, of: me, at: messenger.placed(start, store), now: .now)
      return try messenger.consumer(name, store, me)
    }
    lock = try messenger.lease(of: found)
    // Now that nobody else streams it: where it stands, and what its acknowledgements are about.
    position = try messenger.writing { store, me in
      let row = try messenger.consumer(name, store, me)
      try store.describeConsumer(
        row.key, conversations: conversations,
        marksDelivered: query.marksDelivered && query.kinds.contains(.message), now: .now)
      return row.position
    }
  }
}
