internal import DMJSON
internal import DMKit
internal import DMStore
internal import DMSystem

// Prepares conversations for pulling their logs again from the beginning.

extension Replica {
  /// Why a log is pulled again.
  enum Reason {
    /// The hub was restored to an earlier state; the operations that it has lost are pushed again.
    case setBack
    /// The hub was restored to a state in which the conversation did not exist.
    case gone
    /// The user can now see earlier entries.
    case seesMore
  }

  /// Empties a conversation, so that its log is pulled again.
  ///
  /// The store remembers which messages the user has read, and which they have deleted for themselves.
  func beginAnew(_ id: Identifier, _ reason: Reason, _ comparison: HubComparison.Conversation?) throws {
    guard let row = try store.conversations.row(id), let state = try store.hubConversations.row(row.key) else { return }
    try store.logging(false) { try beginAnew(row, state, reason, comparison) }
  }

  private func beginAnew(
    _ row: Conversations.Row, _ old: HubConversations.Row, _ reason: Reason, _ comparison: HubComparison.Conversation?
  ) throws {
    var state = old
    try store.hubKnown.remember(row.key, of: me)
    // `remember` does not count messages with a queued deletion as deleted. Before that deletion was queued, the user may
    // have deleted some of these messages for themselves; the own state that was last exchanged with the hub shows which.
    let deleted = try Session(messenger, store, me).deletedForMe(in: row.key)
    for range in deleted { try store.hubKnown.setDeleted(range, in: row.key) }
    try store.hubFloors.end(
      row.key, hidden: store.readState.hidden(.deleted, from: me, in: row.key) + deleted)
    if reason != .seesMore {
      try keepCopy(of: row)
      try forgetMarks(in: row.key)
    }
    // Operations are queued again even if the hub has all of them, because the hub may be restored again before the log
    // is pulled.
    try queueAgain(row)
    try store.conversations.empty(row.key, keeping: me)
    if reason == .gone {
      try store.hubConversations.delete(row.key)
      return
    }
    if let comparison { state.sees = comparison.sees }
    state.historyUpTo = reason == .seesMore ? state.rev : 0
    state.rev = (state.sees.first ?? 1) - 1
    state.mark = nil
    state.namedRev = comparison?.rev ?? 0
    state.fault = nil
    try store.hubConversations.write(state)
    begunAnew.append(row.id)
  }

  /// Removes the ranges of messages from the own states that were exchanged with the hub before it was restored, because
  /// the messages get other numbers.
  private func forgetMarks(in conversation: ConversationKey) throws {
    guard var row = try store.hubOwnStates.row(conversation) else { return }
    func withoutMarks(_ state: [UInt8]) -> [UInt8] { OwnState(bytes: state)?.withoutMarks().bytes ?? state }
    (row.state, row.given) = (row.state.map(withoutMarks), row.given.map(withoutMarks))
    try store.hubOwnStates.write(row)
  }

  /// Copies to a file the messages that the user sees, because the hub may have lost them, and their authors may never
  /// push them again.
  private func keepCopy(of row: Conversations.Row) throws {
    let folder = store.location.forks
    if case .failed(let reason) = createFolder(folder) { throw storeError("create", folder, reason) }
    let viewer = Session(messenger, store, me).freshViewer()
    var json = JSONWriter()
    for seq in stride(from: 1, through: row.lastSeq, by: 1) {
      let address = Messages.Address(conversation: row.key, seq: seq)
      if let message = try store.messages.seen(at: address, as: viewer) { json.line(message) }
    }
    if !json.bytes.isEmpty {
      try replaceFile("\(folder)/\(row.id)-\(Timestamp.now.microseconds).jsonl", with: json.bytes)
    }
  }

  /// Queues again the operations that this store had pushed; the hub recognizes by their nonces the operations that it
  /// still has.
  ///
  /// Members are not added again, because other users may have removed them later. The hub refuses a message if the
  /// group has members who were not in it when the message was sent.
  private func queueAgain(_ row: Conversations.Row) throws {
    let audience = row.isGroup ? try Audience(store, row.key) : nil
    let isMember = try store.members.isParticipant(me, of: row.key)
    try store.outbox.repeatOpen(in: row.key)
    if let audience { try restrictOpen(in: row, audience) }
    var settings: [Outbox.Act: Outbox.Row] = [:]
    var reports: [Identifier?: Outbox.Row] = [:]
    for operation in try store.outbox.done(in: row.key) {
      switch operation.act {
      case .begin, .group: try beginAgain(operation, row, audience)
      case .say: try sayAgain(operation, in: row, audience)
      case .edit, .react, .delete, .pin: try changeAgain(operation, audience)
      case .remove: try removeAgain(operation, audience)
      case .leave: if !isMember { try store.outbox.queueAgain(operation.key, nil) }
      case .title, .avatar, .expire: settings[operation.act] = operation
      case .report: reports[operation.target] = operation
      default: break
      }
    }
    // Only the last change of each setting is queued again, with the present value; and the last report of each message.
    for operation in settings.values where isMember { try setAgain(operation, in: row) }
    for (message, operation) in reports {
      let isNew = try message.map(store.outbox.pending(about:))?.contains { $0.act == .report } ?? false
      if !isNew { try store.outbox.queueAgain(operation.key, nil) }
    }
  }

