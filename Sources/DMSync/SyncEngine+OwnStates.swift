internal import DMKit
internal import DMStore
internal import DMSystem

// Own states are what the user alone decides, such as pins, drafts and blocks. The hub has one state for each
// conversation. A machine replaces the state on the hub only after it has merged that state with its own.

extension SyncEngine {
  /// The maximum number of states that are sent to the hub at once, and the maximum number of their bytes.
  private static let givenCount = 100
  private static let givenBytes = 1 << 20
  /// The hub ends a page before a state that would bring the page over this size.
  private static let pageBytes = 4 << 20

  /// Whether the hub may have states that this store does not have.
  func hasOwnStateNews() throws -> Bool {
    guard hello?.hasOwnStates == true else { return false }
    return try store.read { try ownStates.hasNews(after: store.hubOwnStates.rev()) }
  }

  /// Whether own states were changed in this store, and can be sent to the hub now.
  private func hasOwnStateChanges() throws -> Bool {
    guard let hello, hello.hasOwnStates, !hello.isStandby, ownStates.heldUntil <= monotonicMicroseconds() else {
      return false
    }
    return try store.read { try !store.hubOwnStates.changed(limit: 1, readable: OwnState.prefix).isEmpty }
  }

  func hasOwnStates() throws -> Bool { try hasOwnStateNews() || hasOwnStateChanges() }

  /// Merges the own states that are newer on the hub into this store.
  ///
  /// If there are none, sends the own states that were changed in this store to the hub.
  func exchangeOwnStates() throws {
    let hasNews = try hasOwnStateNews()
    let given = try !hasNews && hasOwnStateChanges() ? prepareOwnStates() : []
    guard hasNews || !given.isEmpty else { return }
    let first = try ownStates.cursor ?? store.read(store.hubOwnStates.rev)
    guard let states = try askForOwnStates(after: first, given) else { return }
    let isLast = isLastPage(states, after: first)
    try readPeople(namedBy: states)
    try takeOwnStates(states, after: first, given, isLast: isLast)
    let areTaken = given.allSatisfy { given in
      states.contains { $0.conversation == given.conversation && $0.mark != given.mark }
        && !ownStates.missing.contains(given.conversation)
    }
    if isLast, !areTaken { ownStates.refused(at: monotonicMicroseconds()) }
  }

  /// Before anything is pulled, applies the blocks that the user set on other machines, so that this machine sends no
  /// receipts to blocked users.
  func takeBlocksFirst() throws {
    guard try hasOwnStateNews() else { return }
    var first = try ownStates.cursor ?? store.read(store.hubOwnStates.rev)
    while let states = try askForOwnStates(after: first, []) {
      if let general = states.first(where: { $0.conversation == HubOwnState.general }) {
        try readPeople(namedBy: [general])
        var taking = OwnStateTaking(self, try hub().user)
        return try store.write(isBulk: true) {
          try taking.take(general)
          try taking.finish()
        }
      }
      guard !isLastPage(states, after: first), let last = states.last else { return }
      first = last.rev
    }
  }

  /// Exchanges own states with the hub; nil if the hub could not answer in time.
  private func askForOwnStates(after rev: Int64, _ given: [HubOwnState]) throws -> [HubOwnState]? {
    do {
      let states = try link.ownStates(after: rev, given, limit: min(pageSize, ownStates.limit))
      answeredAt = .now
      let names = Set(given.map(\.conversation))
      for state in states where !(1...Int64(HubEntry.numberLimit) ~= state.rev) {
        throw HubFault.damaged("the hub names an invalid rev")
      }
      return states.filter { $0.rev > rev || names.contains($0.conversation) }.sorted { $0.rev < $1.rev }
    } catch HubFault.locked, HubFault.timedOut {
      ownStates.failed(at: monotonicMicroseconds(), wasTooMuch: given.isEmpty)
      return nil
    }
  }

  private func isLastPage(_ states: [HubOwnState], after rev: Int64) -> Bool {
    let newer = states.filter { $0.rev > rev }
    return newer.count < min(pageSize, ownStates.limit)
      && newer.reduce(0) { $0 + $1.state.count } <= Self.pageBytes - OwnState.byteLimit
  }

