public import DMModel
internal import DMSystem

/// The stream of events, as an asynchronous sequence.
///
/// Each iteration has its own connection and thread, and reads a batch when the one before was taken: a slow reader
/// slows only itself, and at most one batch is in memory. The messages of a batch count as delivered when the next one
/// is read. Cancelling the task ends the sequence.
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

  /// Changes the conversations of the query, also for iterations that have begun; none stands for all.
  ///
  /// Each event of these conversations that happens after the call is in the stream; one from shortly before may be.
  /// What happened in a conversation before it was watched is in its history: read that after this call, and recognize
  /// by its id what comes twice. A conversation that cannot be found by its reference ends the stream with the error that
  /// `Messenger` throws for it; a direct one that does not exist yet is awaited.
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
        // Whatever ends the sequence, it does not start again.
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
  /// The last batch, which its reader has by the time they ask for the next one.
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
