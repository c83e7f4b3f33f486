internal import DMSystem

/// The right to stream a consumer, for as long as it is kept.
final class ConsumerLease {
  /// Where the consumer stood when the stream began.
  let position: Cursor.Position
  private let name: String
  private let messenger: Messenger
  private let marksDelivered: Bool
  private let lock: FileLock
  private var described: [ConversationKey]?

  /// Finds the consumer, or makes it where the query says to begin.
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
    // Only now does nobody else stream it.
    position = try messenger.reading(found.position) { try $0.consumer(name).position }
    try write(conversations)
  }

  /// Notes what the stream is about, and so what an acknowledgement delivers; conversations may come into being.
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