  /// Makes the hub refuse the queued messages and edits of a group, if the group has members on the hub who are not its
  /// members in this store.
  private func restrictOpen(in row: Conversations.Row, _ audience: Audience) throws {
    for operation in try store.outbox.pending(in: row.key) where [.say, .edit].contains(operation.act) {
      var arguments = try HubArguments(json: operation.arguments)
      if arguments.audience == nil { arguments.audience = audience.now }
      try store.outbox.set(arguments: arguments.json, of: operation.key)
    }
  }

  private func beginAgain(_ operation: Outbox.Row, _ row: Conversations.Row, _ audience: Audience?) throws {
    let group = HubPayload.Group(title: try store.conversations.title(of: row.key, as: me))
    var arguments = try HubArguments(json: operation.arguments)
    // The users who are not members of the group now are not added again.
    if let audience { arguments.handles.removeAll { !audience.now.contains($0) } }
    try store.outbox.queueAgain(
      operation.key, row.isGroup ? HubPayload.group(group).bytes : nil, arguments: arguments.json)
  }

  /// Queues a removal again, without the users who have returned to the group after it.
  private func removeAgain(_ operation: Outbox.Row, _ audience: Audience?) throws {
    var arguments = try HubArguments(json: operation.arguments)
    arguments.handles.removeAll { audience?.now.contains($0) == true }
    if arguments.handles.isEmpty { return }
    try store.outbox.queueAgain(operation.key, nil, arguments: arguments.json)
  }

  private func setAgain(_ operation: Outbox.Row, in row: Conversations.Row) throws {
    guard let seen = try store.conversations.seen(row.key, as: Session(messenger, store, me).freshViewer()) else {
      return
    }
    var arguments = HubArguments()
    var group: HubPayload.Group?
    switch operation.act {
    case .title: group = HubPayload.Group(title: seen.title)
    case .avatar: group = try Session(messenger, store, me).avatar(seen.avatarURL)
    default: arguments.expireAfter = .some(row.expireAfter)
    }
    try store.outbox.queueAgain(
      operation.key, group.map { HubPayload.group($0).bytes }, arguments: arguments.json)
  }

  private func sayAgain(_ operation: Outbox.Row, in row: Conversations.Row, _ audience: Audience?) throws {
    guard let id = operation.target, let address = try store.messages.address(ofIDOrAlias: id),
      let stored = try store.messages.row(at: address),
      let message = try store.messages.seen(at: address, as: Viewer(store, me, extras: .everything)),
      message.text != nil || !message.attachments.isEmpty
    else { return }
    // The user sent the message twice with the same nonce, and the other of the two operations is queued again already.
    if let nonce = message.nonce, try store.waiting.row(nonce: nonce, in: row.key) != nil { return }
    // The rest of the lifetime of the message.
    let lifetime = message.expiresAt.map { $0.microseconds - store.clock.microseconds }
    if let lifetime, lifetime < 1_000_000 { return }
    var new = Messages.NewMessage(
      sender: me, text: message.text, nonce: message.nonce, replyTo: message.replyTo?.id,
      forwardedFrom: try message.forwardedFrom.flatMap(store.users.key), lifetime: lifetime,
      mentions: try message.mentions.compactMap(store.users.key))
    new.id = id
    try store.waiting.insert(new, id: id, in: row.key, at: operation.key, message.createdAt)
    var arguments = try HubArguments(json: operation.arguments)
    arguments.lifetime = lifetime
    arguments.audience = audience?.members(at: address.seq)
    // The files are uploaded again if the hub has lost them.
    let attached = try Session(messenger, store, me).attach(
      store.attachments.rows(of: stored.key), to: operation.key, at: message.createdAt)
    let payload = HubPayload.Text(
      message, text: message.text, attachments: attached, preview: try store.linkPreviews.placed(of: stored.key))
    arguments.files = attached.flatMap(\.files)
    try store.outbox.queueAgain(operation.key, HubPayload.text(payload).bytes, arguments: arguments.json)
  }

