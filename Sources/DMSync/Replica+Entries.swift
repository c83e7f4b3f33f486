internal import DMKit
internal import DMStore

extension Replica {
  /// Applies one entry.
  func apply(_ entry: HubEntry, to log: inout Log) throws {
    let operation = try ownOperation(entry)
    // A working hub returns the description of a person before the first entry of this person.
    guard let actor = try user(entry.actor) else { throw LogFault(conversation: entry.conversation) }
    if entry.kind != .message { try endSending(in: &log) }
    if log.said[actor] == nil, let kind = entry.kind, kind.rawValue < 16 { try admit(actor, to: log.row) }
    switch entry.kind {
    case .message: try say(entry, as: actor, operation, in: &log)
    case .created, .joined, .left, .titled: try announce(entry, as: actor, in: &log)
    case .edited, .deleted, .reaction, .pinned: try change(entry, as: actor, operation, in: log)
    case .read, .delivered: try mark(entry, as: actor, in: log)
    case .settings: try set(entry, as: actor, in: &log)
    case .begun: try store.changes.append(.conversation, conversation: log.row.key, user: actor, at: entry.at)
    case nil: break
    }
    if let operation, operation.act != .say { try store.outbox.finish(operation.key, rev: entry.rev) }
  }

  /// Adds a user, such as the actor of an entry, as a member, unless they are a member in this store already.
  ///
  /// They are missing here if they left the group before this store read the hub's list of members.
  func admit(_ user: UserKey, to row: Conversations.Row) throws {
    guard let membership = try store.members.membership(of: user, in: row.key) else {
      guard row.isGroup else { throw LogFault(conversation: row.id) }
      try store.members.join(row.key, user)
      if row.lastSeq > 0 { try store.readState.hide(1...row.lastSeq, from: user, in: row.key, isDeleted: false) }
      return
    }
    guard membership.leftSeq != nil else { return }
    let session = Session(messenger, store, user, order: Session.Order(id: nil, at: row.lastActivity))
    try session.admit(user, to: row, announcedIn: row.lastSeq + 1, withHistory: false)
  }

  /// The operation of this store that became this entry; nil if there is none.
  private func ownOperation(_ entry: HubEntry) throws -> Outbox.Row? {
    guard try user(entry.actor) == me, let nonce = entry.nonce, let operation = try store.outbox.row(nonce: nonce)
    else { return nil }
    if operation.state == .acknowledged, operation.rev == entry.rev { return operation }
    // Another machine has used the nonce for another message, and the entry is about that message. The hub's answer to
    // the push decides about this operation.
    let (said, mine) = (HubPayload.text(entry.payload), HubPayload.text(operation.payload))
    if entry.kind == .message, let said, let mine, !said.hasSameContent(as: mine) { return nil }
    return operation
  }

  /// Reserves the number of an entry: the next number, or a later one if the user cannot see the entries in between.
  ///
  /// - Throws: `LogFault` for any other number.
  func takeNumber(_ entry: HubEntry, in log: inout Log) throws {
    let next = log.row.lastSeq + 1
    let unseenCount = entry.rev - 1 - log.state.sees.count(upTo: entry.rev - 1)
    guard let seq = entry.seq, next <= seq, log.isWithoutMessages || Int64(seq - next) <= unseenCount else {
      throw LogFault(conversation: entry.conversation)
    }
    log.row.lastSeq = seq - 1
  }

  // MARK: Announcements

  private func announce(_ entry: HubEntry, as actor: UserKey, in log: inout Log) throws {
    try takeNumber(entry, in: &log)
    let session = try session(entry, as: actor, heir: try user(entry.meta.owner))
    switch entry.kind {
    case .created: try session.announce(.conversationCreated, [HubPayload.group(entry.payload).title], in: &log.row)
    case .joined: try join(entry, session, in: &log)
    case .left: try leave(entry, session, in: &log)
    case .titled: try retitle(entry, session, in: &log)
    default: return
    }
    try store.changes.append(.conversation, conversation: log.row.key, user: actor, at: entry.at)
    if let id = entry.id {
      let address = Messages.Address(conversation: log.row.key, seq: log.row.lastSeq)
      try restoreOwnState(entry, id, at: address, in: &log)
    }
  }

  private func join(_ entry: HubEntry, _ session: Session, in log: inout Log) throws {
    guard let user = try user(entry.meta.person) else {
      return try session.announce(.userJoined, [nil], in: &log.row)
    }
    if try !session.add([user], to: &log.row, withHistory: entry.meta.hasHistory) {
      // The user is a member already, because this store has read a later list of members.
      try session.announce(.userJoined, [store.users.handle(user).description], in: &log.row)
      if user == me { try comeToHistory(entry, session, log) }
    }
    if user == me {
      try takeSettings(entry, in: &log)
      if !entry.meta.hasHistory { try takeMembers(entry, session, of: log) }
    }
    guard user == me, entry.rev > log.named else { return }
    if entry.meta.hasHistory {
      log.seesMore = log.state.sees.count(upTo: entry.rev - 1) < entry.rev - 1
      log.state.sees = VisibleRevs(from: 1)
    } else {
      log.state.sees.open(from: entry.rev)
    }
  }

