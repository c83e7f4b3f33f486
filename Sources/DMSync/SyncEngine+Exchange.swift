internal import DMKit
internal import DMStore
internal import DMSystem

extension SyncEngine {
  /// Pushes a batch of operations, and pulls the conversations that have changed.
  ///
  /// - Returns: the number of operations in the batch.
  @discardableResult func exchange() throws -> Int {
    try beginAtFloors()
    let operations = try store.read { try pushable(.max) }
    // Own states are exchanged last, because they refer to messages.
    if operations.isEmpty, connection.toPull.isEmpty {
      try fetchPages()
      try exchangeOwnStates()
      return 0
    }
    let pulls = try store.read { try pulling(operations) }
    try readMembers(of: pulls.map(\.conversation))
    if !operations.isEmpty {
      // The attempt is recorded before the push, because the hub may have the operations even if no answer arrives.
      try store.write { try store.outbox.begin(operations.map(\.row.key), at: .now) }
    }
    try take(.pulling(pulls.map(\.conversation)))
    var pulled: [Identifier: Int] = [:]
    let page = max(1, pageSize / pace.divisor)
    // The last batch is recorded together with the answers.
    var last: HubBatch?
    do {
      let answers = try link.exchange(operations.map(\.operation), pulling: pulls, limit: page) { batch in
        if let last { try apply(last, &pulled) }
        last = batch
      }
      answeredAt = .now
      try record(last, operations, answers, &pulled)
      for pushed in operations { pace.release(pushed.operation.conversation) }
      try expectReceipts(of: operations)
      pace.widen()
    } catch let fault as HubFault {
      // All batches that arrived before the fault are complete, so the last one can be applied, too.
      if operations.isEmpty, let last { try apply(last, &pulled) }
      try recover(from: fault, operations, isPull: !pulls.isEmpty)
      pulls.map(\.conversation).forEach(enqueue)
    }
    pace.judgeHints(pulled.keys, at: monotonicMicroseconds())
    for pull in pulls {
      let (id, count) = (pull.conversation, pulled[pull.conversation, default: 0])
      ownStates.pulled(id)
      try take(.pulled(id, count: count, limit: page, held: store.read { try state(of: id) }))
    }
    if connection.mustCompare { try compare() }
    try keepHorizon()
    return operations.count
  }

  // MARK: Choosing

  /// An operation in the form in which it is pushed, with its row in the outbox.
  struct Pushed {
    let row: Outbox.Row
    let operation: HubOperation
  }

  /// The operations that can be pushed now, in the order in which they were queued.
  ///
  /// These are the operations of all conversations that are not locked. If there are none, these are the operations of
  /// one conversation that was locked before.
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

  /// The operations that can be pushed now and match a filter, in the order in which they were queued.
  ///
  /// - Parameter limit: the maximum number of operations.
  func pushable(_ limit: Int, where isWanted: (Pushed) -> Bool) throws -> [Pushed] {
    // A standby accepts no pushes.
    guard hello?.isStandby != true else { return [] }
    var pushable: [Pushed] = []
    var bytes = 0
    var held: [ConversationKey: Hold] = [:]
    var page = try store.outbox.open(limit: Self.outboxPage)
    // A long queue is pushed in larger batches, unless the hub recently failed to process a batch.
    let isMuch = page.count == Self.outboxPage && pace.batchSize == Pace.maximumBatch
    let (most, mostBytes) = (
      min(limit, isMuch ? 10 * pace.batchSize : pace.batchSize), Self.batchBytes * (isMuch ? 4 : 1)
    )
    while let last = page.last {
      for row in page where row.state == .queued {
        if pushable.count >= most || bytes > mostBytes { return pushable }
        guard let pushed = try pushed(row, &held), isWanted(pushed) else { continue }
        pushable.append(pushed)
        bytes += row.payload?.count ?? 0
      }
      page = try store.outbox.open(from: OutboxKey(number: last.key.number + 1), limit: Self.outboxPage)
    }
    return pushable
  }

  private static let outboxPage = 500

  /// Which later operations of a conversation must wait because an earlier one cannot be pushed yet: only changes of the
  /// conversation, or all operations except receipts and deletions.
  enum Hold { case changes, all }

