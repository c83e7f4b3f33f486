public import DMModel
internal import DMSystem
internal import Synchronization

/// A messenger for tasks.
///
/// The calls run on a separate thread, so that a task does not block its thread while it waits for the disk or for
/// another writer.
///
/// The calls use one connection, and run one after another, in the order in which they were made.
public final class AsyncMessenger: Sendable {
  private let location: StoreLocation
  private let identity: Messenger.Identity
  private let jobs = Mutex(Jobs())
  private let opened = Opened()

  private struct Jobs {
    var waiting: [@Sendable () -> Void] = []
    /// Whether a thread is running the queued calls.
    var isRunning = false
  }

  /// The messenger, created by the first call.
  // NB: @unchecked because only the queued calls use it, and they run one after another.
  private final class Opened: @unchecked Sendable {
    var messenger: Messenger?
  }

  /// Makes a messenger; the first call opens the store.
  public init(_ location: StoreLocation, as identity: Messenger.Identity) {
    self.location = location
    self.identity = identity
  }

  /// Runs `body` with a messenger, which must not be kept after the call.
  ///
  /// A call that has begun cannot be cancelled: a message whose sending has begun is sent.
  ///
  /// - Throws: what `body` throws; `CancellationError` if the task was cancelled before the call.
  public func perform<Result: Sendable>(
    _ body: @escaping @Sendable (Messenger) throws -> Result
  ) async throws -> Result {
    try Task.checkCancellation()
    return try await withCheckedThrowingContinuation { continuation in
      add { continuation.resume(with: Swift.Result { try body(self.messenger()) }) }
    }
  }

  /// The stream of events of a query.
  ///
  /// The stream uses a connection of its own.
  public func events(_ query: EventQuery = EventQuery()) -> MessagingEvents {
    MessagingEvents(location, identity, query)
  }

  private func messenger() -> Messenger {
    if let messenger = opened.messenger { return messenger }
    let messenger = Messenger(location, as: identity)
    opened.messenger = messenger
    return messenger
  }

  private func add(_ job: @escaping @Sendable () -> Void) {
    let mustStart = jobs.withLock { jobs in
      jobs.waiting.append(job)
      defer { jobs.isRunning = true }
      return !jobs.isRunning
    }
    // If no thread can be started, the calling thread runs the queued calls; otherwise they would never return.
    if mustStart, startThread({ self.run() }) != 0 { run() }
  }

  private func run() {
    while let job = next() { job() }
  }

  private func next() -> (@Sendable () -> Void)? {
    jobs.withLock { jobs in
      jobs.isRunning = !jobs.waiting.isEmpty
      return jobs.isRunning ? jobs.waiting.removeFirst() : nil
    }
  }
}
