internal import DMKit
internal import DMStore

// What the user alone decides, such as pins, drafts and blocks: the hub has the newest state of each conversation, and a machine
// replaces it only if it has merged that state into its own.

extension SyncEngine {
  /// The maximum number of states in an exchange.
  private static let ownStatePage = 500
  private static let ownStateBytes = 512 * 1024

  /// Whether the hub has newer states, or this store has changed some.
  func hasOwnStates() throws -> Bool {
    guard hello?.hasOwnStates == true, !ownStates.isAtRest else { return false }
    return try store.read {
      try ownStates.hasNews(after: store.hubOwnStates.rev())
        || hello?.isStandby == false && !store.hubOwnStates.changed(limit: 1).isEmpty
    }
  }

  /// Gives the hub what was changed in this store, and takes what is newer on the hub.
  func exchangeOwnStates() throws {
    guard try hasOwnStates() else { return }
    let since = try store.read(store.hubOwnStates.rev)
    let given = hello?.isStandby == true ? [] : try changedOwnStates()
    // What was noted as changed may have changed back.
    guard try !given.isEmpty || store.read({ ownStates.hasNews(after: since) }) else { return }
    let first = ownStates.reread?.rev ?? since
    let limit = min(pageSize, Self.ownStatePage)
    let states = try link.ownStates(after: first, given, limit: limit)
    answeredAt = .now
    var taking = OwnStateTaking(messenger, store, try hub().user, given, awaited: ownStates.awaited)
    let newer = states.filter { $0.rev > first }
    let isWhole = newer.count < limit
    try store.write(isBulk: true) {
      for state in states { try taking.take(state) }
      let end = taking.firstLeft.map { $0 - 1 } ?? newer.last?.rev ?? first
      if let reread = ownStates.reread {
        let seen = reread.seen.union(states.map(\.conversation))
        ownStates.reread = isWhole ? nil : (end, seen)
        if isWhole { try taking.takeLoss(except: seen) }
      }
      if ownStates.reread == nil { try store.hubOwnStates.set(rev: end) }
    }
    // The states name messages that this store does not have yet.
    taking.missing.subtracting(ownStates.awaited).forEach(enqueue)
    ownStates.awaited = taking.missing
    let isAtRest = taking.missing.isEmpty ? isWhole && !taking.hasProgress : connection.toPull.isEmpty
    ownStates.ended(at: isWhole && taking.missing.isEmpty ? 0 : .max, isAtRest: isAtRest)
  }

  /// The states that were changed in this store, as they are now.
  private func changedOwnStates() throws -> [HubOwnState] {
    let session = Session(messenger, store, try hub().user)
    var bytes = 0
    var given: [HubOwnState] = []
    var same: [HubOwnStates.Row] = []
    let changed = try store.read {
      try store.hubOwnStates.changed(limit: Self.ownStatePage).map { ($0, try session.ownState(of: $0.conversation)) }
    }
    for (row, state) in changed where bytes <= Self.ownStateBytes {
      // A state that a later version of this program has written stays as it is.
      guard let base = OwnState(of: row) else { continue }
      if base.isSame(as: state) {
        same.append(row)
        continue
      }
      let id = try row.conversation.map(store.conversations.id) ?? HubOwnState.general
      given.append(HubOwnState(conversation: id, mark: row.mark, state: state.bytes))
      bytes += given.last?.state.count ?? 0
    }
    if !same.isEmpty { try store.write { try same.forEach(endChange) } }
    return given
  }

  /// Notes that a state is the one that the hub has, unless it was changed meanwhile.
  private func endChange(_ row: HubOwnStates.Row) throws {
    let session = Session(messenger, store, try hub().user)
    guard try row == store.hubOwnStates.row(row.conversation),
      try OwnState(of: row)?.isSame(as: session.ownState(of: row.conversation)) == true
    else { return }
    var row = row
    row.isChanged = false
    try store.hubOwnStates.write(row)
  }
}

/// Takes states from the hub into a store.
struct OwnStateTaking {
  private let store: Store
  private let session: Session
  private let given: [Identifier: [UInt8]]
  private let awaited: Set<Identifier>
  /// The conversations whose states name messages that this store does not have.
  private(set) var missing: Set<Identifier> = []
  /// The rev of the first state that was not taken.
  private(set) var firstLeft: Int64?
  /// Whether the hub has taken a state, or this store has.
  private(set) var hasProgress = false

