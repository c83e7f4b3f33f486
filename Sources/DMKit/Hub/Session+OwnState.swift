internal import DMStore

// The user's own state of a conversation, which the user's machines exchange through the hub.

extension Session {
  /// The user's own state of a conversation; for a nil key, the state that is not about one conversation.
  ///
  /// Parts of the hub's state that this store cannot show are returned as the hub has them, so that they do not seem to
  /// be removed here.
  package func ownState(of key: ConversationKey?) throws -> OwnState {
    var state = OwnState()
    let base = try store.hubOwnStates.row(key)?.state.flatMap { OwnState(bytes: $0) } ?? OwnState()
    guard let key else {
      state.blocked = Set(try store.blocks.users(by: me).map(store.users.handle))
      state.blocked.formUnion(try base.blocked.filter { try store.users.key($0) == nil })
      state.sendsReadReceipts = try store.users.sendsReadReceipts(me)
      return state
    }
    guard let fields = try store.members.ownFields(of: me, in: key), let row = try store.conversations.row(key: key)
    else { return state }
    (state.isPinned, state.isArchived, state.isDeleted) = (fields.isPinned, fields.isArchived, fields.isDeleted)
    state.mutedUntil = fields.mutedUntil
    state.draft = fields.draft.map(ExactString.init)
    state.name = try store.conversations.ownName(of: me, for: key).map(ExactString.init)
    // Another conversation keeps the name by the rule of `takeNames`. Otherwise the user has removed it.
    if state.name == nil, let name = base.name,
      let holder = try store.conversations.row(ownName: name.text, of: me), try holder.id < store.conversations.id(key)
    {
      state.name = name
    }
    let queued = difference(of: try hiddenByQueuedDeletions(in: key), minus: base.hidden)
    state.hidden = newest(difference(of: try store.readState.hidden(.deleted, from: me, in: key), minus: queued))
    state.read = newest(
      try store.readState.privatelyRead(by: me, in: key, upTo: row.lastSeq, hasLeft: fields.hasLeft)
        + stillReadBelowFloor(base.read, in: key, hasLeft: fields.hasLeft))
    if !fields.hasLeft {
      // Messages of blocked users are left out: they are unread here, but a receipt of the user's other machine may
      // include them, so they would seem to be marked as unread.
      state.unread = newest(
        try store.readState.unreadAgain(by: me, in: key, upTo: row.lastSeq).flatMap {
          difference(of: $0, minus: try store.readState.unreachable($0, as: viewer, in: key))
        })
    }
    state.lastSeq = row.lastSeq
    return state
  }

  /// The messages that the user has deleted for themselves, according to the own state that the hub last returned.
  package func deletedForMe(in key: ConversationKey) throws -> [SeqRange] {
    try store.hubOwnStates.row(key)?.state.flatMap { OwnState(bytes: $0) }?.hidden ?? []
  }

  /// The last 2000 ranges, so that a state does not become too large for the hub.
  private func newest(_ ranges: [SeqRange]) -> [SeqRange] {
    Array(coalesced(ranges.sorted { $0.lowerBound < $1.lowerBound }).suffix(2000))
  }

  /// The messages that this store has not kept, that still count as read, and that the user had read without a receipt,
  /// according to the hub's state.
  private func stillReadBelowFloor(_ ranges: [SeqRange], in key: ConversationKey, hasLeft: Bool) throws
    -> [SeqRange]
  {
    guard let floor = try store.hubFloors.row(key)?.seq else { return [] }
    let below = ranges.filter { $0.lowerBound < floor }.map { $0.clamped(to: 1...(floor - 1)) }
    let open = try below.flatMap { range in
      let read = try store.readState.readRanges(of: me, in: key, overlapping: range).map { $0.clamped(to: range) }
      // As in `privatelyRead`, receipts of a former member do not count.
      return hasLeft
        ? read : difference(of: read, minus: try store.readState.receipts(of: me, in: key, overlapping: range))
    }
    // A range with at least one missing message is returned whole, so that the user's own messages in it, which the
    // store has, leave no gaps.
    return try open.filter { try !store.hubFloors.absent($0, in: key).isEmpty }
  }

  /// The messages that are hidden only until the hub has deleted them.
  private func hiddenByQueuedDeletions(in key: ConversationKey) throws -> [SeqRange] {
    let seqs = try store.outbox.pending(in: key).filter { $0.act == .delete && $0.state != .refused }.compactMap {
      try $0.target.flatMap(store.messages.address(ofIDOrAlias:))?.seq
    }
    return coalesced(seqs.sorted().map { $0...$0 })
  }

  /// Replaces the user's own state of a conversation with one from another machine, except for the name of the
  /// conversation.
  ///
  /// - Parameters:
  ///   - state: the new state; marks of messages that this store does not have are ignored.
  ///   - old: the present state, which `ownState` returned; only differences from it are written.
  package func take(_ state: OwnState, insteadOf old: OwnState, of key: ConversationKey?) throws {
    guard let key else { return try takeBlocks(state, insteadOf: old) }
    func set(_ change: Members.OwnState, where isNew: Bool) throws {
      if isNew { try store.members.set(change, of: me, in: key) }
    }
    try set(.pinned(state.isPinned), where: state.isPinned != old.isPinned)
    try set(.archived(state.isArchived), where: state.isArchived != old.isArchived)
    try set(.mutedUntil(state.mutedUntil), where: state.mutedUntil != old.mutedUntil)
    try set(.draft(state.draft?.text), where: state.draft != old.draft)
    try set(.deleted(state.isDeleted), where: state.isDeleted != old.isDeleted)
    try takeMarks(state, insteadOf: old, of: key)
    if !state.isSame(as: old) { try store.changes.append(.ownState, conversation: key, user: me, at: .now) }
  }