  private func changeAgain(_ operation: Outbox.Row, _ audience: Audience?) throws {
    guard let id = operation.target, let address = try store.messages.address(ofIDOrAlias: id),
      let stored = try store.messages.row(at: address),
      let message = try store.messages.seen(at: address, as: Viewer(store, me, extras: .everything))
    else { return }
    switch operation.act {
    case .edit:
      guard let text = message.text else { return }
      var arguments = try HubArguments(json: operation.arguments)
      arguments.audience = audience?.now
      let payload = try Session(messenger, store, me).payload(of: message, stored.key, text: text)
      try store.outbox.queueAgain(operation.key, HubPayload.text(payload).bytes, arguments: arguments.json)
    case .react:
      let handle = try store.users.handle(me)
      let emoji = message.reactions.first { $0.users.contains(handle) }?.emoji
      try store.outbox.queueAgain(operation.key, HubPayload.reaction(emoji: emoji).bytes)
    case .pin:
      if message.deletedAt != nil { return }
      var arguments = HubArguments()
      arguments.isPinned = message.pin != nil
      try store.outbox.queueAgain(operation.key, nil, arguments: arguments.json)
    default:
      if message.deletedAt != nil { try store.outbox.queueAgain(operation.key, nil) }
    }
  }

  /// Sets the members of a group whose messages were removed in order to pull its log again: those that its first entry
  /// names or, if that entry names none, those that the hub lists.
  func repopulate(_ row: Conversations.Row, _ first: HubEntry, _ members: [HubMember]) throws {
    guard row.isGroup, row.lastSeq == 0 else { return }
    var users = try first.meta.members.compactMap(user)
    if users.isEmpty { users = try members.compactMap { try user($0.person) }.filter { $0 != me } }
    for user in users where try !store.members.isParticipant(user, of: row.key) {
      try store.members.join(row.key, user)
    }
    let owner = members.first(where: \.isOwner)?.person
    if let user = try user(first.kind == .created ? first.actor : owner ?? first.actor) {
      try supplyOwner(user, of: row)
    }
  }

  /// Hides a message again if the user had deleted it for themselves, or records that it must be marked as read or as
  /// unread.
  func restoreOwnState(_ entry: HubEntry, _ id: Identifier, at address: Messages.Address, in log: inout Log) throws {
    guard let earlier = try store.hubKnown.row(id) ?? removed(entry) else { return }
    log.seenBefore.append(address.seq...address.seq)
    if earlier.isDeleted {
      try endSending(in: &log)
      try store.readState.hide(address.seq...address.seq, from: me, in: address.conversation, isDeleted: true)
    } else if earlier.isRead, try store.messages.row(at: address)?.sender != me {
      let seqs = address.seq...address.seq
      if earlier.hasReceipt { log.readBefore.append(seqs) } else { log.privatelyReadBefore.append(seqs) }
    } else if earlier.hasReceipt {
      log.markedUnreadBefore.append(address.seq...address.seq)
    }
    // The row of a message that was marked as unread is kept, because a later entry may be the receipt that the user
    // sent before they marked the message.
    if earlier.isRead || !earlier.hasReceipt { try store.hubKnown.delete(id) }
  }
}

extension Replica {
  /// The state of a message that this store had removed because it does not keep all messages; nil for any other message.
  private func removed(_ entry: HubEntry) -> HubKnown.Row? {
    guard isBelowFloor(entry), let floor, let seq = entry.seq else { return nil }
    let isDeleted = floor.hidden.contains { $0.contains(seq) }
    return (isRead: true, isDeleted: isDeleted, isConsumed: true, hasReceipt: false)
  }
}

/// The members of a group at the time of each message, derived from the group's announcements.
struct Audience {
  /// The present members.
  let now: [Handle]
  /// The joins and leaves, the newest first.
  private let comings: [(seq: Int, handle: Handle, isComing: Bool)]
  /// For each member, the messages that they could never see, such as those from before they joined.
  private let unseen: [Handle: [SeqRange]]

  init(_ store: Store, _ conversation: ConversationKey) throws {
    let users = try store.members.participantKeys(of: conversation)
    now = try users.map(store.users.handle)
    unseen = Dictionary(
      uniqueKeysWithValues: try zip(now, users).map {
        ($0, try store.readState.hidden(.neverSeen, from: $1, in: conversation))
      })
    comings = try store.messages.comings(in: conversation)
  }

  /// The members when a message was sent.
  func members(at seq: Int) -> [Handle] {
    var members = Set(now)
    for coming in comings {
      if coming.seq <= seq { break }
      if coming.isComing { members.remove(coming.handle) } else { members.insert(coming.handle) }
    }
    return members.filter { !(unseen[$0]?.contains { $0.contains(seq) } ?? false) }.sorted()
  }
}
