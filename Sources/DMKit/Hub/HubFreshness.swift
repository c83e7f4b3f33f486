public import DMModel
internal import DMStore
internal import DMSystem

/// How fresh a store's data from its hub is.
public struct HubFreshness: Equatable, Sendable {
  /// When the hub last answered the store; nil if it never did.
  public let asOf: Timestamp?
  /// Why the data is not fresh, as a clause; nil if it is fresh.
  public let fault: String?

  /// Whether the data is fresh: the store was just compared with the hub, or the hub has answered in the last 10 seconds
  /// and the store gets changes within seconds.
  public var isFresh: Bool { fault == nil }
}

extension Messenger {
  /// Asks the sync process to compare the store with its hub, unless the data is fresh, and waits for the result.
  ///
  /// This function does not start the sync process, and does not wait for one that cannot reach the hub.
  ///
  /// - Parameter limit: the longest time to wait.
  /// - Returns: how fresh the data is after the wait; nil for a store without a hub, and for one that has left its hub.
  /// - Throws: `no_store`, or an error of the store.
  public func refresh(within limit: Duration = .seconds(1)) throws -> HubFreshness? {
    let fault = "no process synchronizes the store"
    return try refresh(within: limit, evenOffline: false, startsNone: fault) { fault }
  }

  /// - Parameters:
  ///   - evenOffline: whether to wait even if the sync process could not reach the hub at its last attempt.
  ///   - startsNone: why no sync process may be started, as a clause; nil if one may be started.
  ///   - carry: starts the sync process; returns the reason if it cannot be started, otherwise nil.
  package func refresh(
    within limit: Duration, evenOffline: Bool, startsNone: String? = nil, carry: () -> String?
  ) throws -> HubFreshness? {
    guard let store = try existingStore(), let hub = try store.hub.row(), hub.leftAt == nil else { return nil }
    let before = runningState
    let isCarried = hasCarrier
    if isCarried { touchReadFile() }
    if hub.hindrance == nil, before.isFresh, isCarried { return HubFreshness(asOf: before.lastSyncAt, fault: nil) }
    let fault =
      try hub.hindrance ?? (isCarried ? nil : startsNone)
      ?? (limit <= .zero
        ? "the hub was not asked"
        : compareWithHub(
          until: monotonicMicroseconds() + limit.microseconds, evenOffline: evenOffline, carry: carry))
    return HubFreshness(asOf: runningState.lastSyncAt, fault: fault)
  }

  /// Asks the sync process to compare the store with its hub, even if the data is fresh, and waits for the result.
  ///
  /// - Returns: nil after a comparison, and for a store that has left its hub; otherwise the reason why the store was
  ///   not compared, as a clause.
  package func compare(within limit: Duration, carry: () -> String?) throws -> String? {
    guard let store = try existingStore(), let hub = try store.hub.row() else { return "the store has no hub" }
    if hub.leftAt != nil { return nil }
    return try hub.hindrance
      ?? compareWithHub(until: monotonicMicroseconds() + limit.microseconds, carry: carry)
  }

  /// Tells a sync process that a program reads the store, so that the hub notifies this machine of changes for a minute.
  package func noteReader() { if hasCarrier { touchReadFile() } }

  private func touchReadFile() {
    // Each change of the file wakes the sync process, so the file is changed at most once in 10 seconds.
    if let last = FileStatus(location.liveRead)?.modified,
      abs(Timestamp.now.microseconds - last.microseconds) < 10_000_000
    {
      return
    }
    SignalFile.touch(location.liveRead)
  }

  /// Whether a sync process runs for the store.
  var hasCarrier: Bool { fileExists(location.syncLock) && FileLock(ifFree: location.syncLock) == nil }

  /// The state that the sync process of the store wrote last.
  package var runningState: RunningState { RunningState(file: location.liveHub) ?? RunningState() }

  /// Resets the recorded state of a sync process that has ended, before another one is started.
  ///
  /// - Throws: `io_error`.
  package func noteStartOfCarrier() throws {
    var state = runningState
    (state.state, state.attempts, state.fault, state.nextAttemptAt) = (.connecting, 0, nil, nil)
    _ = createFolder(location.live)
    try state.write(to: location.liveHub)
  }