  /// Sets the title and the picture of a group, and the lifetime of its messages, to the values in the entry that adds
  /// the user.
  private func takeSettings(_ entry: HubEntry, in log: inout Log) throws {
    guard entry.payload?.isEmpty == false else { return }
    let group = HubPayload.group(entry.payload)
    if let title = group.title { try store.conversations.set(.title(title), of: log.row.key) }
    try setPicture(group, of: log.row.key)
    try store.conversations.set(.expireAfter(group.expireAfter), of: log.row.key)
    log.row.expireAfter = group.expireAfter
  }

  /// Hides earlier messages from the user, or shows them if the entry adds the user with the history.
  ///
  /// Call this only if the user was listed as a member already; otherwise, `Session.add` does this.
  private func comeToHistory(_ entry: HubEntry, _ session: Session, _ log: Log) throws {
    if log.row.lastSeq > 1 {
      for seqs in difference(of: 1...(log.row.lastSeq - 1), minus: log.seenBefore) {
        try store.mentions.remove(me, in: log.row.key, seqs)
        try store.readState.hide(seqs, from: me, in: log.row.key, isDeleted: false)
      }
    }
    if entry.meta.hasHistory { try store.readState.showHistory(to: me, in: log.row.key) }
    guard try !wasConsumed(entry), let actor = try user(entry.actor) else { return }
    if try store.blocks.hasBlocked(actor, by: me) { try session.putAside(log.row.key, of: me) }
  }

  /// Whether an entry adds the user and gives them the history.
  func givesHistory(_ entry: HubEntry) throws -> Bool {
    try entry.kind == .joined && entry.meta.hasHistory && user(entry.meta.person) == me
  }

  /// Records that the history counts as read without a receipt on each of the user's machines.
  ///
  /// Otherwise, a mark of these messages as unread would not be a change of the own state.
  ///
  /// - Parameter join: the number of the announcement that gives the user the history.
  func recordHistory(upTo join: Int, in conversation: ConversationKey) throws {
    var row = try store.hubOwnStates.row(conversation) ?? HubOwnStates.Row(conversation: conversation)
    guard row.mark == nil, !row.isChanged else { return try store.hubOwnStates.note(conversation, by: me) }
    var state = try Session(messenger, store, me).ownState(of: conversation)
    state.lastSeq = join
    row.state = state.bytes
    try store.hubOwnStates.write(row)
  }

  private func leave(_ entry: HubEntry, _ session: Session, in log: inout Log) throws {
    let (user, heir) = (try user(entry.meta.person), try user(entry.meta.owner))
    if let heir { try admit(heir, to: log.row) }
    if let user, try store.members.isParticipant(user, of: log.row.key) {
      try session.end(user, in: &log.row)
    } else {
      try session.announce(.userLeft, [user.map(store.users.handle)?.description], in: &log.row)
    }
    if let heir {
      try store.members.setOwner(heir, of: log.row.key)
    } else if try !store.members.hasOwner(log.row.key), let next = try store.members.longestMember(of: log.row.key) {
      // The owner who left was not an owner on the hub, but was chosen by `supplyOwner`. Otherwise, the entry would
      // name the next owner.
      try store.members.setOwner(next, of: log.row.key)
    }
    if user == me, entry.rev > log.named { log.state.sees.close(after: entry.rev) }
  }

  private func retitle(_ entry: HubEntry, _ session: Session, in log: inout Log) throws {
    let title = HubPayload.group(entry.payload).title
    if let title { try store.conversations.set(.title(title), of: log.row.key) }
    try session.announce(.titleChanged, [title], in: &log.row)
  }

  private func setPicture(_ group: HubPayload.Group, of conversation: ConversationKey) throws {
    if group.isForAdded, try store.conversations.avatarURL(of: conversation) != group.avatarURL { return }
    if let picture = group.picture { try store.pictures.insert(picture) }
    try store.conversations.set(.avatarURL(group.avatarURL), of: conversation)
  }

  private func set(_ entry: HubEntry, as actor: UserKey, in log: inout Log) throws {
    if entry.meta.changesExpiry {
      let lifetime = entry.meta.expireAfter.map(HubLimits.lifetime)
      try store.conversations.set(.expireAfter(lifetime), of: log.row.key)
      log.row.expireAfter = lifetime
    } else {
      try setPicture(HubPayload.group(entry.payload), of: log.row.key)
    }
    try store.changes.append(.conversation, conversation: log.row.key, user: actor, at: entry.at)
  }

  // MARK: Edits, deletions, reactions and pins

