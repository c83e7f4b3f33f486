package import DMJSON
public import DMModel
package import DMStore
internal import DMSystem

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
  public func hubStatus() throws -> HubStatus {
    let (store, hub) = try linkedStore()
    let isRunning = hasCarrier
    let running = runningState
    let (counts, retryAt) = try store.read { (try store.outbox.counts(), try store.postponedUntil()) }
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
      queuedCount: counts.queued, failedCount: counts.refused, oldestQueuedAt: counts.oldestQueuedAt,
      attempts: running.attempts, lastSyncAt: running.lastSyncAt,
      nextAttemptAt: isRunning ? running.nextAttemptAt : nil, retryAt: retryAt, clockOffset: hub.clockOffset,
      fault: hub.refusal ?? running.fault ?? retryAt.map { _ in Self.overQuota } ?? hub.copyFault(in: state),
      setAside: setAside,
      isConnected: isRunning && running.isConnected == true)
  }

  package static let overQuota = "over_quota: the hub takes no more from you for now"

  /// The conversations that are set aside, including those of which this store has no entries.
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

extension Hub.Row {
  /// The fault if another store has connected with the login of this store in the last hour; nil if there is none, or
  /// if the store is not connected.
  fileprivate func copyFault(in state: HubStatus.State) -> String? {
    guard let copiedAt, Timestamp.now.microseconds - copiedAt.microseconds < 3_600_000_000,
      [.live, .polling].contains(state)
    else { return nil }
    return
      "another store uses the login of this machine, such as a copy of this store; join with a new invitation, so that "
      + "each store is a machine of its own"
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
