internal import DMKit
internal import DMStore
internal import DMSystem

// A conversation that cannot be synced is set aside, and all others go on.

extension SyncEngine {
  /// Handles a failed exchange: tries fewer operations or entries
  /// at once, until the one that causes the fault is alone.
  func recover(from fault: HubFault, _ operations: [Pushed], isPull: Bool) throws {
    if case .timedOut = fault, isPull, pace.divisor < pageSize {
      pace.divide()
      if !operations.isEmpty { try store.write { try store.outbox.requeue(acknowledged: false) } }
      return
    }
    switch fault {
    case .poison where operations.count > 1, .timedOut where operations.count > 1:
      pace.halve(operations.count)
      try store.write { try store.outbox.requeue(acknowledged: false) }
    case .poison where operations.count == 1:
      try store.write {
        for pushed in operations { try refuse(pushed.row, "refused_by_hub") }
      }
    case .locked(let text, let conversations):
      // Operations without a conversation wait for a lock that all persons share.
      let isShared = conversations.isEmpty && operations.contains { $0.operation.conversation == nil }
      if conversations.isEmpty, !isShared { throw HubFault.again(text) }
      for id in conversations { pace.hold(id, at: monotonicMicroseconds()) }
      if isShared { pace.hold(nil, at: monotonicMicroseconds()) }
      try store.write { try store.outbox.requeue(acknowledged: false) }
    default: throw fault
    }
  }

  // MARK: Conversations that others lock

  /// The operations that can be pushed now, in the order in which they were queued: those of conversations
  /// that are not locked, or if there are none, those of one conversation that was locked before.
  ///
  /// - Parameter limit: the maximum number of operations.
  func pushable(_ limit: Int) throws -> [Pushed] {
    let free = try pushable(limit) { !pace.isHeld($0.operation.conversation) }
    if !free.isEmpty { return free }
    for id in pace.due(at: monotonicMicroseconds()) {
      let apart = try pushable(limit) { $0.operation.conversation == id }
      if !apart.isEmpty { return apart }
      pace.release(id)
    }
    return []
  }

  // MARK: Conversations

  /// Compares again if the log of a conversation does not continue; the second time, sets the conversation aside.
  func doubt(_ id: Identifier) throws { if !connection.doubt(id) { try setAside(id, for: .hubDamaged) } }

  /// Stops pulling a conversation on this connection.
  ///
  /// The next connection tries it again; until then the store records the fault.
  func setAside(_ id: Identifier, for code: DMError.Code) throws {
    connection.setAside(id, for: code)
    try setFault(code.rawValue, of: id)
  }

  /// Clears the doubt and the fault of a conversation, because its pull went well.
  func endFault(of id: Identifier) throws {
    guard connection.setAside[id] == nil else { return }
    connection.trust(id)
    try setFault(nil, of: id)
  }

  private func setFault(_ fault: String?, of id: Identifier) throws {
    guard var state = try store.read({ try state(of: id) }), state.fault != fault else { return }
    state.fault = fault
    try store.write { try store.hubConversations.write(state) }
  }

  /// How much of the log of a conversation this store has; nil if it has nothing of it.
  func state(of id: Identifier) throws -> HubConversations.Row? {
    try store.conversations.row(id).flatMap { try store.hubConversations.row($0.key) }
  }

  /// The conversations that were set aside on an earlier connection.
  func faulty() throws -> [Identifier] {
    try store.hubConversations.all().filter { $0.fault != nil }.map { try store.conversations.id($0.conversation) }
  }

  /// Doubts a conversation if the hub has listed later entries than it returns.
  func expectAll(of id: Identifier) throws {
    guard connection.setAside[id] == nil, hello?.isStandby == false, let state = try store.read({ try state(of: id) }),
      let next = state.sees.next(after: state.rev), next <= state.namedRev
    else { return }
    try doubt(id)
  }

  // MARK: Logs that are pulled again

  /// Empties a conversation, so that its log is pulled again.
  func beginAnew(_ id: Identifier, _ reason: Replica.Reason) throws {
    let comparison = connection.named[id]
    try write { try $0.beginAnew(id, reason, comparison) }
  }

  /// Does the same after the hub was restored, unless the hub's log has gaps: then this store keeps what it has.
  func beginAnewIfWhole(_ id: Identifier) throws {
    if try isWhole(id) { try beginAnew(id, .setBack) } else { try setAside(id, for: .hubDamaged) }
  }

  /// Does the same for all conversations for which the hub has another log.
  func beginForkedAnew() throws {
    for id in connection.forked { try beginAnewIfWhole(id) }
    connection.forked = []
  }

  /// Whether the hub has another entry at the rev of the last one that this store has.
  func isForked(_ id: Identifier) throws -> Bool {
    guard let state = try store.read({ try state(of: id) }), state.mark != nil else { return false }
    var isForked = false
    let pull = HubPull(conversation: id, rev: state.rev, mark: state.mark)
    _ = try link.exchange([], pulling: [pull], limit: 1) { if case .fork = $0 { isForked = true } }
    return isForked
  }

  /// Whether the hub has all entries of a conversation that the person sees.
  ///
  /// Linear in their number.
  private func isWhole(_ id: Identifier) throws -> Bool {
    guard let sees = try connection.named[id]?.sees ?? store.read({ try state(of: id)?.sees }) else { return true }
    var pull = HubPull(conversation: id, rev: (sees.first ?? 1) - 1, mark: nil)
    while true {
      var (count, isWhole) = (0, true)
      _ = try link.exchange([], pulling: [pull], limit: pageSize) { batch in
        guard case .entries(let entries) = batch else { return isWhole = false }
        for entry in entries {
          isWhole = isWhole && entry.rev == sees.next(after: pull.rev)
          pull = HubPull(conversation: id, rev: entry.rev, mark: entry.mark)
        }
        count += entries.count
      }
      if !isWhole { return false }
      if count < pageSize { break }
    }
    return connection.named[id].map { $0.rev < sees.next(after: pull.rev) ?? .max } ?? true
  }
}