  /// The operation, if it can be pushed now; nil if it must wait, for example for an earlier operation.
  private func pushed(_ row: Outbox.Row, _ held: inout [ConversationKey: Hold]) throws -> Pushed? {
    // Receipts and deletions refer to messages that have numbers already, so they need not wait for a message that is
    // held back. Deletions also make room on the hub for a user who is over their quota.
    let isUnordered = [.read, .delivered, .delete].contains(row.act)
    let hold = row.conversation.flatMap { held[$0] }
    if !isUnordered, hold == .all || hold == .changes && row.act != .say && !row.act.isOnMessage {
      if let conversation = row.conversation { held[conversation] = .all }
      return nil
    }
    guard row.notBefore.map({ $0 <= .now }) ?? true, try !isReceiptHeld(row), let operation = try operation(row) else {
      // A receipt, an edit, a deletion, a reaction or a report that must wait holds back nothing, because it concerns
      // only earlier messages. A message that waits for its files holds back only changes of the conversation, such as
      // new members. Any other operation that must wait holds back all later operations of its conversation, except
      // receipts and deletions.
      if !isUnordered, !row.act.isOnMessage, let conversation = row.conversation {
        held[conversation] = try hold != .all && waitsForFiles(HubArguments(json: row.arguments)) ? .changes : .all
      }
      return nil
    }
    // The hub may answer with another id for a new conversation, so later operations in it wait for the answer.
    if [.begin, .group].contains(row.act), let conversation = row.conversation { held[conversation] = .all }
    return Pushed(row: row, operation: operation)
  }

  /// Plans another pull of each group to which a message was pushed, for the time when most members will have acknowledged
  /// the message.
  private func expectReceipts(of operations: [Pushed]) throws {
    let said = Set(operations.filter { $0.row.act == .say }.compactMap(\.row.conversation))
    for conversation in try said.filter(isGroup) {
      let id = try store.conversations.id(conversation)
      pace.expectReceipts(of: id, at: monotonicMicroseconds() + receiptDelay + Self.receiptTime)
    }
  }

  /// Microseconds that other machines need to acknowledge a message, in addition to the delay of their receipts.
  private static let receiptTime: Int64 = 500_000

  /// Whether a delivery receipt must wait, so that one receipt acknowledges many messages.
  ///
  /// A receipt waits until its conversation is pulled to the end, and in a group also for up to `receiptDelay` after the
  /// receipt was queued.
  private func isReceiptHeld(_ row: Outbox.Row) throws -> Bool {
    guard row.act == .delivered, let key = row.conversation, let conversation = try store.conversations.row(key: key)
    else { return false }
    if connection.toPull.contains(conversation.id) { return true }
    guard conversation.isGroup else { return false }
    // The delay is random, so that the machines of a group's members do not all push at once.
    let delay = receiptDelay * (Int64(row.nonce.bytes.last ?? 0) + 1) / 256
    let rest = row.createdAt.microseconds + delay - Timestamp.now.microseconds
    if 0 < rest && rest <= receiptDelay { pace.hold(receiptsUntil: monotonicMicroseconds() + rest) }
    return 0 < rest && rest <= receiptDelay
  }

  private func isGroup(_ key: ConversationKey) throws -> Bool {
    try store.conversations.row(key: key)?.isGroup ?? false
  }

  /// Whether a message must wait until its files are on the hub.
  private func waitsForFiles(_ arguments: HubArguments) throws -> Bool {
    try !arguments.files.isEmpty && (hello?.hasFiles != true || !store.hubFiles.areUploaded(arguments.files))
  }

  /// An operation in the form in which it is pushed; nil if it cannot be pushed yet.
  private func operation(_ row: Outbox.Row) throws -> HubOperation? {
    var operation = HubOperation(
      row.act, nonce: row.nonce, id: row.target, arguments: try HubArguments(json: row.arguments), payload: row.payload)
    // A restored hub may still have the original operation, whose content may differ.
    if row.isRepeated { operation.arguments.isLax = true }
    if let conversation = row.conversation {
      guard try [.begin, .group].contains(row.act) || store.hubConversations.row(conversation) != nil else {
        return nil
      }
      operation.conversation = try store.conversations.id(conversation)
      // A group has many receipts, so they cause no hints. The sender's machine pulls them at a planned time, and other
      // machines can wait.
      if row.act == .delivered { operation.isAnnounced = try !isGroup(conversation) }
    }
    if try waitsForFiles(operation.arguments) { return nil }
    if row.act.isOnMessage {
      guard let target = row.target, let address = try store.messages.address(ofIDOrAlias: target)
      else { return nil }
      operation.seq = address.seq
      operation.id = try store.messages.identifier(of: address)
    }
    return operation
  }