  /// Reads persons from the hub, if states refer to persons that this store does not have because they were invited
  /// after the last comparison.
  private func readPeople(namedBy states: [HubOwnState]) throws {
    let handles = states.first { $0.conversation == HubOwnState.general }.flatMap { OwnState(bytes: $0.state) }?.blocked
    if try store.read({ try handles?.contains { try store.users.key($0) == nil } }) == true {
      try readPeople(upTo: .max)
    }
  }

  private func takeOwnStates(_ states: [HubOwnState], after first: Int64, _ given: [HubOwnState], isLast: Bool) throws {
    var taking = OwnStateTaking(self, try hub().user)
    let end = states.last { $0.rev > first }?.rev ?? first
    try store.write(isBulk: true) {
      for state in states { try taking.take(state) }
      try taking.finish()
      let whole = ownStates.read(
        states, to: end, missing: taking.missing, firstLeft: taking.firstLeft, isLast: isLast)
      let seen = ownStates.takeSeen()
      if hello?.isStandby != false { return }
      if let seen { try taking.takeLoss(except: seen) }
      if let whole { try store.hubOwnStates.set(rev: whole) }
    }
    ownStates.takeMissing().forEach(enqueue)
  }

  /// Collects the own states that were changed in this store, and records that they are sent to the hub.
  private func prepareOwnStates() throws -> [HubOwnState] {
    let session = Session(messenger, store, try hub().user)
    var (given, bytes, isTooLarge) = ([HubOwnState](), 0, false)
    try store.write {
      for var row in try store.hubOwnStates.changed(limit: Self.givenCount, readable: OwnState.prefix)
      where bytes <= Self.givenBytes {
        let state = try session.ownState(of: row.conversation)
        if row.given.isEmpty, OwnState(of: row)?.isSame(as: state) == true {
          row.isChanged = false
        } else if state.bytes.count > OwnState.byteLimit {
          isTooLarge = true
        } else {
          let id = try row.conversation.map(store.conversations.id) ?? HubOwnState.general
          given.append(HubOwnState(conversation: id, mark: row.mark, state: state.bytes))
          bytes += state.bytes.count
          if !row.given.contains(state.bytes) { row.given = Array((row.given + [state.bytes]).suffix(8)) }
        }
        try store.hubOwnStates.write(row)
      }
    }
    if isTooLarge { ownStates.refused(at: monotonicMicroseconds()) }
    return given
  }
}

/// Merges own states of the hub with those of a store.
struct OwnStateTaking {
  private let store: Store
  private let user: UserKey
  private let engine: SyncEngine
  /// The rows to write, and the names of conversations to set, after all states were merged.
  private var rows: [HubOwnStates.Row] = []
  private var names: [ConversationKey: String?] = [:]
  /// The conversations whose states refer to messages that this store does not have.
  private(set) var missing: Set<Identifier> = []
  /// The rev of the first state that could not be merged.
  private(set) var firstLeft: Int64?

  init(_ engine: SyncEngine, _ user: UserKey) {
    self.engine = engine
    store = engine.store
    self.user = user
  }

  /// A new session at each use, because a session caches what it has read.
  private var session: Session { Session(engine.messenger, store, user) }

  /// Merges a state into this store.
  ///
  /// If this store lacks messages to which the state refers, only adds the conversation to `missing`.
  mutating func take(_ state: HubOwnState) throws {
    var key: ConversationKey?
    if state.conversation != HubOwnState.general {
      // When a conversation is no longer set aside, its own state is read again.
      if engine.setAside[state.conversation] != nil { return }
      guard let row = try store.conversations.row(state.conversation), try has(state, row) else {
        firstLeft = min(firstLeft ?? state.rev, state.rev)
        missing.insert(state.conversation)
        return
      }
      key = row.key
    }
    let held = try store.hubOwnStates.row(key)
    var row = held ?? HubOwnStates.Row(conversation: key)
    if row.mark == state.mark {
      row.rev = state.rev
      return rows.append(row)
    }
    // An earlier rev comes from a restored hub, or from a standby that lags.
    let isSetBack = state.rev <= row.rev && row.mark != nil
    if isSetBack, engine.hello?.isStandby != false { return }
    let (recorded, written) = (OwnState(of: row) ?? OwnState(), OwnState(bytes: state.state))
    // Before the first exchange of a state, all its fields in this store count as changed, so that they are kept. This is
    // also true if the other machine did not have the history that this store has recorded.
    let lacksHistory = row.mark == nil && recorded.lastSeq > written?.lastSeq ?? 0
    let isChanged = isSetBack || row.isChanged || held == nil || lacksHistory
    let base = lacksHistory ? OwnState() : recorded
    let isNewer = row.isFromBeforeRestore && state.isPresent
    let given = row.given.compactMap(OwnState.init(bytes:))
    (row.rev, row.mark, row.state, row.given) = (state.rev, state.mark, state.state, [])
    // A later version of this program has written the state, so it is stored, but not merged.
    guard let theirs = written else { return rows.append(row) }
    let mine = try session.ownState(of: key)
    // The fields of this store replace all fields of a state from the backup of a restored hub. If another machine has
    // written the state after the restore, only the fields that were changed here replace those of the state. In both
    // cases, the ranges of messages and the blocks of both states are kept.
    let bases = isSetBack ? [(isNewer ? base : theirs).withoutMarks()] : [base] + given
    try take(isChanged ? mine.merged(with: theirs, since: bases) : theirs, mine, theirs, isChanged ? mine : base, &row)
  }