  private func takeBlocks(_ state: OwnState, insteadOf old: OwnState) throws {
    for (handles, isBlocked) in [
      (state.blocked.subtracting(old.blocked), true), (old.blocked.subtracting(state.blocked), false),
    ] {
      for user in try handles.sorted().compactMap(store.users.key) where user != me {
        _ = try setBlocked(isBlocked, user)
      }
    }
    if state.sendsReadReceipts != old.sendsReadReceipts {
      try store.users.update(me, ProfileChange(sendsReadReceipts: state.sendsReadReceipts), at: .now)
    }
  }

  /// Sets the user's own names of conversations; nil removes a name.
  ///
  /// If two machines gave the same name to two conversations, only the conversation with the lower id keeps it, so that
  /// all machines decide in the same way.
  package func takeNames(_ names: [ConversationKey: String?]) throws {
    let changes = try names.filter { try store.conversations.ownName(of: me, for: $0.key) != $0.value }
    let freed = try changes.keys.compactMap { key in
      try store.conversations.ownName(of: me, for: key).map { ($0, holder: try store.conversations.id(key)) }
    }
    for key in changes.keys { try store.conversations.setOwnName(nil, of: me, in: key) }
    for (id, key) in try changes.keys.map({ (try store.conversations.id($0), $0) }).sorted(by: { $0.0 < $1.0 }) {
      guard let name = changes[key] ?? nil else { continue }
      if let other = try store.conversations.row(ownName: name, of: me) {
        if other.id < id { continue }
        try store.conversations.setOwnName(nil, of: me, in: other.key)
      }
      try store.conversations.setOwnName(name, of: me, in: key)
    }
    try takeFreed(freed)
  }

  /// Gives names that are free now to the conversations that have them on the user's other machines.
  ///
  /// If the own state of a conversation was changed here, the user may have removed its name here. But not if the
  /// conversation that held the name has a lower id, and so kept it.
  func takeFreed(_ names: [(String, holder: Identifier)]) throws {
    if names.isEmpty || destination == .here { return }
    for row in try store.hubOwnStates.all() {
      guard let key = row.conversation, let name = row.state.flatMap({ OwnState(bytes: $0) })?.name?.text,
        let freed = names.first(where: { $0.0 == name }),
        try !row.isChanged || freed.holder < store.conversations.id(key),
        try store.conversations.ownName(of: me, for: key) == nil,
        try store.conversations.row(ownName: name, of: me) == nil
      else { continue }
      try store.conversations.setOwnName(name, of: me, in: key)
    }
  }

  /// Hides messages, and marks messages as read and as unread.
  private func takeMarks(_ state: OwnState, insteadOf old: OwnState, of key: ConversationKey) throws {
    guard let last = try store.conversations.row(key: key)?.lastSeq, last > 0 else { return }
    func new(_ ranges: [SeqRange], _ before: [SeqRange]) -> [SeqRange] {
      difference(of: ranges.filter { $0.lowerBound <= last }.map { $0.clamped(to: 1...last) }, minus: before)
    }
    for range in new(state.hidden, old.hidden) {
      _ = try store.readState.hide(range, from: me, in: key, isDeleted: true)
    }
    for range in new(old.hidden, state.hidden) { _ = try store.readState.showAgain(range, to: me, in: key) }
    var privately = Messenger.MarkOptions()
    privately.isPrivate = true
    _ = try change(new(state.read, old.read), privately, in: key, at: .now)
    var again = Messenger.MarkOptions()
    (again.act, again.evenAbsent) = (.unread, true)
    // A message that the user has read with a receipt stays read.
    let hasLeft = try store.members.ownFields(of: me, in: key)?.hasLeft ?? false
    let receipts = hasLeft ? [] : try store.readState.receipts(of: me, in: key, overlapping: 1...last)
    let read = difference(of: difference(of: new(old.read, state.read), minus: receipts), minus: state.hidden)
    _ = try change(read, again, in: key, at: .now)
    _ = try change(difference(of: new(old.unread, state.unread), minus: state.read), privately, in: key, at: .now)
    _ = try change(difference(of: new(state.unread, old.unread), minus: state.hidden), again, in: key, at: .now)
    // A store keeps unread messages, so the missing ones are fetched.
    for range in try (read + new(state.unread, old.unread)).flatMap({ try store.hubFloors.absent($0, in: key) }) {
      try store.hubFloors.want(HubFloors.Page(conversation: key, seqs: range))
    }
  }

  /// Writes to the change log which messages were read or marked as unread, and marks the own state as changed if the
  /// user's other machines do not learn of that from receipts.
  ///
  /// - Returns: the messages in `changed`.
  func logged(_ changed: [SeqRange], isPrivate: Bool = true, in key: ConversationKey, at now: Timestamp) throws
    -> [SeqRange]
  {
    guard let first = changed.first, let last = changed.last else { return [] }
    try store.changes.append(
      .ownState, conversation: key, user: me, seqs: first.lowerBound...last.upperBound, at: now)
    guard destination == .hub else { return changed }
    if try isPrivate || !store.users.sendsReadReceipts(me) || isUntold(changed, in: key) {
      try store.hubOwnStates.note(key, by: me)
    }
    return changed
  }

  /// Whether the user's other machines do not learn from receipts that messages were read, because the user had marked
  /// them as unread, or has left the conversation.
  private func isUntold(_ changed: [SeqRange], in key: ConversationKey) throws -> Bool {
    guard let row = try store.hubOwnStates.row(key) else { return false }
    if try store.members.ownFields(of: me, in: key)?.hasLeft == true { return true }
    let unread = row.state.flatMap { OwnState(bytes: $0) }?.unread ?? []
    return unread.contains { range in changed.contains(where: range.overlaps) }
  }
}
