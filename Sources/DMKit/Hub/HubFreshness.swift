public import DMModel
internal import DMStore
internal import DMSystem

/// How fresh the part of a store is that comes from its hub.
public struct HubFreshness: Equatable, Sendable {
  /// When the store was last compared with the hub; nil if it never was.
  public let asOf: Timestamp?
  /// Whether the hub notifies the store of changes now, or the store was compared with the hub in the last 10 seconds.
  public let isFresh: Bool
  /// Why it is not fresh; nil if the reason is only that no answer has come yet.
  public let fault: String?
}

extension Messenger {
  /// Microseconds for which a comparison counts as fresh.
  private static let freshTime: Int64 = 10_000_000

  /// Has the store compared with its hub, unless it is fresh, and waits for that.
  ///
  /// The process that carries between the store and its hub compares; this function does not start it. It does not
  /// wait while that process cannot reach the hub.
  ///
  /// - Parameter limit: the longest time to wait.
  /// - Returns: how fresh the store is then; nil for a store without a hub.
  /// - Throws: `no_store`, or an error of the store.
  public func refresh(within limit: Duration = .seconds(1)) throws -> HubFreshness? {
    try refresh(within: limit, evenOffline: false) {}
  }

  /// - Parameters:
  ///   - evenOffline: whether to wait although the carrier could not reach the hub at its last attempt.
  ///   - carry: starts the carrier if none runs.
  package func refresh(
    within limit: Duration, evenOffline: Bool, carry: () -> Void
  ) throws -> HubFreshness? {
    guard let store = try existingStore(), let hub = try store.hub.row() else { return nil }
    let (fresh, isCarried) = (freshness(hub), hasCarrier)
    if fresh.isFresh && isCarried || limit <= .zero || !hub.isReachable { return fresh }
    let before = RunningState(file: location.liveHub)
    if !evenOffline, isCarried, before?.state == .waiting { return fresh }
    let start = isCarried ? before?.attempts ?? 0 : 0
    carry()
    guard hasCarrier else { return fresh }
    let end = monotonicMicroseconds() + limit.microseconds
    if try compareWithHub(until: end, orUntil: { !evenOffline && $0.state == .waiting && $0.attempts > start }) {
      return HubFreshness(asOf: .now, isFresh: true, fault: nil)
    }
    return freshness(try store.hub.row() ?? hub)
  }

  /// Has the store compared with its hub, whether or not it is fresh.
  ///
  /// - Returns: whether that was done within the limit.
  package func compare(within limit: Duration, carry: () -> Void) throws -> Bool {
    guard let store = try existingStore(), let hub = try store.hub.row(), hub.isReachable, limit > .zero else {
      return false
    }
    carry()
    return try hasCarrier && compareWithHub(until: monotonicMicroseconds() + limit.microseconds)
  }

  /// Whether a process carries between the store and its hub.
  private var hasCarrier: Bool { fileExists(location.syncLock) && FileLock(ifFree: location.syncLock) == nil }

  private func freshness(_ hub: Hub.Row) -> HubFreshness {
    let running = RunningState(file: location.liveHub) ?? RunningState()
    let age = running.lastSyncAt.map { Timestamp.now.microseconds - $0.microseconds }
    let isLive = running.state == .live && hasCarrier && hub.isReachable
    let isFresh = isLive || hub.isReachable && age.map { abs($0) <= Self.freshTime } == true && running.fault == nil
    return HubFreshness(
      asOf: isLive ? .now : running.lastSyncAt, isFresh: isFresh,
      fault: isFresh
        ? nil
        : hub.refusal ?? (hub.network == .offline ? "the simulated network is offline" : running.fault))
  }

  /// Asks the carrier to compare the store with the hub now, and waits until it has.
  ///
  /// - Parameters:
  ///   - end: the end of the wait, as a time of `monotonicMicroseconds`.
  ///   - isOver: whether to stop waiting, because of what the carrier writes of itself.
  /// - Returns: whether the store was compared.
  package func compareWithHub(
    until end: Int64, orUntil isOver: (RunningState) -> Bool = { _ in false }
  ) throws -> Bool {
    SignalFile.touch(location.liveAsked)
    SignalFile.touch(location.bell)
    let watch = Watch(location.live)
    while true {
      // The same comparison also answers requests that were made since. The times
      // of files are only compared for equality, because the clock may be set.
      let running = RunningState(file: location.liveHub)
      if let asked = FileStatus(location.liveAsked)?.modified, running?.answered == asked { return true }
      if monotonicMicroseconds() >= end || running.map(isOver) == true { return false }
      var awaited = [Awaited(watch.descriptor, for: .reading)]
      if waitForAny(of: &awaited, until: min(end, monotonicMicroseconds() + 1_000_000)) { watch.drain() }
    }
  }
}

extension Hub.Row {
  /// Whether the store may be carried: it has not left its hub, is not refused, and its network is not offline.
  fileprivate var isReachable: Bool { leftAt == nil && refusal == nil && network != .offline }
}
