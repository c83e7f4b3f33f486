public import DMModel
internal import DMSystem

/// The stream of events, as an asynchronous sequence.
///
/// Each iteration has a connection and a thread of its own. The iteration reads a batch of events only after the
/// program has received all events of the previous batch, so at most one batch is in memory, and a slow program does
/// not slow down others. The messages of a batch count as delivered when the next batch is read. Cancelling the task
/// ends the sequence.
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

  /// Changes the conversations of the query, also for iterations that have begun.
  ///
  /// An empty array means all conversations.
  ///
  /// After this call, the stream has every new event of these conversations, and perhaps some events from shortly
  /// before the call. For earlier messages, read the history of a conversation after this call. A message that is in
  /// both the history and the stream has the same id in both. A reference to a direct conversation that does not exist
  /// yet is valid: its events begin when it is created. Any other reference to a conversation that does not exist ends
  /// the stream with the error that `Messenger` throws for the reference.
  public func watch(_ conversations: [ConversationReference]) { watched.set(conversations) }

  /// Makes an iterator, which has its own follower.
  public func makeAsyncIterator() -> Iterator { Iterator(Reading(location, identity, query, watched)) }

  /// An iterator, which waits for events on its own thread.
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
        // After an error or the end, each further call returns nil.
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
  /// Errors in the query are thrown when the first event is requested.
  public func events(_ query: EventQuery = EventQuery()) -> MessagingEvents {
    MessagingEvents(location, identity, query)
  }
}

/// A follower that waits on its own thread, because tasks must not block the threads that all tasks share.
// NB: @unchecked because one thread after another uses it. Each thread starts after the previous call has returned.
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
        // If no thread can be started, the wait blocks the current thread.
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
