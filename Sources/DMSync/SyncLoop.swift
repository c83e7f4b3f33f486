package import DMKit
internal import DMModel
internal import DMStore
internal import DMSystem

/// Keeps a linked store and its hub in sync, and connects again after faults.
///
/// Only one process at a time syncs a store; see `lead`.
package final class SyncLoop {
  private let messenger: Messenger
  private let engine: SyncEngine
  private let signals: SignalBridge
  private let location: StoreLocation
  private var running = RunningState()
  /// The requests at the start of the last attempt to connect.
  private var seen = SyncRequests()
  private var lock: FileLock?
  /// Microseconds until the next attempt after a fault.
  private var nextPause: Int64 = 0
  /// How many attempts have failed since the hub last answered, without those that a program requested.
  private var ownAttempts = 0
  /// The last time at which the connection worked, or else the start of `follow`, in `monotonicMicroseconds`.
  private var lastSuccess: Int64 = 0
  private var readers: Readers
  /// The state that was last written for other processes, and the time of that write.
  private var shown: (state: RunningState, at: Int64)?
  /// Called when `Messenger.hubStatus` has changed.
  private let report: () throws -> Void
  private let files: FileWork?

  /// All pauses and timeouts are in microseconds.
  private static let comparePause: Int64 = 30_000_000
  private static let standbyPause: Int64 = 10_000_000
  private static let refreshPause: Int64 = 1_000_000
  private static let shortestPause: Int64 = 200_000
  private static let longestPause: Int64 = 60_000_000
  private static let refusedPause: Int64 = 15 * 60_000_000
  private static let turnPause: ClosedRange<Int64> = 15_000_000...30_000_000
  private static let lingering: Int64 = 60_000_000
  private static let offlineTimeout: Int64 = 10 * 60_000_000

  /// - Throws: `no_hub` for a store that is not linked.
  package init(
    _ messenger: Messenger, _ link: any HubLink, files: FileWork? = nil, report: @escaping () throws -> Void = {}
  ) throws {
    self.files = files
    self.messenger = messenger
    location = messenger.location
    readers = Readers(location)
    let link = SimulatedLink(link, messenger)
    engine = try SyncEngine(messenger, link)
    signals = try SignalBridge(messenger, link)
    self.report = report
    running.lastSyncAt = RunningState(file: location.liveHub)?.lastSyncAt
    _ = createFolder(location.live)
  }

  /// Acquires the lock that lets only one process sync the store, and keeps the lock as long as this object exists.
  ///
  /// - Returns: false if another process has the lock.
  /// - Throws: `io_error`.
  package func lead() throws -> Bool {
    lock = try FileLock(leading: location.syncLock)
    return lock != nil
  }

  // MARK: Once

  /// Pushes all queued operations, and pulls all new entries.
  ///
  /// - Throws: `HubFault.error`, or an error of the store.
  package func once() throws {
    defer { messenger.forgetOwnChanges() }
    // Receipts are not delayed, because this process may end before they are due.
    engine.receiptDelay = 0
    try engine.listen(false)
    var left = 3
    while true {
      do {
        try carry()
        while let end = engine.heldUntil, left > 0 {
          left -= 1
          rest(until: end)
          try engine.drain()
        }
        if engine.heldUntil != nil { throw HubFault.locked("another member holds the lock of a conversation", []) }
        try files?.finish(engine)
        try engine.trimMessages(all: true)
        return try refuseSetAside()
      } catch let fault as HubFault {
        engine.close()
        left -= 1
        if case .again = fault, left > 0 { continue }
        try note(fault)
        throw fault.error
      }
    }
  }

  /// - Throws: an error with the code of a conversation that is set aside; all other conversations were synced before.
  private func refuseSetAside() throws {
    guard let first = engine.setAside.values.first else { return }
    let names = try messenger.hubStatus().setAside.map { "'\($0.name)'" }
    throw DMError(
      first,
      "cannot read the hub's log of \(names.joined(separator: ", ")), so no new messages arrive there; all else is up to date",
      subject: names.first)
  }

  /// - Parameter isAgain: whether the store is connected to a standby, and only connects again.
  private func carry(isAgain: Bool = false) throws {
    seen = requests
    if !isAgain { try show(.connecting) }
    try engine.connect()
    running.takesFiles = engine.hello?.hasFiles != false
    if try engine.hasWork() { try show(.filling) }
    // The pull precedes the push, because a program that asked for fresh data waits for the new entries, but not for
    // pushes, such as the receipts for these entries.
    try engine.pull()
    running.lastSyncAt = engine.answeredAt
    running.pulled = seen.comparison
    try show(running.state)
    try engine.drain()
    (running.attempts, ownAttempts) = (0, 0)
    running.fault = hindrance
    running.isRefused = false
    running.nextAttemptAt = nil
    running.lastSyncAt = engine.answeredAt
    running.answered = seen.comparison
    running.setAside = engine.setAside.mapValues(\.rawValue)
    running.listens = engine.listens && engine.hello?.takesTurns != true
    try show(engine.hello?.pollSeconds == nil ? .live : .polling)
  }

  /// The reason why the hub does not work properly although it answers; nil if it works properly.
  private var hindrance: String? {
    guard let hello = engine.hello else { return nil }
    if hello.isStandby { return "the hub is a standby, which accepts no changes" }
    if hello.isPooled { return "a connection pooler stops notifications, so the hub is asked every two seconds" }
    return hello.takesTurns ? "the hub has few connections left, so machines take turns" : nil
  }

  // MARK: Following

  /// Runs until a permanent error.
  ///
  /// - Parameter lingers: whether to return also when there has been no work for a minute, no program follows the store,
  ///   and no operation or file waits; when the store was removed; when the hub refuses the login; or when a fault occurs
  ///   more than ten minutes after the connection last worked.
  /// - Throws: `hub_mismatch`, `hub_damaged`, or a permanent error of the store.
  package func follow(lingers: Bool) throws {
    defer { messenger.forgetOwnChanges() }
    let start = monotonicMicroseconds()
    lastSuccess = start
    while true {
      do {
        try engine.listen(readers.needHints())
        try carry()
        lastSuccess = monotonicMicroseconds()
        if engine.hello?.takesTurns == true {
          try files?.carry(engine)
          engine.close()
          if lingers, isGone || monotonicMicroseconds() - start > Self.lingering && !readers.areFollowing() { return }
          pause(for: Int64.random(in: Self.turnPause), orUntilRung: Watch(location.bell))
          continue
        }
        try stay(lingers)
        return
      } catch let fault as HubFault {
        engine.close()
        try note(fault)
        switch fault {
        case .mismatch, .damaged: throw fault.error
        default: break
        }
      }
      if lingers, monotonicMicroseconds() - lastSuccess > Self.offlineTimeout { return }
      if lingers, try isGone || engine.hub().refusal != nil { return }
      pause()
    }
  }

  /// Pushes and pulls as long as the connection lasts; with `lingers`, returns when there is nothing left to do.
  private func stay(_ lingers: Bool) throws {
    var pauses = WorkPauses()
    var (connectedAt, workAt, filesAt) = (monotonicMicroseconds(), Int64.max, Int64(0))
    signals.begin()
    while true {
      let hasSignals = engine.hello?.hasSignals == true && engine.hello?.isStandby == false
      let due = min(workAt, filesAt, hasSignals ? signals.due : .max)
      try engine.wait(for: .microseconds(Self.comparePause), until: due)
      lastSuccess = monotonicMicroseconds()
      // A standby may become a primary, which the hub reports only on a new connection.
      if engine.hello?.isStandby == true,
        requests != seen || monotonicMicroseconds() - connectedAt > Self.standbyPause
      {
        connectedAt = monotonicMicroseconds()
        try carry(isAgain: true)
      }
      let asked = requests.comparison
      let isAsked = asked != running.answered
      let isCompared = try engine.listen(readers.needHints())
      running.listens = engine.listens
      if isAsked, !isCompared { try engine.compare() }
      workAt = try engine.hasWork() ? work(&pauses, isAsked: isAsked) : .max
      filesAt = try min(files?.carry(engine) ?? .max, engine.trimMessages())
      if hasSignals, try signals.carry() { engine.answeredAt = .now }
      running.lastSyncAt = engine.answeredAt
      (running.pulled, running.answered) = (asked, asked)
      running.setAside = engine.setAside.mapValues(\.rawValue)
      try refresh(isAsked: isAsked)
      if lingers, isGone { return }
      guard lingers, monotonicMicroseconds() - pauses.lastWork > Self.lingering, !readers.areFollowing() else {
        continue
      }
      if try messenger.postponedUntil() == nil && engine.filesDueAt() == nil { return }
    }
  }

  /// Pushes and pulls, after the pause that `pauses` requires.
  ///
  /// - Returns: when to pull, if there is nothing to push and the pause has not ended; otherwise `.max`.
  private func work(_ pauses: inout WorkPauses, isAsked: Bool) throws -> Int64 {
    let isPush = try engine.hasPushes()
    let end = pauses.end(beforePush: isPush)
    if !isPush, !isAsked, monotonicMicroseconds() < end { return end }
    if isPush { rest(until: end) }
    let time = monotonicMicroseconds()
    pauses.note(pushed: try engine.drain(), at: time)
    return .max
  }

  /// Whether the store was removed.
  private var isGone: Bool { !fileExists(location.database) }

  private var requests: SyncRequests { SyncRequests(at: location) }

  /// Waits before the next attempt to connect, for a random time that becomes longer with each fault, so that machines
  /// do not all connect at once.
  private func pause() { pause(for: nextPause) }

  /// Waits for some microseconds, or until `bell` signals that an operation was queued here, or until a program requests
  /// a comparison or the user joins again; waits only for the shortest pause if that happened during the last attempt.
  private func pause(for wait: Int64, orUntilRung bell: Watch? = nil) {
    let start = monotonicMicroseconds()
    let watch = Watch(location.live)
    while case let end = start + (requests == seen ? wait : min(wait, Self.shortestPause)),
      monotonicMicroseconds() < end
    {
      var awaited = [Awaited(watch.descriptor, for: .reading), Awaited(bell?.descriptor, for: .reading)]
      if waitForAny(of: &awaited, until: min(end, monotonicMicroseconds() + 5_000_000)) { watch.drain() }
      if awaited[1].isReady { return }
    }
  }

  // MARK: The state for other processes

  private func note(_ fault: HubFault) throws {
    running.attempts += 1
    running.fault = fault.text
    // A program that waits requests several attempts, which must not make the pauses long for the time after it.
    if running.attempted == seen.comparison { ownAttempts += 1 }
    running.attempted = seen.comparison
    running.isRefused = fault.error.code == .hubRefused
    let longest = min(Self.longestPause, 1_000_000 << Int64(min(ownAttempts, 10)))
    if case .refused = fault { nextPause = Self.refusedPause } else { nextPause = Int64.random(in: 0...longest) }
    running.nextAttemptAt = Timestamp(microseconds: Timestamp.now.microseconds + nextPause)
    guard case .refused = fault else { return try show(.waiting) }
    let store = engine.store
    try store.write { try store.hub.set(refusal: fault.text) }
    try show(.refused)
  }

  private func show(_ state: HubStatus.State) throws {
    running.state = state
    try running.write(to: location.liveHub)
    shown = (running, monotonicMicroseconds())
    try report()
  }

  /// Calls `show` if a comparison was requested, if the state has changed, or if the hub has answered and a second has
  /// passed.
  private func refresh(isAsked: Bool) throws {
    var before = shown?.state
    before?.lastSyncAt = running.lastSyncAt
    let isOld = shown.map { monotonicMicroseconds() - $0.at > Self.refreshPause } ?? true
    if isAsked || isOld && running.lastSyncAt != shown?.state.lastSyncAt || before != running {
      try show(running.state)
    }
  }
}
