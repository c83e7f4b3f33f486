internal import DMKit
internal import DMStore
internal import DMSystem

// A conversation that cannot be synced is set aside, so that it is no longer pulled; all others are still synced.

extension SyncEngine {
  /// Empties the conversations that a restored hub no longer has, and queues their operations again.
  func beginAnewWhatIsGone() throws {
    let held = try store.read {
      try store.hubConversations.all().compactMap { try store.conversations.row(key: $0.conversation)?.id }
    }
    for id in held { try take(.notListed(id)) }
  }

  /// Handles a failed exchange.
  func recover(from fault: HubFault, _ operations: [Pushed], isPull: Bool) throws {
    let pushed = operations.map(\.operation.conversation)
    switch pace.recover(
      from: fault, pushed: pushed, pull: isPull ? pageSize : nil, at: monotonicMicroseconds())
    {
    case .requeue: if !operations.isEmpty { try store.write { try store.outbox.requeue(acknowledged: false) } }
    case .refuse: try store.write { for pushed in operations { try refuse(pushed.row, "refused_by_hub") } }
    case .fail(let fault): throw fault
    }
  }

  // MARK: Logs that are pulled again

  /// Empties a conversation, so that its log is pulled again.
  func beginAnew(_ id: Identifier, _ reason: Replica.Reason) throws {
    let comparison = connection.named[id]
    try write { try $0.beginAnew(id, reason, comparison) }
  }

  /// Empties a conversation after the hub was restored, so that its log is pulled again.
  ///
  /// If the hub's log has gaps, keeps the conversation unchanged, and sets it aside.
  func beginAnewIfWhole(_ id: Identifier) throws {
    if try isWhole(id) { try beginAnew(id, .setBack) } else { try take(.doesNotFit(id, .hubDamaged)) }
  }

  /// Calls `beginAnewIfWhole` for each conversation whose log on the hub differs from the log that this store has pulled.
  func beginForkedAnew() throws {
    for id in connection.takeForked() { try beginAnewIfWhole(id) }
  }

  /// Whether the hub has a different entry at the rev of this store's last entry.
  func isForked(_ id: Identifier) throws -> Bool {
    guard let state = try store.read({ try state(of: id) }), state.mark != nil else { return false }
    var isForked = false
    let pull = HubPull(conversation: id, rev: state.rev, mark: state.mark)
    _ = try link.exchange([], pulling: [pull], limit: 1) { if case .fork = $0 { isForked = true } }
    return isForked
  }

  /// Whether the hub has all entries of a conversation that the user can see.
  ///
  /// Linear in the number of these entries, because all of them are pulled.
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