  /// The conversations to pull with a push: those that have changed, and those of the operations.
  private func pulling(_ operations: [Pushed]) throws -> [HubPull] {
    var ids = Array(connection.toPull.prefix(max(1, Self.pullSize / pace.divisor)))
    for id in operations.compactMap(\.operation.conversation) where !ids.contains(id) { ids.append(id) }
    return try ids.filter { connection.setAside[$0] == nil }.map { id in
      guard let row = try store.conversations.row(id), let state = try store.hubConversations.row(row.key) else {
        return HubPull(conversation: id, rev: 0, mark: nil)
      }
      return HubPull(conversation: id, rev: state.rev, mark: state.mark)
    }
  }

  // MARK: Applying what was pulled

  /// Records a batch and the answers to a push: in one transaction if the batch is small.
  ///
  /// A large batch has a transaction of its own, because other programs cannot write until the transaction ends.
  private func record(
    _ batch: HubBatch?, _ operations: [Pushed], _ answers: [HubAnswer], _ pulled: inout [Identifier: Int]
  ) throws {
    guard connection.forked.isEmpty, case .entries(let entries)? = batch, entries.count <= 1000, !operations.isEmpty
    else {
      if let batch { try apply(batch, &pulled) }
      // Forked conversations come first, because the answers refer to the hub's present log.
      try beginForkedAnew()
      return try settleAlone(operations, answers)
    }
    count(entries, &pulled)
    if try !apply(entries, and: { try self.settle(operations, answers) }) { try settleAlone(operations, answers) }
  }

  private func count(_ entries: [HubEntry], _ pulled: inout [Identifier: Int]) {
    if let id = entries.first?.conversation { pulled[id, default: 0] += entries.count }
  }

  private func apply(_ batch: HubBatch, _ pulled: inout [Identifier: Int]) throws {
    switch batch {
    case .entries(let entries):
      count(entries, &pulled)
      _ = try apply(entries)
    case .fork(let id): try take(.forked(id))
    }
  }

  /// Applies entries of one conversation, then calls `body` in the same transaction.
  ///
  /// - Returns: false if `body` had no effect, because the entries do not continue the log, or because they or `body`
  ///   do not fit the store.
  private func apply(_ entries: [HubEntry], and body: (() throws -> Void)? = nil) throws -> Bool {
    guard let id = entries.first?.conversation else { return false }
    try explain(entries)
    if try connection.members[id] == nil && entries.contains(where: joinsWithoutHistory) {
      connection.members[id] = try link.members(of: id)
    }
    do {
      try write { replica in
        try replica.apply(entries, to: id, connection.named[id], members: connection.members[id] ?? [])
        try body?()
      }
      try take(.applied(id))
      return true
    } catch let fault as Replica.LogFault {
      try take(.doesNotContinue(fault.conversation))
    } catch let error as DMError where error.isMisfit {
      if body == nil { try take(.doesNotFit(id, error.code)) } else { _ = try apply(entries) }
    }
    return false
  }

  /// Reads persons from the hub, if entries refer to persons that this store does not have because they were added
  /// after the last comparison.
  func explain(_ entries: [HubEntry]) throws {
    let persons = Set(
      entries.flatMap { [$0.actor, $0.meta.person, $0.meta.owner].compactMap(\.self) + $0.meta.members })
    let areStored = try store.read { try persons.allSatisfy { try store.hub.user(ofPerson: $0) != nil } }
    if !areStored { try readPeople(upTo: .max) }
  }

  /// Whether an entry adds the user to a conversation without showing them its history.
  private func joinsWithoutHistory(_ entry: HubEntry) throws -> Bool {
    guard entry.kind == .joined, !entry.meta.hasHistory, let person = entry.meta.person else { return false }
    return try store.read { try store.hub.user(ofPerson: person) == hub().user }
  }

  func write(_ body: (Replica) throws -> Void) throws {
    let replica = Replica(messenger, store, try hub())
    try store.write(isBulk: true) { try body(replica) }
    replica.begunAnew.forEach(enqueue)
  }
}