  init(
    _ messenger: Messenger, _ store: Store, _ user: UserKey, _ given: [HubOwnState], awaited: Set<Identifier>
  ) {
    self.store = store
    self.awaited = awaited
    self.given = Dictionary(given.map { ($0.conversation, $0.state) }) { first, _ in first }
    session = Session(messenger, store, user)
  }

  /// Takes a state, unless this store does not have its messages yet.
  mutating func take(_ state: HubOwnState) throws {
    var key: ConversationKey?
    if state.conversation != HubOwnState.general {
      guard let row = try store.conversations.row(state.conversation), try has(state, row) else {
        firstLeft = min(firstLeft ?? state.rev, state.rev)
        missing.insert(state.conversation)
        return
      }
      key = row.key
    }
    var row = try store.hubOwnStates.row(key) ?? HubOwnStates.Row(conversation: key)
    if row.mark == state.mark, row.rev == state.rev { return }
    hasProgress = true
    // A hub that was restored has an earlier state: what this store has is newer.
    let isSetBack = state.rev <= row.rev && row.mark != nil
    let mine = try session.ownState(of: key)
    let theirs = OwnState(bytes: state.state)
    let isGiven = given[state.conversation] == state.state
    let isChanged = isSetBack || row.isChanged && !(isGiven && mine.bytes == state.state)
    var base = isGiven || isSetBack ? theirs : OwnState(of: row) ?? OwnState()
    // But another machine may have written it since the restore.
    if isSetBack { base?.forgetMarks() }
    (row.rev, row.mark, row.state, row.isChanged) = (state.rev, state.mark, state.state, false)
    // A later version of this program has written it.
    guard let theirs, let base else { return try store.hubOwnStates.write(row) }
    var (merged, old) = (theirs, mine)
    if isChanged {
      merged = mine.merged(with: theirs, since: base)
    } else {
      // Marks of messages may differ although nothing was changed here, such as those of deleted messages.
      (old.hidden, old.read, old.unread) = (base.hidden, base.read, base.unread)
    }
    if let key { try endArchive(&merged, mine, theirs, key) }
    try session.take(merged, insteadOf: old, of: key)
    row.isChanged = !merged.isSame(as: theirs)
    try store.hubOwnStates.write(row)
  }

  /// Lists a conversation again that another machine archived or deleted before it had a message that this store has.
  private func endArchive(_ merged: inout OwnState, _ mine: OwnState, _ theirs: OwnState, _ key: ConversationKey) throws
  {
    guard merged.isArchived && !mine.isArchived || merged.isDeleted && !mine.isDeleted,
      try session.hasNews(after: theirs.lastSeq, in: key)
    else { return }
    if merged.mutedUntil.map({ $0 <= .now }) ?? true { merged.isArchived = merged.isArchived && mine.isArchived }
    merged.isDeleted = merged.isDeleted && mine.isDeleted
  }

  /// Whether this store has the messages that a state names.
  ///
  /// If a pull has not brought them, the hub has lost them.
  ///
  /// While a log is pulled again, the user's own state of the conversation is not complete.
  private func has(_ state: HubOwnState, _ row: Conversations.Row) throws -> Bool {
    guard let log = try store.hubConversations.row(row.key), log.rev >= log.namedRev else { return false }
    if awaited.contains(state.conversation) { return true }
    return (OwnState(bytes: state.state)?.lastSeq ?? 0) <= row.lastSeq
  }

  /// Gives again the states that a restored hub has lost.
  ///
  /// - Parameter seen: the conversations of which the hub has states.
  func takeLoss(except seen: Set<Identifier>) throws {
    for var row in try store.hubOwnStates.all() where row.mark != nil {
      if seen.contains(try row.conversation.map(store.conversations.id) ?? HubOwnState.general) { continue }
      (row.rev, row.mark, row.state, row.isChanged) = (0, nil, nil, true)
      try store.hubOwnStates.write(row)
    }
  }
}

extension OwnState {
  /// The state that the hub has; nil if this version cannot read it.
  fileprivate init?(of row: HubOwnStates.Row) {
    guard let bytes = row.state else {
      self.init()
      return
    }
    self.init(bytes: bytes)
  }
}
