public import DMModel
internal import DMStore
internal import DMSystem

/// The freshness of the data that a store has from its hub.
public struct HubFreshness: Equatable, Sendable {
  /// When the store was last compared with the hub; nil if it never was.
  public let asOf: Timestamp?
  /// Whether the hub notifies the store of changes now, or the store was compared with the hub in the last 10 seconds.
  public let isFresh: Bool
  /// Why the data is not fresh; nil if it is fresh, or if the hub has merely not answered yet.
  public let fault: String?
}

extension Messenger {
  /// Asks the sync process to compare the store with its hub, unless it is fresh, and waits for the result.
  ///
  /// This function does not start the sync process. It does not wait while that process cannot reach the hub.
  ///
  /// - Parameter limit: the longest time to wait.
  /// - Returns: how fresh the store is then; nil for a store without a hub.
  /// - Throws: `no_store`, or an error of the store.
  public func refresh(within limit: Duration = .seconds(1)) throws -> HubFreshness? {
    try refresh(within: limit, evenOffline: false) {}
  }

  /// - Parameters:
  ///   - evenOffline: whether to wait even if the sync process could not reach the hub at its last attempt.
  ///   - carry: starts the sync process if none runs.
  package func refresh(
    within limit: Duration, evenOffline: Bool, carry: () -> Void
  ) throws -> HubFreshness? {
    guard let store = try existingStore(), let hub = try store.hub.row() else { return nil }
    let (before, isCarried) = (RunningState(file: location.liveHub) ?? RunningState(), hasCarrier)
    let fresh = HubFreshness(hub, before, isCarried: isCarried)
    if fresh.isFresh && isCarried || limit <= .zero || !hub.isReachable { return fresh }
    if !evenOffline, isCarried, before.state == .waiting { return fresh }
    let start = isCarried ? before.attempts : 0
    carry()
    guard hasCarrier else { return fresh }
    let end = monotonicMicroseconds() + limit.microseconds
    if try compareWithHub(until: end, orUntil: { !evenOffline && $0.state == .waiting && $0.attempts > start }) {
      return HubFreshness(asOf: .now, isFresh: true, fault: nil)
    }
    let after = RunningState(file: location.liveHub) ?? RunningState()
    let old = HubFreshness(try store.hub.row() ?? hub, after, isCarried: hasCarrier)
    return HubFreshness(asOf: old.asOf, isFresh: false, fault: old.fault)
  }

  /// Asks the sync process to compare the store with its hub even if it is fresh, and waits for the result.
  ///
  /// - Returns: whether the store was compared within the limit.
  package func compare(within limit: Duration, carry: () -> Void) throws -> Bool {
    guard let store = try existingStore(), let hub = try store.hub.row(), hub.isReachable, limit > .zero else {
      return false
    }
    carry()
    return try hasCarrier && compareWithHub(until: monotonicMicroseconds() + limit.microseconds)
  }

  /// Whether a sync process runs for the store.
  var hasCarrier: Bool { fileExists(location.syncLock) && FileLock(ifFree: location.syncLock) == nil }

  /// Asks the sync process to compare the store with the hub now, and waits for the result.
  ///
  /// - Parameters:
  ///   - end: the end of the wait, as a time of `monotonicMicroseconds`.
  ///   - isOver: whether to stop waiting, given the state that the sync process has written.
  /// - Returns: whether the store was compared.
  package func compareWithHub(
    until end: Int64, orUntil isOver: (RunningState) -> Bool = { _ in false }
  ) throws -> Bool {
    SignalFile.touch(location.liveAsked)
    SignalFile.touch(location.bell)
    let watch = Watch(location.live)
    while true {
      // The comparison that answers the last request also answers all earlier ones. The times of files are only
      // compared for equality, because the clock may be set.
      let running = RunningState(file: location.liveHub)
      if let asked = FileStatus(location.liveAsked)?.modified, running?.answered == asked { return true }
      if monotonicMicroseconds() >= end || running.map(isOver) == true { return false }
      var awaited = [Awaited(watch.descriptor, for: .reading)]
      if waitForAny(of: &awaited, until: min(end, monotonicMicroseconds() + 1_000_000)) { watch.drain() }
    }
  }
}

extension HubFreshness {
  /// Microseconds for which a comparison counts as fresh.
  private static let freshTime: Int64 = 10_000_000

  /// - Parameter isCarried: whether a sync process runs for the store.
  fileprivate init(_ hub: Hub.Row, _ running: RunningState, isCarried: Bool) {
    let age = running.lastSyncAt.map { Timestamp.now.microseconds - $0.microseconds }
    let isLive = running.state == .live && isCarried && hub.isReachable
    isFresh = isLive || hub.isReachable && age.map { abs($0) <= Self.freshTime } == true && running.fault == nil
    asOf = isLive ? .now : running.lastSyncAt
    let isOffline = hub.network == .offline
    fault = isFresh ? nil : hub.refusal ?? (isOffline ? "the simulated network is offline" : running.fault)
  }
}

extension Hub.Row {
  /// Whether the store can be synced: it has not left its hub, is not refused, and its network is not offline.
  fileprivate var isReachable: Bool { leftAt == nil && refusal == nil && network != .offline }
}
