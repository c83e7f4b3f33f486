internal import DMStore
internal import DMSystem

/// The lease of a consumer: the exclusive right to stream the events of the consumer, held as long as this object
/// exists.
final class ConsumerLease {
  /// The position of the consumer when the stream began.
  let position: Cursor.Position
  private let name: String
  private let messenger: Messenger
  private let marksDelivered: Bool
  private let lock: FileLock
  private var described: [ConversationKey]?

  /// Finds the consumer, or creates it at the position `start` of the query, and acquires its lease.
  init(_ name: String, _ messenger: Messenger, _ query: EventQuery, conversations: [ConversationKey]?) throws {
    try Consumer.check(name: name)
    let found = try messenger.writing { session in
      let (store, me) = (session.store, session.me)
      if let row = try store.consumers.all(of: me, named: name).first { return row }
      guard let start = query.start else {
        throw DMError(.usage, "the consumer '\(name)' is new", remedy: .chooseStart)
      }
      try Consumer.check(newName: name)
      try store.consumers.insert(name, of: me, at: store.position(of: start), now: .now)
      return try session.consumer(name)
    }
    self.name = name
    self.messenger = messenger
    marksDelivered = query.marksDelivered && query.kinds.contains(.message)
    lock = try messenger.lease(of: found)
    // Another process may have moved the position before this process got the lease, so the position is read again.
    position = try messenger.reading(found.position) { try $0.consumer(name).position }
    try write(conversations)
  }

  /// Stores the conversations of the stream, because an acknowledgement marks only messages of these conversations as
  /// delivered.
  ///
  /// The conversations may change during the stream: a direct conversation of the query may be created.
  func describe(_ conversations: [ConversationKey]?) throws {
    if conversations != described { try write(conversations) }
  }

  private func write(_ conversations: [ConversationKey]?) throws {
    try messenger.writing { session in
      try session.store.consumers.describe(
        session.consumer(name).key, conversations: conversations, marksDelivered: marksDelivered, now: .now)
    }
    described = conversations
  }
}