  private mutating func take(
    _ wanted: OwnState, _ mine: OwnState, _ theirs: OwnState, _ before: OwnState, _ row: inout HubOwnStates.Row
  ) throws {
    var (merged, old) = (wanted, mine)
    // The ranges of messages in this store may differ from the last exchanged ranges although the user has changed
    // nothing, for example because messages were deleted. So changes are found by a comparison with the last exchanged
    // ranges.
    (old.hidden, old.read, old.unread) = (before.hidden, before.read, before.unread)
    if let key = row.conversation {
      try endArchive(&merged, mine, theirs, key)
      if merged.name != mine.name { names[key] = .some(merged.name?.text) }
    }
    try session.take(merged, insteadOf: old, of: row.conversation)
    row.isChanged = !merged.isSame(as: theirs)
    rows.append(row)
  }

  /// Sets the names of conversations, and writes the rows of the states that were merged.
  mutating func finish() throws {
    // A name that is free now goes to a conversation that has it by its new state.
    for row in rows { try store.hubOwnStates.write(row) }
    try session.takeNames(names)
    // Each change of the store above has marked a row as changed.
    for row in rows { try store.hubOwnStates.write(row) }
  }

  /// Keeps a conversation listed if this store has a message that another machine did not yet have when it archived or
  /// deleted the conversation.
  private func endArchive(_ merged: inout OwnState, _ mine: OwnState, _ theirs: OwnState, _ key: ConversationKey) throws
  {
    guard merged.isArchived && !mine.isArchived || merged.isDeleted && !mine.isDeleted,
      try store.members.isBroughtBack(key, by: user, after: theirs.lastSeq)
    else { return }
    if merged.mutedUntil.map({ $0 <= .now }) ?? true { merged.isArchived = merged.isArchived && mine.isArchived }
    merged.isDeleted = merged.isDeleted && mine.isDeleted
  }

  /// Whether this store has the messages to which a state refers.
  ///
  /// The result is also true if a pull has not brought these messages: the hub has lost them, and the state is merged
  /// without them. Until the log is pulled to its end, the result is false, because the conversation's own state in this
  /// store is not yet complete.
  private func has(_ state: HubOwnState, _ row: Conversations.Row) throws -> Bool {
    guard let log = try store.hubConversations.row(row.key), log.isWhole else { return false }
    if engine.ownStates.awaited.contains(state.conversation) { return true }
    return (OwnState(bytes: state.state)?.lastSeq ?? 0) <= row.lastSeq
  }

  /// Marks states as changed if a restored hub has lost them, so that they are sent to the hub again.
  ///
  /// - Parameter seen: the conversations of which the hub has states.
  func takeLoss(except seen: Set<Identifier>) throws {
    for var row in try store.hubOwnStates.all() where row.mark != nil {
      if seen.contains(try row.conversation.map(store.conversations.id) ?? HubOwnState.general) { continue }
      (row.rev, row.mark, row.state, row.given, row.isChanged) = (0, nil, nil, [], true)
      try store.hubOwnStates.write(row)
    }
  }
}

extension OwnState {
  /// The state at the last exchange; nil if this version cannot read it.
  fileprivate init?(of row: HubOwnStates.Row) {
    guard let bytes = row.state else {
      self.init()
      return
    }
    self.init(bytes: bytes)
  }
}
