package import DMJSON
package import DMModel
package import DMStore
internal import DMSystem

/// The state of the connection between a linked store and its hub.
package struct HubStatus: Equatable, Sendable {
  package enum State: String, CaseIterable, Sendable {
    /// The store was never compared with the hub.
    case never
    case connecting
    /// The store is catching up with the hub.
    case filling
    /// The hub notifies the store of changes at once.
    case live
    /// The store asks the hub for changes every two seconds.
    case polling
    /// The sync process waits before it connects again, or no sync process runs.
    case waiting
    case refused
    /// The simulated network is offline.
    case offline
    case left
  }

  package enum Color: String, CaseIterable, Sendable { case green, yellow, red }

  package let state: State
  package let user: Handle
  package let network: HubNetwork
  /// Whether a process syncs the store with the hub now.
  package let isRunning: Bool
  package let queuedCount: Int
  package let failedCount: Int
  package let oldestQueuedAt: Timestamp?
  /// The attempts to connect since the last success.
  package let attempts: Int
  package let lastSyncAt: Timestamp?
  package let nextAttemptAt: Timestamp?
  /// When the hub accepts more from a user who is over their quota; nil for a user who is not.
  package let retryAt: Timestamp?
  /// Microseconds by which the clock of the hub is ahead.
  package let clockOffset: Int64
  /// The reason, if something does not work.
  package let fault: String?
  /// The conversations that are not synced, because their entries on the hub cannot be read.
  package let setAside: [SetAside]

  /// A conversation that is set aside.
  package struct SetAside: Equatable, Sendable {
    package let id: Identifier
    /// The name that the user sees; nil if this store has nothing of the conversation.
    package let reference: String?
    /// The code of the reason.
    package let code: String

    package var name: String { reference ?? id.description }
  }

  /// Green for a minute after a comparison, then yellow; with a fault, yellow for that minute, and then red.
  private var waitingColor: Color {
    guard let lastSyncAt else { return .red }
    let isRecent = Timestamp.now.microseconds - lastSyncAt.microseconds < 60_000_000
    if attempts > 0 || fault != nil { return isRecent ? .yellow : .red }
    return isRecent && network == .normal ? .green : .yellow
  }

  /// Whether another status looks the same to the user; a difference only in times does not count.
  package func isSimilar(to other: HubStatus) -> Bool {
    (state, color, network, queuedCount, failedCount, fault)
      == (other.state, other.color, other.network, other.queuedCount, other.failedCount, other.fault)
      && setAside == other.setAside
  }

  /// Green if the connection works, yellow if it may work, red if it does not.
  package var color: Color {
    if !setAside.isEmpty { return .red }
    if retryAt != nil, state == .waiting { return .yellow }
    return switch state {
    case .live, .polling: network == .normal && fault == nil ? .green : .yellow
    case .connecting, .filling: .yellow
    case .never, .waiting: waitingColor
    case .refused, .offline, .left: .red
    }
  }

}

/// The state of the sync process, in a file and not in the database because it changes often.
package struct RunningState: Equatable {
  package var state = HubStatus.State.connecting
  package var attempts = 0
  package var lastSyncAt: Timestamp?
  package var nextAttemptAt: Timestamp?
  /// The modification time that the request file had for the last answered request to compare.
  package var answered: Timestamp?
  package var fault: String?
  /// The error codes of the conversations that are set aside.
  package var setAside: [Identifier: String] = [:]

  package init() {}

  package init?(file path: String) {
    guard let bytes = readFile(path, limit: 8192),
      case .success(let object) = Result(catching: { try JSONReader.object(bytes[...]) }),
      case .string(let word)? = object["state"], let state = HubStatus.State(rawValue: word)
    else { return nil }
    self.state = state
    attempts = object.integer("attempts") ?? 0
    lastSyncAt = object.time("last_sync_at")
    nextAttemptAt = object.time("next_attempt_at")
    answered = object.time("answered")
    fault = object.text("fault")
    guard case .object(let codes)? = object["set_aside"] else { return }
    for member in codes.members {
      if case .string(let word) = member.value, let id = Identifier(member.name) { setAside[id] = word }
    }
  }

  package func write(to path: String) throws {
    var json = JSONWriter()
    json.object { json in
      json.member("state", state.rawValue)
      json.member("attempts", attempts)
      json.member("last_sync_at", lastSyncAt.map { Int($0.microseconds) })
      json.member("next_attempt_at", nextAttemptAt.map { Int($0.microseconds) })
      json.member("answered", answered.map { Int($0.microseconds) })
      json.member("fault", fault)
      if setAside.isEmpty { return }
      json.key("set_aside")
      json.object { json in
        for (id, code) in setAside.sorted(by: { $0.key < $1.key }).prefix(50) {
          json.key(name: id.description)
          json.value(code)
        }
      }
    }
    try replaceFile(path, with: json.bytes, isDurable: false)
  }
}

