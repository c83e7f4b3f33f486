public import DMModel
internal import DMSystem

/// The stream of events, as an asynchronous sequence.
///
/// Each iteration has its own connection and thread, and reads a batch only after the previous one was taken: a slow
/// reader slows only itself, and at most one batch is in memory. The messages of a batch count as delivered when the
/// next one is read. Cancelling the task ends the sequence.
public struct MessagingEvents: AsyncSequence, Sendable {
  /// An event.
  public typealias Element = MessagingEvent

  private let location: StoreLocation
  private let identity: Messenger.Identity
  private let query: EventQuery
  private let watched = WatchedConversations()

  init(_ location: StoreLocation, _ identity: Messenger.Identity, _ query: EventQuery) {
    self.location = location
    self.identity = identity
    self.query = query
  }

  /// Changes the conversations of the query, also for iterations that have begun; an empty array means all.
  ///
  /// The stream has every event of these conversations from the call on, and perhaps some from shortly before. For
  /// earlier messages, read the history of a conversation after this call; a message that comes twice has the same id.
  /// A reference that names no conversation ends the stream with the error that `Messenger` throws for it; only a
  /// direct conversation that does not exist yet is awaited.
  public func watch(_ conversations: [ConversationReference]) { watched.set(conversations) }

  /// Makes an iterator with a follower of its own.
  public func makeAsyncIterator() -> Iterator { Iterator(Reading(location, identity, query, watched)) }

  /// An iterator, which waits on a thread of its own.
  public struct Iterator: AsyncIteratorProtocol {
    private let reading: Reading
    private var batch: ArraySlice<MessagingEvent> = []
    private var isOver = false

    fileprivate init(_ reading: Reading) { self.reading = reading }

    /// The next event; nil if the task was cancelled, or at the end of a query that does not follow.
    ///
    /// - Throws: `store_replaced`, `no_store`, `store_too_new`, `gap`, `busy` for a consumer that another process
    ///   streams, or an error of the store.
    public mutating func next() async throws -> MessagingEvent? {
      while batch.isEmpty, !isOver {
        // A sequence that has ended, for whatever reason, does not start again.
        isOver = true
        if let next = try await reading.next() { (batch, isOver) = (next[...], false) }
      }
      return Task.isCancelled ? nil : batch.popFirst()
    }
  }
}

extension Messenger {
  /// The stream of events of a query.
  ///
  /// The query is checked when the stream is read.
  public func events(_ query: EventQuery = EventQuery()) -> MessagingEvents {
    MessagingEvents(location, identity, query)
  }
}

/// A follower that waits on a thread of its own, because tasks must not block the threads that they share.
// NB: @unchecked because the follower moves from thread to thread: each starts after the one before has returned.
private final class Reading: @unchecked Sendable {
  private let location: StoreLocation
  private let identity: Messenger.Identity
  private let query: EventQuery
  private let watched: WatchedConversations
  private var follower: Follower?
  /// The last batch; its events count as delivered when the reader asks for the next batch.
  private var delivered: [MessagingEvent] = []
  private let stop = StopSignal()

  init(
    _ location: StoreLocation, _ identity: Messenger.Identity, _ query: EventQuery, _ watched: WatchedConversations
  ) {
    self.location = location
    self.identity = identity
    self.query = query
    self.watched = watched
  }

  func next() async throws -> [MessagingEvent]? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let work: @Sendable () -> Void = { continuation.resume(with: Result { try self.follow() }) }
        // If no thread can be started, the call waits on this one.
        if startThread(work) != 0 { work() }
      }
    } onCancel: {
      stop.give()
    }
  }

  private func follow() throws -> [MessagingEvent]? {
    if stop.wasGiven { return nil }
    guard let descriptor = stop.descriptor else {
      throw DMError(.inputOutput, "cannot make a pipe: too many files are open")
    }
    let follower = try follower ?? Follower(Messenger(location, as: identity), query, watched: watched)
    follower.endsWith = descriptor
    self.follower = follower
    try follower.markDelivered(delivered)
    delivered = []
    let events = try follower.next()
    delivered = events ?? []
    return events
  }
}
