internal import DMKit
internal import DMStore

// The hub's answers to pushed operations.

extension SyncEngine {
  /// Records the answers to operations; if the effects of an answer do not fit the store, records the answer without
  /// its effects.
  func settleAlone(_ operations: [Pushed], _ answers: [HubAnswer]) throws {
    if operations.isEmpty { return }
    do {
      try store.write { try settle(operations, answers) }
    } catch let error as DMError where error.isMisfit {
      guard operations.count == 1, let pushed = operations.first, let answer = answers.first else {
        for (pushed, answer) in zip(operations, answers) { try settleAlone([pushed], [answer]) }
        return
      }
      try store.write {
        if let fault = answer.fault {
          try store.outbox.refuse(pushed.row.key, fault)
        } else {
          try store.outbox.finish(pushed.row.key, rev: answer.rev)
        }
      }
      if let id = pushed.operation.conversation { try take(.doesNotFit(id, error.code)) }
    }
  }

  func settle(_ operations: [Pushed], _ answers: [HubAnswer]) throws {
    for (pushed, answer) in zip(operations, answers) {
      if let fault = answer.fault {
        try settle(pushed.row, refusedFor: fault, answer)
      } else {
        try settle(pushed.row, answer)
      }
    }
  }

  private func settle(_ row: Outbox.Row, _ answer: HubAnswer) throws {
    guard let rev = answer.rev else {
      // The other user had already started the direct conversation. The next pull brings the log of that conversation;
      // after this pull, messages are pushed with the id of that conversation.
      if let id = answer.conversation, try state(of: id) == nil { enqueue(id) }
      return try store.outbox.finish(row.key, rev: nil)
    }
    try store.outbox.acknowledge(row.key, rev: rev)
    let isPulled = try row.conversation.flatMap(store.hubConversations.row).map { $0.rev >= rev } ?? false
    guard isPulled else { return answer.conversation.map(enqueue) ?? () }
    if row.act == .say, let id = answer.id {
      // The entry was pulled, but its message is not in this store. So the hub's log is no longer the one that was
      // pulled, or the store has not kept the message.
      guard try store.messages.address(of: id) != nil else {
        let isKept = try !answer.isDuplicate || row.conversation.flatMap(store.hubFloors.row) == nil
        if !isKept { try orderedBelowFloor(row, as: id) }
        return try isKept ? take(.isBehind) : store.outbox.finish(row.key, rev: rev)
      }
      // Another machine of the user sent the same message, and its entry arrived before this store's push.
      try orderedElsewhere(row, as: id)
    }
    try store.outbox.finish(row.key, rev: rev)
  }

  /// Removes a waiting message, because another machine of the user has sent the message, and this store has it.
  private func orderedElsewhere(_ row: Outbox.Row, as id: Identifier) throws {
    guard let waiting = try store.waiting.row(at: row.key), let address = try store.messages.address(of: id) else {
      return
    }
    let replica = try Replica(messenger, store, hub())
    try replica.order(waiting, as: id, at: address)
    if try replica.hasActs(waiting, id) { try replica.showActs(on: address, id) }
  }

  /// Removes a waiting message, because another machine of the user has already sent the message and this store has not
  /// kept it.
  private func orderedBelowFloor(_ row: Outbox.Row, as id: Identifier) throws {
    guard let waiting = try store.waiting.row(at: row.key) else { return }
    try store.hubAttachments.discard(waiting.key)
    try store.waiting.delete(waiting.key)
    try store.waiting.record(id, asHubIdOf: waiting.id)
    try Session(messenger, store, hub().user).logWaiting(.waitingDeleted, row.key, in: waiting.conversation)
  }

  /// The maximum number of pushes of a message whose files the hub does not have.
  private static let fileAttempts = 20

  private func settle(_ row: Outbox.Row, refusedFor fault: String, _ answer: HubAnswer) throws {
    if fault == "over_quota" {
      return try store.outbox.postpone(
        row.key, until: answer.retryAt ?? Timestamp(microseconds: Timestamp.now.microseconds + 60_000_000),
        isUndone: true)
    }
    if fault == "unknown_attachment", row.attempts < Self.fileAttempts,
      try Session(messenger, store, hub().user).uploadAgain(row, evenFailed: false)
    {
      // The hub has erased a file after its upload, or was restored. `attempts` also counts pushes whose answers were
      // lost.
      return try store.outbox.postpone(row.key, until: nil)
    }
    if fault == "nonce_conflict", row.act == .say, let id = answer.conversation {
      // Another machine of the user has sent the message with another preview, and the pull has just brought it.
      if try store.outbox.row(at: row.key)?.state == .done { return }
      if try mayBeSame(row, in: id) {
        enqueue(id)
        return try store.outbox.postpone(row.key, until: nil)
      }
    }
    let mayComeBack = ["unknown_conversation", "not_allowed", "unknown_message", "unknown_user"].contains(fault)
    if row.isRepeated, mayComeBack, try !isOnTombstone(row) {
      return try store.outbox.postpone(row.key, until: .forever)
    }
    // The reported message was deleted meanwhile.
    if row.isRepeated, row.act == .report { return try store.outbox.finish(row.key, rev: nil) }
    try refuse(row, fault)
  }

  /// The maximum number of pushes of a message whose nonce the hub has, while the message with this nonce is not in this
  /// store.
  private static let conflictAttempts = 20

  /// Whether another machine of the user may have sent a message with its nonce, but with another preview.
  ///
  /// Only the message itself can show this, which must first be pulled. `Replica` then finds that the two are the same.
  private func mayBeSame(_ row: Outbox.Row, in id: Identifier) throws -> Bool {
    guard row.attempts < Self.conflictAttempts, connection.setAside[id] == nil,
      let waiting = try store.waiting.row(at: row.key), waiting.text?.contains(text: "://") == true,
      let nonce = waiting.nonce
    else { return false }
    return try store.messages.address(of: nonce, from: hub().user, in: waiting.conversation) == nil
  }

  /// Whether an operation is about a message that was deleted or has expired.
  private func isOnTombstone(_ row: Outbox.Row) throws -> Bool {
    guard row.act.isOnMessage, let id = row.target,
      let address = try store.messages.address(ofIDOrAlias: id), let message = try store.messages.row(at: address)
    else { return false }
    return try !Replica.isThere(message, in: store)
  }

  /// Records that the hub refused an operation, and undoes the operation's effects in the store.
  func refuse(_ row: Outbox.Row, _ fault: String) throws {
    try store.outbox.refuse(row.key, fault)
    let session = Session(messenger, store, try hub().user)
    switch row.act {
    case .say:
      if let target = row.target {
        for dependent in try store.outbox.pending(about: target) where dependent.key != row.key {
          try store.outbox.refuse(dependent.key, "unknown_message")
        }
      }
      if let conversation = row.conversation { try session.logWaiting(.waitingChanged, row.key, in: conversation) }
    case .edit, .delete, .react:
      if let id = row.target, let address = try store.messages.address(ofIDOrAlias: id),
        let message = try store.messages.row(at: address)
      {
        try session.showWaitingActs(on: message, id)
      }
    case .begin, .group:
      guard let conversation = row.conversation else { return }
      for dependent in try store.outbox.pending(in: conversation) where dependent.state != .refused {
        try refuse(dependent, fault)
      }
    default: break
    }
  }
}