  /// Asks the sync process to compare the store with the hub now, and waits for the result.
  ///
  /// - Parameters:
  ///   - end: the end of the wait, as a time of `monotonicMicroseconds`.
  ///   - evenOffline: true to make a new attempt even if the sync process could not reach the hub before, and to wait
  ///     also until the queued operations are pushed.
  ///   - carry: starts the sync process; returns the reason if it cannot be started, otherwise nil.
  /// - Returns: nil after a comparison; otherwise the reason why the store was not compared, as a clause.
  package func compareWithHub(
    until end: Int64, evenOffline: Bool = false, carry: () -> String?
  ) throws -> String? {
    if !evenOffline, hasCarrier, let known = knownFault(runningState) { return known }
    guard let request = SignalFile.advance(location.liveAsked) else {
      return "the folder '\(location.live)' cannot be written"
    }
    SignalFile.touch(location.bell)
    let watch = Watch(location.live)
    // Until `liveHub` changes, it may contain the state of a sync process that has ended.
    let written = FileStatus(location.liveHub)?.modified
    var startsLeft = 3
    while true {
      // Another program that asked at the same time may have set an earlier time, so the time of this request is set
      // again.
      if let asked = FileStatus(location.liveAsked)?.modified, asked < request {
        SignalFile.set(request, of: location.liveAsked)
      }
      let running = runningState
      if let answered = evenOffline ? running.answered : running.pulled, answered >= request { return nil }
      if !hasCarrier {
        if startsLeft == 0 { return "the process that synchronizes the store ends at once" }
        startsLeft -= 1
        if let fault = carry() { return fault }
      }
      let isNew = FileStatus(location.liveHub)?.modified != written
      let hasFailed = [.waiting, .refused].contains(running.state) && (evenOffline ? running.hasTried(request) : isNew)
      if hasFailed || monotonicMicroseconds() >= end { return running.words }
      var awaited = [Awaited(watch.descriptor, for: .reading)]
      // The wait is short, because a sync process that ends changes no file.
      if waitForAny(of: &awaited, until: min(end, monotonicMicroseconds() + 50_000)) { watch.drain() }
    }
  }

  /// Why the hub is unlikely to answer soon, judging by the state of the running sync process; nil if the hub may
  /// answer.
  private func knownFault(_ running: RunningState) -> String? {
    switch running.state {
    case .waiting: return running.words
    case .connecting, .filling:
      guard let written = FileStatus(location.liveHub)?.modified else { return nil }
      let isLong = abs(Timestamp.now.microseconds - written.microseconds) > 2_000_000
      return isLong || running.attempts > 0 ? running.words : nil
    default: return nil
    }
  }
}

extension RunningState {
  /// Whether an attempt to connect that began after a request has failed.
  fileprivate func hasTried(_ request: Timestamp) -> Bool { attempted.map { $0 >= request } ?? false }

  /// Whether the hub has answered in the last 10 seconds, and the sync process has learned of changes since.
  fileprivate var isFresh: Bool {
    guard listens, let lastSyncAt, [.live, .polling].contains(state) else { return false }
    return abs(Timestamp.now.microseconds - lastSyncAt.microseconds) <= 10_000_000
  }

  /// Why the store has not been compared with the hub, as a clause.
  fileprivate var words: String {
    if state == .filling { return "the store is still being filled" }
    return fault.map { "the hub cannot be reached: \($0)" } ?? "the hub has not answered yet"
  }
}

extension Hub.Row {
  /// - Throws: `hub_unreachable` for a store that has left its hub.
  func refuseLeft() throws {
    if leftAt != nil { throw DMError(.hubUnreachable, "this store has left its hub", remedy: .joinHub) }
  }

  /// Why the store cannot be compared with its hub, as a clause; nil if it can be.
  var hindrance: String? {
    if let refusal { return "the hub does not let this store in: \(refusal)" }
    return network == .offline ? "the simulated network is offline" : nil
  }
}