extension JSONObject {
  fileprivate func time(_ name: String) -> Timestamp? {
    integer(name).map { Timestamp(microseconds: Int64($0)) }
  }
}

extension Messenger {
  /// The store, and the row of its hub.
  ///
  /// - Throws: `no_hub` for a store that is not linked.
  package func linkedStore() throws -> (Store, Hub.Row) {
    guard let store = try existingStore(), let hub = try store.hub.row() else {
      throw DMError(
        .noHub, "the store '\(location.directory)' is not linked to a hub", subject: location.directory,
        remedy: .joinHub)
    }
    return (store, hub)
  }

  /// The state of the connection to the hub, as it was last recorded; makes no request.
  ///
  /// - Throws: `no_hub` for a store that is not linked.
  package func hubStatus() throws -> HubStatus {
    let (store, hub) = try linkedStore()
    let isRunning = hasCarrier
    let running = RunningState(file: location.liveHub) ?? RunningState()
    let (counts, oldest, retryAt) = try store.read {
      (try store.outbox.counts(), try store.outbox.open(limit: 1).first, try store.outbox.postponedUntil())
    }
    let setAside = try store.read { try conversationsSetAside(Session(self, store, hub.user), running) }
    let state: HubStatus.State =
      hub.leftAt != nil
      ? .left
      : hub.refusal != nil
        ? .refused
        : hub.network == .offline
          ? .offline
          : retryAt != nil ? .waiting : isRunning ? running.state : hub.horizon == nil ? .never : .waiting
    return HubStatus(
      state: state, user: identity.handle, network: hub.network, isRunning: isRunning,
      queuedCount: counts.queued, failedCount: counts.refused, oldestQueuedAt: oldest?.createdAt,
      attempts: running.attempts, lastSyncAt: running.lastSyncAt,
      nextAttemptAt: isRunning ? running.nextAttemptAt : nil, retryAt: retryAt, clockOffset: hub.clockOffset,
      fault: hub.refusal ?? running.fault ?? retryAt.map { _ in Self.overQuota }, setAside: setAside)
  }

  static let overQuota = "over_quota: the hub takes no more from you for now"

  /// The conversations that are set aside, including those of which this store has nothing.
  private func conversationsSetAside(_ session: Session, _ running: RunningState) throws -> [HubStatus.SetAside] {
    let store = session.store
    var found = try store.hubConversations.all().compactMap { state -> HubStatus.SetAside? in
      guard let code = state.fault else { return nil }
      return HubStatus.SetAside(
        id: try store.conversations.id(state.conversation),
        reference: try session.viewer.surroundings.label(of: state.conversation).reference, code: code)
    }
    for (id, code) in running.setAside.sorted(by: { $0.key < $1.key }) where try store.conversations.row(id) == nil {
      found.append(HubStatus.SetAside(id: id, reference: nil, code: code))
    }
    return found
  }

  /// Simulates another network, also for a sync process that already runs.
  ///
  /// - Throws: `no_hub` for a store that is not linked.
  package func simulate(_ network: HubNetwork) throws {
    let (store, _) = try linkedStore()
    try store.write { try store.hub.set(network: network) }
    _ = SignalFile.advance(location.liveAsked)
    SignalFile.touch(location.bell)
  }
}

extension HubStatus: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "hub")
      json.member("state", state.rawValue)
      json.member("color", color.rawValue)
      json.member("user", user.description)
      json.member("network", network.word)
      json.member("is_running", isRunning)
      json.member("queued_count", queuedCount)
      json.member("failed_count", failedCount)
      json.member("oldest_queued_at", oldestQueuedAt)
      json.member("attempts", attempts)
      json.member("last_sync_at", lastSyncAt)
      json.member("next_attempt_at", nextAttemptAt)
      json.member("retry_at", retryAt)
      if abs(clockOffset) > 5_000_000 { json.member("clock_offset", Int(clockOffset / 1_000_000)) }
      json.member("fault", fault)
      if setAside.isEmpty { return }
      json.key("set_aside")
      json.array { json in
        for conversation in setAside {
          json.object { json in
            json.member("conversation_id", conversation.id)
            json.member("conversation", conversation.reference)
            json.member("code", conversation.code)
          }
        }
      }
    }
  }
}
