package import DMKit
internal import DMModel
internal import DMStore
internal import DMSystem

/// Carries between a linked store and its hub, again and again.
///
/// One process at a time does that for a store: `lead`.
package final class SyncLoop {
  private let messenger: Messenger
  private let engine: SyncEngine
  private let location: StoreLocation
  private var running = RunningState()
  private var lock: FileLock?
  /// When a follower touched its file last, by the clock of the file and by the monotonic one.
  private var followed: (touched: Timestamp, seenAt: Int64)?
  /// What others were shown last, and when.
  private var shown: (state: RunningState, at: Int64)?
  /// Called when `Messenger.hubStatus` has changed.
  private let report: () throws -> Void

  /// Microseconds.
  private static let comparePause: Int64 = 30_000_000
  private static let pushPause: Int64 = 15_000
  private static let longestPushPause: Int64 = 120_000
  private static let refreshPause: Int64 = 1_000_000
  private static let longestPause: Int64 = 60_000_000
  private static let refusedPause: Int64 = 15 * 60_000_000
  private static let followerPause: Int64 = 45_000_000
  private static let turnPause: ClosedRange<Int64> = 15_000_000...30_000_000
  private static let lingering: Int64 = 60_000_000
  private static let patience: Int64 = 10 * 60_000_000

  /// - Throws: `no_hub` for a store that is not linked.
  package init(_ messenger: Messenger, _ link: any HubLink, report: @escaping () throws -> Void = {}) throws {
    self.messenger = messenger
    location = messenger.location
    engine = try SyncEngine(messenger, PlayedLink(link, messenger))
    self.report = report
    _ = createFolder(location.live)
  }

  /// Takes the lock of the process that carries, as long as this exists.
  ///
  /// - Returns: false if another process has it.
  /// - Throws: `io_error`.
  package func lead() throws -> Bool {
    if let handedOn = FileLock(handedOn: 3, of: location.syncLock) {
      lock = consume handedOn
      return true
    }
    do throws(DMError) {
      lock = try FileLock(path: location.syncLock, milliseconds: 0, busy: DMError(.busy, "another process has it"))
      return true
    } catch {
      if error.code == .busy { return false }
      throw error
    }
  }

  // MARK: Once

  /// Pushes all that is queued, and pulls all that is new.
  ///
  /// - Throws: the error of a `HubFault`, or one of the store.
  package func once() throws {
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

  /// - Throws: the code with which a conversation is set aside; all others were carried.
  private func refuseSetAside() throws {
    guard let first = engine.setAside.values.first else { return }
    let names = try messenger.hubStatus().setAside.map { "'\($0.name)'" }
    throw DMError(
      first,
      "what the hub has of \(names.joined(separator: ", ")) cannot be read, so nothing of it comes; all else is up to date",
      subject: names.first)
  }

  private func carry() throws {
    let asked = asked
    try show(.connecting)
    try engine.connect()
    if try engine.hasWork() { try show(.filling) }
    try engine.drain()
    running.attempts = 0
    running.fault = hindrance
    running.nextAttemptAt = nil
    running.lastSyncAt = .now
    running.answered = asked
    running.setAside = engine.setAside.mapValues(\.rawValue)
    try show(engine.hello?.pollSeconds == nil ? .live : .polling)
  }

  /// What keeps the hub from working as it should, although it answers.
  private var hindrance: String? {
    guard let hello = engine.hello else { return nil }
    if hello.isStandby { return "the hub is a standby, which takes nothing" }
    if hello.isPooled { return "a pooler is in between, so that the hub is asked every two seconds" }
    return hello.takesTurns ? "the hub has few connections left, so that machines come and go in turns" : nil
  }

  /// Asks the process that carries to compare the store with the hub now, and waits until it has.
  ///
  /// - Throws: `hub_unreachable` after 30 seconds.
  package static func ask(_ location: StoreLocation) throws {
    SignalFile.touch(location.liveAsked)
    SignalFile.touch(location.bell)
    let end = monotonicMicroseconds() + 30_000_000
    let watch = Watch(location.live)
    while monotonicMicroseconds() < end {
      // Who has asked since is answered by the same comparison. Times of files are compared for equality alone, because
      // the clock may be set.
      if let asked = FileStatus(location.liveAsked)?.modified, RunningState(file: location.liveHub)?.answered == asked {
        return
      }
      var awaited = [Awaited(watch.descriptor, for: .reading)]
      if waitForAny(of: &awaited, until: min(end, monotonicMicroseconds() + 1_000_000)) { watch.drain() }
    }
    throw DMError(
      .hubUnreachable, "the process that carries between the store and its hub has not reached the hub",
      remedy: .showHubStatus)
  }

  // MARK: Going on

  /// Goes on until an error that does not go away.
  ///
  /// - Parameter lingers: whether it ends by itself when there is nothing to do: nothing is queued, and nobody follows
  ///   the store.
  /// - Throws: `hub_mismatch`, `hub_damaged`, or an error of the store that stays.
  package func follow(lingers: Bool) throws {
    let start = monotonicMicroseconds()
    var lastSuccess = start
    while true {
      do {
        try carry()
        lastSuccess = monotonicMicroseconds()
        if engine.hello?.takesTurns == true {
          engine.close()
          if lingers, isGone || monotonicMicroseconds() - start > Self.lingering && !isFollowed { return }
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
      if lingers, monotonicMicroseconds() - lastSuccess > Self.patience { return }
      if lingers, try isGone || engine.hub().refusal != nil { return }
      pause()
    }
  }

  /// Carries whatever comes, as long as the connection lasts; returns when there is nothing to linger for.
  private func stay(_ lingers: Bool) throws {
    var (lastWork, pushPause) = (monotonicMicroseconds(), Self.pushPause)
    var connectedAt = monotonicMicroseconds()
    while true {
      try engine.wait(for: .microseconds(Self.comparePause))
      // A standby that has become a primary says so only when this connects.
      if engine.hello?.isStandby == true, monotonicMicroseconds() - connectedAt > Self.comparePause {
        connectedAt = monotonicMicroseconds()
        try carry()
      }
      let asked = asked
      let isAsked = asked != running.answered
      if isAsked { try engine.compare() }
      if try engine.hasWork() {
        // What is queued at short intervals goes together, and more of it while it goes on: each push writes, while
        // other programs wait.
        rest(until: lastWork + pushPause)
        lastWork = monotonicMicroseconds()
        let pushed = try engine.drain()
        pushPause = pushed > 1 ? min(2 * pushPause, Self.longestPushPause) : Self.pushPause
      }
      running.lastSyncAt = .now
      running.answered = asked
      running.setAside = engine.setAside.mapValues(\.rawValue)
      try refresh(isAsked: isAsked)
      if lingers, isGone { return }
      guard lingers, monotonicMicroseconds() - lastWork > Self.lingering, !isFollowed else { continue }
      return
    }
  }

  /// Whether the store was removed.
  private var isGone: Bool { !fileExists(location.database) }

  /// When somebody asked last for a comparison, by the time of a file.
  private var asked: Timestamp? { FileStatus(location.liveAsked)?.modified }

  /// Whether a program has followed the store lately.
  private var isFollowed: Bool {
    guard let last = FileStatus(location.liveFollowed)?.modified else { return false }
    if last != followed?.touched { followed = (last, monotonicMicroseconds()) }
    return followed.map { monotonicMicroseconds() - $0.seenAt < Self.followerPause } ?? false
  }

  /// Waits before the next attempt: longer each time, and not all machines at the same moment.
  private func pause() {
    let longest = min(Self.longestPause, 1_000_000 << Int64(min(running.attempts, 10)))
    pause(for: running.state == .refused ? Self.refusedPause : Int64.random(in: 0...longest))
  }

  /// Waits for microseconds, or until something is queued here, which `bell` tells.
  private func pause(for wait: Int64, orUntilRung bell: Watch? = nil) {
    running.nextAttemptAt = Timestamp(microseconds: Timestamp.now.microseconds + wait)
    let end = monotonicMicroseconds() + wait
    let (credentials, asked) = (FileStatus(location.hub)?.modified, FileStatus(location.liveAsked)?.modified)
    let watch = Watch(location.live)
    while monotonicMicroseconds() < end {
      var awaited = [Awaited(watch.descriptor, for: .reading), Awaited(bell?.descriptor, for: .reading)]
      if waitForAny(of: &awaited, until: min(end, monotonicMicroseconds() + 5_000_000)) { watch.drain() }
      if awaited[1].isReady { return }
      // Asked for by a person, or joined again with another password.
      let isAsked = FileStatus(location.liveAsked)?.modified != asked
      if isAsked || FileStatus(location.hub)?.modified != credentials { return }
    }
  }

  // MARK: What others see of it

  private func note(_ fault: HubFault) throws {
    running.attempts += 1
    running.fault = fault.text
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

  /// The same if others would see something new; that all is well is said again only now and then.
  private func refresh(isAsked: Bool) throws {
    var before = shown?.state
    before?.lastSyncAt = running.lastSyncAt
    let isOld = shown.map { monotonicMicroseconds() - $0.at > Self.refreshPause } ?? true
    if isAsked || isOld || before != running { try show(running.state) }
  }
}
