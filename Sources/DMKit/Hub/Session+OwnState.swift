internal import DMStore

// The user's own state of a conversation, which their machines exchange through the hub.

extension Session {
  /// The user's own state of a conversation; nil for what is not about one conversation.
  package func ownState(of key: ConversationKey?) throws -> OwnState {
    var state = OwnState()
    guard let key else {
      state.blocked = Set(try store.blocks.users(by: me).map(store.users.handle))
      state.sendsReadReceipts = try store.users.sendsReadReceipts(me)
      return state
    }
    guard let fields = try store.members.ownFields(of: me, in: key), let row = try store.conversations.row(key: key)
    else { return state }
    (state.isPinned, state.isArchived, state.isDeleted) = (fields.isPinned, fields.isArchived, fields.isDeleted)
    state.mutedUntil = fields.mutedUntil
    state.draft = fields.draft.map(ExactString.init)
    state.name = try store.conversations.ownName(of: me, for: key).map(ExactString.init)
    state.hidden = difference(
      of: try store.readState.deleted(by: me, in: key), minus: try hiddenByQueuedDeletions(in: key))
    state.read = try store.readState.privatelyRead(by: me, in: key, upTo: row.lastSeq, hasLeft: fields.hasLeft)
    if !fields.hasLeft { state.unread = try store.readState.unreadAgain(by: me, in: key, upTo: row.lastSeq) }
    state.lastSeq = row.lastSeq
    return state
  }

  /// The messages that are hidden only until the hub has deleted them.
  private func hiddenByQueuedDeletions(in key: ConversationKey) throws -> [SeqRange] {
    let seqs = try store.outbox.pending(in: key).filter { $0.act == .delete && $0.state != .refused }.compactMap {
      try $0.target.flatMap(store.messages.address(ofIDOrAlias:))?.seq
    }
    return coalesced(seqs.sorted().map { $0...$0 })
  }

  /// Replaces the user's own state of a conversation with one from another machine.
  ///
  /// - Parameters:
  ///   - state: the new state; numbers of messages that this store does not have are left out.
  ///   - old: what `ownState` returned.
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
    if state.name != old.name { try takeName(state.name?.text, of: key) }
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

  /// Gives a conversation a name of the user's own.
  ///
  /// If another conversation has the name, because another machine gave it before it knew, only the one with the lower id keeps
  /// it: all machines decide alike.
  private func takeName(_ name: String?, of key: ConversationKey) throws {
    if let name, let other = try store.conversations.row(ownName: name, of: me), other.key != key {
      guard try store.conversations.id(key) < other.id else { return }
      try store.conversations.setOwnName(nil, of: me, in: other.key)
    }
    try store.conversations.setOwnName(name, of: me, in: key)
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
    for seq in new(old.hidden, state.hidden).joined() { _ = try store.readState.showAgain(seq, to: me, in: key) }
    var privately = Messenger.MarkOptions()
    privately.isPrivate = true
    _ = try change(new(state.read, old.read), privately, in: key, at: .now)
    var again = Messenger.MarkOptions()
    again.act = .unread
    // What the user has read with a receipt stays read.
    let hasLeft = try store.members.ownFields(of: me, in: key)?.hasLeft ?? false
    let receipts = hasLeft ? [] : try store.readState.receipts(of: me, in: key, upTo: last)
    _ = try change(difference(of: new(old.read, state.read), minus: receipts), again, in: key, at: .now)
    _ = try change(difference(of: new(old.unread, state.unread), minus: state.read), privately, in: key, at: .now)
    _ = try change(new(state.unread, old.unread), again, in: key, at: .now)
  }

  /// Logs which messages were read or marked as unread, and notes it for the user's other machines if no receipt tells them.
  ///
  /// - Returns: these messages.
  func logged(_ changed: [SeqRange], isPrivate: Bool = true, in key: ConversationKey, at now: Timestamp) throws
    -> [SeqRange]
  {
    guard let first = changed.first, let last = changed.last else { return [] }
    try store.changes.append(
      .ownState, conversation: key, user: me, seqs: first.lowerBound...last.upperBound, at: now)
    guard destination == .hub else { return changed }
    // No receipt says that a message is no longer marked as unread.
    if try isPrivate || !store.users.sendsReadReceipts(me) || store.hubOwnStates.row(key) != nil {
      try store.hubOwnStates.note(key, by: me)
    }
    return changed
  }

  /// Whether a message after the given one takes the conversation out of the user's archive.
  package func hasNews(after seq: Int, in key: ConversationKey) throws -> Bool {
    try store.members.isBroughtBack(key, by: me, after: seq)
  }
}
