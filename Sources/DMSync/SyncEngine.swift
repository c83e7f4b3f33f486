package import DMKit
internal import DMModel
internal import DMStore
internal import DMSystem

/// Syncs a linked store with its hub: pushes the queued operations, and pulls the new entries.
///
/// All calls block, and must be made on one thread. After a `HubFault`, the caller closes the engine, and connects again
/// later.
package final class SyncEngine {
  let messenger: Messenger
  let store: Store
  let link: any HubLink
  var connection = HubConnection()
  var ownStates = OwnStateExchange()
  var pace = Pace()
  /// When the hub last answered.
  var answeredAt: Timestamp?
  /// The limit of kept messages, when to enforce it next (`monotonicMicroseconds`), and whether it is not yet enforced.
  var trimmed: (kept: KeptMessages?, until: Int64, isNew: Bool) = (nil, 0, false)
  /// The maximum number of messages in a page.
  var pageMessages = HubLimits.pageMessages
  /// Whether the hub is to notify this machine of changes.
  private(set) var listens = true
  private lazy var stamp = Stamp(store, link)

  /// The hub's description of itself; nil while no connection is open.
  var hello: HubHello? { connection.hello }
  /// The conversations that are no longer pulled on this connection, and why.
  var setAside: [Identifier: DMError.Code] { connection.setAside }
  /// When a locked conversation can next be tried again, as a time of `monotonicMicroseconds`; nil if none is locked.
  var heldUntil: Int64? { pace.heldUntil }

  /// The longest time for which a delivery receipt of a group is delayed, in microseconds.
  package var receiptDelay: Int64 = 2_000_000
  /// The maximum number of entries of a conversation in a pull.
  package var pageSize = 1000
  /// The maximum size of the payloads in a push, in bytes.
  static let batchBytes = 256 * 1024
  /// The maximum number of conversations in a pull.
  static let pullSize = 50

  /// Microseconds for which finished operations are kept, to push them again if the hub is restored to an earlier state.
  private static let journalLifetime: Int64 = 30 * 86_400_000_000

  /// - Throws: `no_hub` for a store that is not linked.
  package init(_ messenger: Messenger, _ link: any HubLink) throws {
    self.messenger = messenger
    store = try messenger.linkedStore().0
    self.link = link
  }

  /// Connects, and finds out which people and conversations have changed.
  ///
  /// - Throws: `HubFault`, which is `mismatch` for another hub or another person; or an error of the store.
  package func connect() throws {
    close()
    let (hello, hub) = (try link.open(), try hub())
    if listens { try link.listen(true) }
    guard try hello.hub == hub.id && hello.handle == store.read({ try store.users.handle(hub.user).description }) else {
      throw HubFault.mismatch("the hub is another one, or knows this store's person by another name")
    }
    let isSame = hub.epoch == hello.epoch && hub.startedAt == hello.startedAt
    try store.write {
      try store.outbox.requeue(acknowledged: false)
      try store.outbox.deleteDone(before: Timestamp(microseconds: Timestamp.now.microseconds - Self.journalLifetime))
      try store.hub.set(clockOffset: hello.now.microseconds - Timestamp.now.microseconds)
      if hub.machine != hello.machine { try store.hub.set(machine: hello.machine) }
      if hub.refusal != nil { try store.hub.set(refusal: nil) }
      try stamp.offer(to: hello)
    }
    try stamp.send()
    try take(.opened(hello))
    try store.read(faulty).forEach(enqueue)
    let isAnother = try compare(since: isSame ? hub.horizon : nil)
    try stamp.note(isCompared: isSame && !isAnother)
    try takeBlocksFirst()
  }

  package func close() {
    link.close()
    connection = HubConnection()
    ownStates = OwnStateExchange()
  }

  func hub() throws -> Hub.Row { try messenger.linkedStore().1 }

  /// Starts or stops hints of the hub, and compares the store with the hub after a start.
  ///
  /// Each hint wakes all machines that listen, so a machine listens only while a program on it follows the
  /// store or has lately read the store.
  ///
  /// - Returns: whether the store was compared.
  @discardableResult package func listen(_ isOn: Bool) throws -> Bool {
    guard isOn != listens else { return false }
    listens = isOn
    guard hello != nil else { return false }
    try link.listen(isOn)
    if isOn { try compare() }
    return isOn
  }

  // MARK: Comparing

  /// Asks the hub which conversations have changed since the last comparison.
  package func compare() throws { try compare(since: try hub().horizon) }

  /// - Parameter horizon: that of the last comparison; nil if there was none, or if the hub's epoch or start time changed.
  /// - Returns: whether the hub may have lost entries that it had at the last comparison; true if `horizon` is nil.
  @discardableResult private func compare(since horizon: String?) throws -> Bool {
    guard let hello else { throw HubFault.lost("the link is closed") }
    var comparison = try link.compare(since: horizon)
    let isAnother = try horizon == nil || isSetBack(comparison, since: horizon)
    if isAnother { try forgetState() }
    if isAnother, horizon != nil { comparison = try link.compare(since: nil) }
    (pace.comparedAt, answeredAt) = (monotonicMicroseconds(), .now)
    ownStates.compared(rev: comparison.ownRev, mustReread: try store.read(store.hubOwnStates.mustReread))
    try readPeople(upTo: comparison.peopleRev, again: isAnother)
    let outputs = try store.read {
      try comparison.conversations.flatMap { try connection.take(.listed($0, held: state(of: $0.id))) }
    }
    try perform(outputs)
    if isAnother, !hello.isStandby { try beginAnewWhatIsGone() }
    try take(.compared(horizon: comparison.horizon))
    if !comparison.conversations.isEmpty {
      try store.write {
        for conversation in comparison.conversations {
          if let row = try store.conversations.row(conversation.id) { try store.outbox.wake(in: row.key) }
        }
      }
    }
    try keepHorizon()
    return isAnother
  }

  /// Forgets the former state of the hub: a restored hub may lack operations that it acknowledged.
  private func forgetState() throws {
    try store.write {
      try store.outbox.requeue(acknowledged: true)
      if hello?.isStandby == true { return }
      if try hub().epoch == hello?.epoch {
        try store.hubOwnStates.set(rev: 0)
      } else {
        try store.hubOwnStates.noteRestore()
      }
    }
  }

  /// Whether the hub is in an earlier state than at the last comparison although its epoch is the same, for example because
  /// its virtual machine was reset to a snapshot.
  private func isSetBack(_ comparison: HubComparison, since horizon: String?) throws -> Bool {
    guard hello?.isStandby == false, let since = horizon.flatMap({ Int64($0) }), let now = Int64(comparison.horizon)
    else { return false }
    return try now < since || comparison.peopleRev < hub().peopleRev
      || hello?.hasOwnStates == true && comparison.ownRev < store.read(store.hubOwnStates.rev)
  }

  /// Records the horizon of a comparison, after all conversations that the comparison listed were pulled.
  ///
  /// If the program ends before these pulls, the next comparison lists the conversations again.
  func keepHorizon() throws {
    guard let hello, let horizon = connection.takeHorizon() else { return }
    // The horizon of a standby is not recorded: the standby may lack entries of its primary, and can become a primary
    // without a restart.
    if hello.isStandby { return }
    let hub = try hub()
    let isSame = (hub.epoch, hub.startedAt) == (hello.epoch, hello.startedAt)
    // If a conversation was set aside before this store had any of its entries, the old horizon is kept, so that the
    // next comparison lists that conversation again.
    let isForgotten = try store.read { try connection.setAside.keys.contains { try state(of: $0) == nil } }
    let before = isSame ? hub.horizon : nil
    let kept = isForgotten ? before ?? "0" : horizon
    if isSame, hub.horizon == kept { return }
    try store.write { try store.hub.setState(epoch: hello.epoch, startedAt: hello.startedAt, horizon: kept) }
  }

  // MARK: The work of the connection

  /// Passes an event to `connection`, and does the work that it returns.
  func take(_ event: HubConnection.Event) throws { try perform(connection.take(event)) }

  func perform(_ outputs: [HubConnection.Output]) throws {
    for output in outputs {
      switch output {
      case .beginAnew(let id, let reason):
        // A hub that has lost entries counts as restored, even if the user can now see earlier entries, too.
        if try reason == .setBack || reason == .seesMore && isForked(id) {
          try beginAnewIfWhole(id)
        } else {
          try beginAnew(id, reason)
        }
      case .setAside(let id, let code): try setFault(code.rawValue, of: id)
      case .endFault(let id): try setFault(nil, of: id)
      }
    }
  }

  private func setFault(_ fault: String?, of id: Identifier) throws {
    guard var state = try store.read({ try state(of: id) }), state.fault != fault else { return }
    state.fault = fault
    try store.write {
      try store.hubConversations.write(state)
      // All own states are read again, because the own state of a conversation that is set aside is skipped.
      if fault == nil { try store.hubOwnStates.set(rev: 0) }
    }
  }

  /// The state of a conversation's log in this store; nil if the store has no part of the log.
  func state(of id: Identifier) throws -> HubConversations.Row? {
    try store.conversations.row(id).flatMap { try store.hubConversations.row($0.key) }
  }

  /// The conversations that this store has recorded as set aside.
  func faulty() throws -> [Identifier] {
    try store.hubConversations.all().filter { $0.fault != nil }.map { try store.conversations.id($0.conversation) }
  }

  func enqueue(_ conversation: Identifier) { connection.enqueue(conversation) }

  /// Whether the user is a member of a conversation, according to the entries in this store; false after the user left,
  /// until the store learns from the hub that they were added again.
  private func isMember(of id: Identifier) throws -> Bool {
    guard let row = try store.conversations.row(id) else { return false }
    return try store.hubConversations.row(row.key)?.sees.isOpen ?? false
  }

  // MARK: The loop

  /// Whether there is something to push or to pull now.
  package func hasWork() throws -> Bool {
    try !connection.toPull.isEmpty || hasPages() || hasPushes() || hasOwnStates()
  }

  /// Whether there is something to push now.
  package func hasPushes() throws -> Bool { try !store.read { try pushable(1).isEmpty } }

  /// When the first file can be uploaded or fetched; nil if no file waits, or if the hub does not support files.
  package func filesDueAt() throws -> Timestamp? {
    guard hello?.hasFiles == true else { return nil }
    return try store.read(store.hubFiles.dueAt)
  }

  /// Pushes and pulls until nothing is left that can be done now.
  ///
  /// - Returns: the number of operations that were pushed.
  @discardableResult package func drain() throws -> Int {
    var pushed = 0
    while try hasWork() { pushed += try exchange() }
    return pushed
  }

  /// Pulls until nothing is left to pull; each round trip that pulls entries also pushes queued operations.
  package func pull() throws {
    while try !connection.toPull.isEmpty || hasOwnStateNews() {
      // If there is nothing to pull, `exchange` would push first, which would delay the new own states.
      if connection.toPull.isEmpty { try exchangeOwnStates() } else { try exchange() }
    }
    try fetchPages()
  }

  /// Waits for a hint, a queued operation or the end of a time, and finds out what has changed.
  ///
  /// - Parameters:
  ///   - duration: the longest time between two comparisons. It holds even while operations are queued here, because a
  ///     hub that sends nothing may have become unreachable.
  ///   - wake: when to return even without a hint, as a time of `monotonicMicroseconds`.
  package func wait(for duration: Duration, until wake: Int64 = .max) throws {
    let end = pace.comparedAt + min(duration.microseconds, pollPause ?? .max)
    let now = monotonicMicroseconds()
    guard now < end else { return try compare() }
    let due = try min(
      end, wake, heldUntil ?? .max, pace.takeReceiptsDue() ?? .max, receiptsExpectedAt ?? .max,
      untilPostponed().map { now + $0 } ?? .max)
    let hint = try link.wait(for: .microseconds(max(0, due - now)))
    if hint.hasOwnStates { ownStates.hinted() }
    if listens { pace.takeExpectedReceipts(at: monotonicMicroseconds()).forEach(enqueue) }
    let areFollowed = try store.read { try hint.conversations.allSatisfy(isMember) }
    if areFollowed, !hint.conversations.isEmpty {
      for id in hint.conversations.sorted() where pace.follow(id, at: monotonicMicroseconds()) { enqueue(id) }
    } else if !hint.conversations.isEmpty || due == end && !hint.isRung && !hint.isSignalled && !hint.hasOwnStates {
      try compare()
    }
  }

  /// Microseconds between two comparisons with a standby, or with a hub that sends no hints to this machine although the
  /// machine listens; otherwise nil.
  private var pollPause: Int64? {
    hello.flatMap { $0.isStandby ? 2 : listens ? $0.pollSeconds : nil }.map { Int64($0) * 1_000_000 }
  }

  /// When to pull a group for receipts; nil if no such pull is planned, or if no program here waits for receipts.
  private var receiptsExpectedAt: Int64? { listens ? pace.receiptsExpectedAt : nil }

  /// Microseconds until the hub accepts the first operation that it has postponed; nil if it has postponed none.
  private func untilPostponed() throws -> Int64? {
    try store.read(store.outbox.postponedUntil).map { max(0, $0.microseconds - Timestamp.now.microseconds) }
  }
}
