package import DMModel
package import DMStore
internal import DMSystem
package import DMWire

/// How a linked store and its hub stand to each other.
package struct HubStatus: Equatable, Sendable {
  package enum State: String, CaseIterable, Sendable {
    /// It was never compared with the hub.
    case never
    case connecting
    /// Much has to come.
    case filling
    /// The hub says at once what is new.
    case live
    /// The hub is asked every two seconds what is new.
    case polling
    /// The hub is tried again later, or nobody carries.
    case waiting
    case refused
    /// The played network has no connection.
    case offline
    case left
  }

  package enum Color: String, CaseIterable, Sendable { case green, yellow, red }

  package let state: State
  package let user: Handle
  package let network: HubNetwork
  /// Whether a process carries between the store and the hub now.
  package let isRunning: Bool
  package let queuedCount: Int
  package let failedCount: Int
  package let oldestQueuedAt: Timestamp?
  /// Attempts to connect since the last one that succeeded.
  package let attempts: Int
  package let lastSyncAt: Timestamp?
  package let nextAttemptAt: Timestamp?
  /// Microseconds by which the clock of the hub is ahead.
  package let clockOffset: Int64
  /// Why it does not work.
  package let fault: String?
  /// The conversations of which nothing comes, because what the hub has of them cannot be read.
  package let setAside: [SetAside]

  /// A conversation that is set aside.
  package struct SetAside: Equatable, Sendable {
    package let id: Identifier
    /// What the person calls it; nil if this store has nothing of it.
    package let reference: String?
    /// The code of the reason.
    package let code: String

    package var name: String { reference ?? id.description }
  }

  /// Whether a person would see nothing new in another status: times alone are none.
  package func isSimilar(to other: HubStatus) -> Bool {
    (state, color, network, queuedCount, failedCount, fault)
      == (other.state, other.color, other.network, other.queuedCount, other.failedCount, other.fault)
      && setAside == other.setAside
  }

  /// Green for what works, yellow for what may, red for what does not.
  package var color: Color {
    if !setAside.isEmpty { return .red }
    return switch state {
    case .live, .polling: network == .normal && fault == nil ? .green : .yellow
    case .connecting, .filling: .yellow
    case .never, .waiting:
      lastSyncAt.map { Timestamp.now.microseconds - $0.microseconds < 60_000_000 } == true ? .yellow : .red
    case .refused, .offline, .left: .red
    }
  }

}

/// What the process that carries has said of itself last: a line in a file, because it changes often.
package struct RunningState: Equatable {
  package var state = HubStatus.State.connecting
  package var attempts = 0
  package var lastSyncAt: Timestamp?
  package var nextAttemptAt: Timestamp?
  /// Of the last request to compare the store with the hub that was answered, when the file of requests was touched.
  package var answered: Timestamp?
  package var fault: String?
  /// Of conversations that are set aside, the codes of the reasons.
  package var setAside: [Identifier: String] = [:]

  package init() {}

  package init?(file path: String) {
    guard let bytes = readFile(path, limit: 8192),
      case .success(let object) = Result(catching: { try JSONReader.object(bytes[...]) }),
      case .string(let word)? = object["state"], let state = HubStatus.State(rawValue: word)
    else { return nil }
    self.state = state
    if case .integer(let number)? = object["attempts"] { attempts = number }
    lastSyncAt = object.time("last_sync_at")
    nextAttemptAt = object.time("next_attempt_at")
    answered = object.time("answered")
    if case .string(let text)? = object["fault"] { fault = text }
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
    if case .integer(let number)? = self[name] { Timestamp(microseconds: Int64(number)) } else { nil }
  }
}

extension Messenger {
  /// The hub of the store.
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

  /// How the store and its hub stand to each other; asks nobody.
  ///
  /// - Throws: `no_hub` for a store that is not linked.
  package func hubStatus() throws -> HubStatus {
    let (store, hub) = try linkedStore()
    let isRunning = fileExists(location.syncLock) && FileLock(ifFree: location.syncLock) == nil
    let running = RunningState(file: location.liveHub) ?? RunningState()
    let (counts, oldest) = try store.read { (try store.outbox.counts(), try store.outbox.open(limit: 1).first) }
    let setAside = try store.read { try conversationsSetAside(Session(self, store, hub.user), running) }
    let state: HubStatus.State =
      hub.leftAt != nil
      ? .left
      : hub.refusal != nil
        ? .refused
        : hub.network == .offline
          ? .offline : isRunning ? running.state : hub.horizon == nil ? .never : .waiting
    return HubStatus(
      state: state, user: identity.handle, network: hub.network, isRunning: isRunning,
      queuedCount: counts.queued, failedCount: counts.refused, oldestQueuedAt: oldest?.createdAt,
      attempts: running.attempts, lastSyncAt: running.lastSyncAt,
      nextAttemptAt: isRunning ? running.nextAttemptAt : nil, clockOffset: hub.clockOffset,
      fault: hub.refusal ?? running.fault, setAside: setAside)
  }

  /// The conversations that are set aside: those that the store notes, and those of which it has nothing.
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

  /// Plays another network, also for a process that runs.
  ///
  /// - Throws: `no_hub` for a store that is not linked.
  package func play(_ network: HubNetwork) throws {
    let (store, _) = try linkedStore()
    try store.write { try store.hub.set(network: network) }
    SignalFile.touch(location.liveAsked)
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