  /// Applies an edit, a deletion, a reaction or a pin; the hub has checked the permission.
  func change(_ entry: HubEntry, as actor: UserKey, _ operation: Outbox.Row?, in log: Log) throws {
    // The operation is finished first, so that it no longer counts as queued.
    if let operation { try store.outbox.finish(operation.key, rev: entry.rev) }
    guard let seq = entry.seq, 1...log.row.lastSeq ~= seq else { return }
    let address = Messages.Address(conversation: log.row.key, seq: seq)
    guard let message = try store.messages.row(at: address), let id = try store.messages.identifier(of: address) else {
      return try changeAbsent(entry, as: actor, address, in: log)
    }
    let session = try session(entry, as: actor)
    switch entry.kind {
    case .edited where try isThere(message):
      guard let payload = HubPayload.text(entry.payload), let text = payload.text else { break }
      try store.hubUnreadable.delete(message.key)
      try session.set(.text(text, payload.preview), of: message, id)
    case .deleted: try delete(message, id, at: entry.at)
    case .reaction where try isThere(message):
      let emoji = HubPayload.emoji(entry.payload)
      if actor == me {
        try session.set(.ownReaction(emoji), of: message, id)
      } else {
        _ = try store.reactions.react(emoji, to: message, by: actor, at: entry.at)
      }
    case .pinned where try isThere(message): try pin(entry, as: actor, address)
    default: break
    }
    if let message = try store.messages.row(at: address) {
      try Session(messenger, store, me).showWaitingActs(on: message, id, ended: operation?.act)
    }
  }

  /// Applies a pin or a deletion of a message that this store does not keep, so that the list of pins is complete.
  private func changeAbsent(
    _ entry: HubEntry, as actor: UserKey, _ address: Messages.Address, in log: Log
  ) throws {
    let seqs = address.seq...address.seq
    guard try log.isWithoutMessages || !store.hubFloors.absent(seqs, in: address.conversation).isEmpty else { return }
    switch entry.kind {
    case .pinned: try pin(entry, as: actor, address)
    case .deleted: try store.pins.remove(address)
    default: break
    }
  }

  private func pin(_ entry: HubEntry, as actor: UserKey, _ address: Messages.Address) throws {
    try store.pins.set(entry.meta.isPinned, address, by: actor, at: entry.at.clamped)
  }

  /// Whether a message still has its contents, which are removed when the message is deleted or expires.
  static func isThere(_ message: Messages.Row, in store: Store) throws -> Bool {
    try message.text != nil || store.hubUnreadable.contains(message.key)
      || !store.attachments.all(of: message.key).isEmpty
  }

  private func isThere(_ message: Messages.Row) throws -> Bool { try Self.isThere(message, in: store) }

  private func delete(_ message: Messages.Row, _ id: Identifier, at time: Timestamp) throws {
    guard try isThere(message) else { return }
    for operation in try store.outbox.pending(about: id) where operation.act != .report {
      try store.outbox.finish(operation.key, rev: nil)
    }
    try store.messages.makeTombstone(of: message, at: time)
  }

  // MARK: Receipts

  private func mark(_ entry: HubEntry, as actor: UserKey, in log: Log) throws {
    guard log.row.lastSeq > 0, try store.members.participates(actor, in: log.row.key) else { return }
    let all = 1...log.row.lastSeq
    let session = try session(entry, as: actor)
    if entry.kind == .delivered {
      guard let seq = entry.seq, seq >= 1 else { return }
      _ = try store.readState.markDelivered(min(seq, log.row.lastSeq), to: actor, in: log.row.key, at: entry.at)
      return
    }
    let ranges = entry.meta.ranges.filter(all.overlaps).map { $0.clamped(to: all) }
    if actor == me { return try markOwn(ranges, entry, session, in: log) }
    _ = try session.change(ranges, Messenger.MarkOptions(), in: log.row.key, at: entry.at)
  }

  /// Applies a receipt that the user sent from this machine or from another.
  private func markOwn(_ ranges: [SeqRange], _ entry: HubEntry, _ session: Session, in log: Log) throws {
    for range in ranges {
      // A message that has a receipt in this store stays as it is: the user may have marked it as unread after the receipt.
      let new = difference(of: range, minus: try store.readState.receipts(of: me, in: log.row.key, overlapping: range))
      let unread = new.isEmpty ? [] : try store.hubKnown.unreadAgain(range, in: log.row.key)
      // The user had marked these messages as unread after this receipt. The own state has changed, because the other
      // machines of the user must get these marks.
      if !unread.isEmpty { try store.hubOwnStates.note(log.row.key, by: me) }
      _ = try session.change(difference(of: new, minus: unread), Messenger.MarkOptions(), in: log.row.key, at: entry.at)
      // Receipts are also recorded for messages that the user has read here without a receipt.
      for part in new { try store.readState.addReceipts(part, of: me, in: log.row.key, at: entry.at) }
    }
  }
}
